import Glibc
import MultipartBasics

/// One open file of the record folder (`openat`), closed in `deinit` (`close`).
final class RecordFile: Sendable {
  let descriptor: Int32
  private let path: String

  /// Takes over the descriptor.
  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  func failure(_ what: String) -> Failure { StateFolder.failure(path, what) }

  /// Accepts only a regular file of this user that no other user could have written (`fstat`). If other users could
  /// read it, its mode is changed (`fchmod`).
  func check() throws(Failure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("cannot be read") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Self.foreign(path, "is not a plain file") }
    guard status.st_uid == geteuid() else { throw Self.foreign(path, "belongs to another user") }
    guard status.st_mode & 0o022 == 0 else { throw Self.foreign(path, "can be written by other users") }
    if status.st_mode & 0o077 != 0 { fchmod(descriptor, 0o600) }
  }

  static func foreign(_ path: String, _ what: String) -> Failure {
    Failure(.configuration, "a file of the state folder \(what)", remedy: "remove it, or name another \(.stateFolder)")
      .at(Place(file: path))
  }

  /// The length in bytes (`fstat`).
  func length() throws(Failure) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("cannot be read") }
    return Int(status.st_size)
  }

  /// Reads from the beginning (`pread`).
  func read(most: Int) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < most {
      let count = pread(descriptor, &chunk, min(chunk.count, most - bytes.count), off_t(bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("cannot be read") }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return bytes
  }

  /// Writes the bytes with one `write`, or more if the kernel accepts only part of them.
  func write(_ bytes: [UInt8]) throws(Failure) {
    guard WholeWrite.write(bytes, to: descriptor) == 0 else { throw failure("cannot be written") }
  }

  func cut(to length: Int) throws(Failure) {
    while ftruncate(descriptor, off_t(length)) != 0 {
      guard errno == EINTR else { throw failure("cannot be truncated") }
    }
  }

  /// Makes the contents durable (`fdatasync`), including a new length.
  func sync() throws(Failure) {
    guard fdatasync(descriptor) == 0 else { throw failure("cannot be made durable") }
  }
}
