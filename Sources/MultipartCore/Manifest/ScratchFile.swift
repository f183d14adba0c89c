import Glibc
import MultipartBasics

/// A file without a name (`open`, `unlink`): the kernel removes it with its last descriptor, even if the process is
/// killed. Closed in `deinit`.
final class ScratchFile: Sendable {
  private let descriptor: Int32
  private let folder: String

  init(in folder: String) throws(Failure) {
    let (path, opened) = Self.made(FilePath(folder + "/s3up-report"), O_RDWR | O_APPEND, mode: 0o600)
    descriptor = opened
    self.folder = folder
    guard opened >= 0 else { throw StateFolder.failure(folder, "a temporary file cannot be created") }
    _ = path.withCString { unlink($0) }
  }

  /// Creates a new file with a random extension. On failure the descriptor is negative, and `errno` is set.
  static func made(_ stem: FilePath, _ flags: Int32, mode: mode_t) -> (FilePath, Int32) {
    let ending = "." + String(UInt64.random(in: .min ... .max), radix: 16)
    let path = FilePath(bytes: stem.bytes + Array(ending.utf8))
    return (path, path.withCString { open($0, flags | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode) })
  }

  /// Creates such a file and removes it. Returns the number of the error if it cannot be created, else 0.
  static func trial(_ stem: FilePath) -> Int32 {
    let (path, descriptor) = made(stem, O_WRONLY, mode: 0o600)
    guard descriptor >= 0 else { return errno }
    close(descriptor)
    path.remove()
    return 0
  }

  deinit { close(descriptor) }

  /// Lets `write` fill the file. Reading starts at its first byte.
  func fill(_ write: (Int32) async throws(Failure) -> Void) async throws(Failure) {
    try await write(descriptor)
    guard lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw StateFolder.failure(folder, "a temporary file cannot be read")
    }
  }

  func lines(named name: String, longest: Int) -> LineReader {
    LineReader(open: descriptor, name: name, longest: longest)
  }

  func append(_ bytes: [UInt8]) throws(Failure) {
    guard WholeWrite.write(bytes, to: descriptor) == 0 else {
      throw StateFolder.failure(folder, "a temporary file cannot be written")
    }
  }

  func read(_ range: Range<Int64>) throws(Failure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, off_t(range.lowerBound) + off_t(done))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw StateFolder.failure(folder, "a temporary file cannot be read") }
      done += count
    }
    return bytes
  }
}
