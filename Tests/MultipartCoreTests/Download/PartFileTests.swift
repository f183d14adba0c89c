import Glibc
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// The file that becomes a download's target.
@Suite(.timeLimit(.minutes(15))) struct PartFileTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func target() throws -> DownloadTarget {
    guard case .file(let target) = try DownloadTarget.look(at: FilePath(folder.path("target"))) else {
      throw Failure(.local, "the target is no file")
    }
    return target
  }

  private func bytes(of part: PartFile) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = pread(part.descriptor, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
  }

  private func write(_ bytes: [UInt8], to part: PartFile) throws {
    try part.prepare(Int64(bytes.count))
    #expect(bytes.withUnsafeBytes { part.write($0, at: 0) } == nil)
  }

  @Test("Where a lock does not show on other machines, a second run leaves the first one's bytes, which get no name")
  func unseenLock() throws {
    let target = try target()
    let first = try PartFile.open(for: target)
    #expect(try first.emptied(for: target) === first, "nobody else has it")
    try write([1, 2, 3], to: first)
    #expect(throws: Failure.self) { try PartFile.open(for: target) }
    #expect(flock(first.descriptor, LOCK_UN) == 0)
    let second = try PartFile.open(for: target)
    #expect(second.wasLeft)
    let other = try second.emptied(for: target)
    try write([9, 9, 9, 9], to: other)
    #expect(bytes(of: first) == [1, 2, 3] && bytes(of: other) == [9, 9, 9, 9])
    #expect(!first.isThere && other.isThere)
    #expect(throws: Failure.self) { try target.publish(first, of: 3, replaces: true) }
    try target.publish(other, of: 4, replaces: true)
  }

  @Test("A file that was truncated and written further has a hole, and a complete one has none")
  func hole() throws {
    let part = try PartFile.open(for: try target())
    let page = [UInt8](repeating: 7, count: 64 << 10)
    let size = Int64(2 * page.count)
    try part.prepare(size)
    for offset in [0, page.count] { #expect(page.withUnsafeBytes { part.write($0, at: Int64(offset)) } == nil) }
    #expect(!part.hasHole(before: size) && lseek(part.descriptor, 0, SEEK_CUR) == 0)
    #expect(ftruncate(part.descriptor, 0) == 0)
    #expect(page.withUnsafeBytes { part.write($0, at: Int64(page.count)) } == nil)
    #expect(part.hasHole(before: size))
  }
}
