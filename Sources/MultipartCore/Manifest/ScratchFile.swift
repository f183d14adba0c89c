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
    guard StateFolder.writeAll(descriptor, bytes) else {
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

/// Bytes that are collected during a run: in memory up to a bound, then in a scratch file.
public final class ScratchBytes: Sendable {
  private struct State: Sendable {
    var memory: [UInt8] = []
    var file: ScratchFile?
    var length: Int64 = 0
  }

  private let folder: String
  private let state = Locked(State())
  private static let step = 256 << 10

  /// The folder for what does not fit into memory.
  public init(in folder: String) { self.folder = folder }

  /// Adds bytes at the end.
  public func append(_ bytes: [UInt8]) throws(Failure) {
    try state.withLock { (state) throws(Failure) in
      state.memory += bytes
      guard state.memory.count >= Self.step else { return }
      let file = if let file = state.file { file } else { try ScratchFile(in: folder) }
      try file.append(state.memory)
      state.length += Int64(state.memory.count)
      state.file = file
      state.memory = []
    }
  }

  /// Gives all bytes so far, in order.
  public func forEachPiece(_ give: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
    let (memory, file, length) = state.withLock { ($0.memory, $0.file, $0.length) }
    if let file {
      for start in stride(from: 0, to: length, by: Self.step) {
        try give(try file.read(start..<min(length, start + Int64(Self.step))))
      }
    }
    try give(memory)
  }
}
