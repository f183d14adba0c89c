import Foundation

/// A directory of one test, removed with its contents when the last reference goes.
package final class TemporaryDirectory: Sendable {
  package let path: String

  package init(_ name: String = "s3up-test") throws {
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(base)/\(name)-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw SystemError("mkdtemp") }
    path = String(cString: made)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  package func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file into this directory and returns its path.
  @discardableResult
  package func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
    let target = path(name)
    try FileManager.default.createDirectory(
      atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: target))
    return target
  }

  @discardableResult
  package func write(_ text: String, to name: String) throws -> String {
    try write(text.utf8, to: name)
  }

  package func read(_ name: String) throws -> [UInt8] {
    // Foundation is not used here, because it leaks a page for each empty file.
    guard let file = fopen(path(name), "rb") else { throw SystemError("fopen") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = fread(&piece, 1, piece.count, file)
      bytes += piece[..<count]
      guard count == piece.count else { break }
    }
    guard ferror(file) == 0 else { throw SystemError("fread") }
    return bytes
  }

  /// A sparse file of `size` zero bytes, with `patches` written over it.
  @discardableResult
  package func sparseFile(_ name: String, size: Int64, patches: [(offset: Int64, bytes: [UInt8])] = []) throws -> String
  {
    let target = path(name)
    let file = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError("open") }
    defer { close(file) }
    guard ftruncate(file, off_t(size)) == 0 else { throw SystemError("ftruncate") }
    for patch in patches {
      guard pwrite(file, patch.bytes, patch.bytes.count, off_t(patch.offset)) == patch.bytes.count else {
        throw SystemError("pwrite")
      }
    }
    return target
  }
}
