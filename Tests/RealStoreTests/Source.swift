import Foundation
import MultipartBasics
import Support

/// A file of pseudo-random bytes that depend on size and seed, with the SHA-256 that `sha256sum` computes: its code is
/// not OpenSSL's, which s3up uses.
///
/// Beyond 8 MiB one block is repeated, each time preceded by its number: thus all parts differ, and a GiB takes only as
/// long as the disk needs.
struct Source: Sendable {
  let path: String
  let size: Int
  let sha256: String

  private static let block = 8 << 20
  /// The sums by size and seed: most tests use the same file for each store.
  private static let sums = Locked<[[UInt64]: String]>([:])

  init(_ folder: TemporaryDirectory, _ name: String, size: Int, seed: UInt64) async throws {
    path = folder.path(name)
    self.size = size
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { throw SystemError("create \(path)") }
    var bytes = randomBytes(min(size, Self.block), seed: seed)
    var written = 0
    while written < size {
      if written > 0 { bytes.replaceSubrange(0..<8, with: withUnsafeBytes(of: UInt64(written)) { [UInt8]($0) }) }
      let count = min(bytes.count, size - written)
      try file.write(contentsOf: bytes[..<count])
      written += count
    }
    try file.close()
    let known = Self.sums.withLock { $0[[UInt64(size), seed]] }
    let sum = if let known { known } else { try await Self.sum(of: path, home: folder.path) }
    Self.sums.withLock { $0[[UInt64(size), seed]] = sum }
    sha256 = sum
  }

  static func sum(of path: String, home: String) async throws -> String {
    let sum = try await ChildProcess(
      Programs.find("sha256sum"), ["--", path], environment: Programs.environment(home: home)
    ).wait()
    guard let word = sum.output.split(separator: " ").first else { throw Missing(description: sum.errors) }
    return String(word)
  }
}
