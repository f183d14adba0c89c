import Foundation
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct SourceFileTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func refusal(_ path: String) -> Failure? {
    do throws(Failure) {
      _ = try SourceFile(FilePath(path))
      return nil
    } catch {
      return error
    }
  }

  @Test("An empty file is a source of no bytes")
  func empty() throws {
    let file = try SourceFile(FilePath(try folder.write([], to: "empty")))
    #expect(file.size == 0)
    let slice = PartSlice(file: file, offset: 0, length: 0)
    #expect(try slice.readAll(step: 10).isEmpty)
    #expect(try slice.checksums([.crc64nvme])[.crc64nvme]?.base64 == "AAAAAAAAAAA=")
    try file.checkUnchanged()
  }

  @Test("A missing file is a missing source, with its name and a remedy")
  func missing() throws {
    let failure = refusal(folder.path("nothing"))
    #expect(failure?.code == .sourceMissing)
    #expect(failure?.place.file == folder.path("nothing"))
    #expect(failure?.remedy == "check the file's path")
  }

  @Test("An impossible path is a missing source: below a file, too long, a loop of links")
  func unreachable() throws {
    try folder.write([1], to: "file")
    try FileManager.default.createSymbolicLink(atPath: folder.path("a"), withDestinationPath: folder.path("b"))
    try FileManager.default.createSymbolicLink(atPath: folder.path("b"), withDestinationPath: folder.path("a"))
    for name in ["file/below", "a", String(repeating: "x", count: 300), String(repeating: "d/", count: 3000)] {
      #expect(refusal(folder.path(name))?.code == .sourceMissing)
    }
    #expect(refusal("")?.code == .sourceMissing)
  }

  @Test("A directory, a pipe without a writer and a device are refused at once")
  func noFile() throws {
    #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
    #expect(refusal(folder.path("pipe"))?.code == .usage)
    #expect(refusal(folder.path)?.code == .usage)
    #expect(refusal("/dev/null")?.code == .usage)
  }

  @Test("A name need not be UTF-8")
  func oddName() throws {
    let name = Array(folder.path.utf8) + Array("/".utf8) + [0xFF, 0xFE, 0x80, 0x20, 0x0A]
    let path = FilePath(bytes: name)
    let descriptor = path.withCString { open($0, O_CREAT | O_WRONLY, 0o600) }
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    #expect(write(descriptor, "abc", 3) == 3)
    let file = try SourceFile(path)
    #expect(try PartSlice(file: file, offset: 0, length: 3).readAll(step: 3) == Array("abc".utf8))
    #expect(file.path.text.contains("\u{FFFD}"))
  }

  @Test("A symbolic link is its target")
  func link() throws {
    try folder.write([1, 2, 3], to: "file")
    try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "file")
    let file = try SourceFile(FilePath(folder.path("link")))
    #expect(file.size == 3)
    try file.checkUnchanged()
  }

  struct Change: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var word: String
    var make: @Sendable (String) throws -> Void
  }

  private static let changes: [Change] = [
    Change(testDescription: "truncated", word: "shrank from 100000 to 99999") { try resize($0, 99_999) },
    Change(testDescription: "emptied", word: "shrank") { try resize($0, 0) },
    Change(testDescription: "grown", word: "grew from 100000 to 100001") { try resize($0, 100_001) },
    Change(testDescription: "rewritten with the same size", word: "was rewritten") { try overwrite($0, [9]) },
    Change(testDescription: "touched", word: "was rewritten") { try setModified($0, seconds: 2_000_000) },
    Change(testDescription: "replaced by rename", word: "was replaced") {
      try Data(repeating: 1, count: 100_000).write(to: URL(fileURLWithPath: $0 + ".new"))
      try setModified($0 + ".new", seconds: 1_000_000)
      guard rename($0 + ".new", $0) == 0 else { throw SystemError("rename") }
    },
    Change(testDescription: "removed", word: "was removed") { unlink($0) },
    Change(testDescription: "renamed away", word: "was removed or renamed") { rename($0, $0 + ".old") },
  ]

  @Test("A changed file is noticed, and its last bytes are not sent", arguments: changes)
  func changed(change: Change) throws {
    let path = try folder.write(randomBytes(100_000, seed: 3), to: "file")
    try setModified(path, seconds: 1_000_000)
    let file = try SourceFile(FilePath(path))
    let first = PartSlice(file: file, offset: 0, length: 60_000)
    let second = PartSlice(file: file, offset: 60_000, length: 40_000)
    #expect(try first.readAll(step: 7000).count == 60_000)
    try file.checkUnchanged()
    try change.make(path)
    for act in [
      { try file.checkUnchanged() }, { _ = try first.readAll(step: 7000) }, { _ = try second.readAll(step: 40_000) },
    ] {
      let failure = #expect(throws: Failure.self) { try act() }
      #expect(failure?.code == .sourceChanged)
      #expect(failure?.place.file == path)
    }
    let failure = #expect(throws: Failure.self) { try file.checkUnchanged() }
    #expect(failure?.message.contains(change.word) == true)
  }

  @Test("A file that is cut short while it is read or summed ends in an error, not in a signal")
  func cut() throws {
    let path = try folder.write(randomBytes(1 << 20, seed: 4), to: "file")
    let file = try SourceFile(FilePath(path))
    try resize(path, 300_000)
    let slice = PartSlice(file: file, offset: 0, length: 1 << 20)
    var buffer = [UInt8](repeating: 0, count: 500_000)
    let read = buffer.withUnsafeMutableBytes { bytes in
      Result { () throws(Failure) in try slice.read(into: bytes, at: 0) }
    }
    guard case .failure(let failure) = read else {
      Issue.record("bytes that are gone were handed out")
      return
    }
    #expect(failure.code == .sourceChanged)
    for algorithms: Set<ChecksumAlgorithm> in [[.crc64nvme], [.crc32c, .crc32], [.sha256], [.md5, .crc64nvme]] {
      let failure = #expect(throws: Failure.self) { try slice.checksums(algorithms) }
      #expect(failure?.code == .sourceChanged)
      #expect(failure?.place.file == path)
    }
  }

  @Test("The file of a descriptor begins at its offset, whatever happens to its name")
  func descriptor() throws {
    let bytes = randomBytes(100_000, seed: 7)
    let path = try folder.write(bytes, to: "file")
    let given = open(path, O_RDONLY | O_CLOEXEC)
    try #require(given >= 0)
    defer { close(given) }
    lseek(given, 1000, SEEK_SET)
    let file = try #require(try SourceFile(open: given, name: FilePath("standard input")))
    #expect(file.size == 99_000)
    #expect(file.descriptor > 2 && file.descriptor != given)
    let slice = PartSlice(file: file, offset: 500, length: 98_500)
    #expect(try slice.readAll(step: 7000) == Array(bytes[1500...]))
    #expect(try slice.checksums([.sha256])[.sha256]?.bytes == Digest.sha256(Array(bytes[1500...])))
    unlink(path)
    try file.checkUnchanged()
    // Reading does not use the shared offset.
    #expect(lseek(given, 0, SEEK_CUR) == 1000)
    file.leaveAtEnd()
    #expect(lseek(given, 0, SEEK_CUR) == 100_000)
  }

  @Test(
    "A pipe and a file without a size do not count as an open file; a folder and a write-only one are refused")
  func noOpenFile() throws {
    for path in ["/dev/null", "/proc/self/stat"] {
      let given = open(path, O_RDONLY | O_CLOEXEC)
      defer { close(given) }
      #expect(try SourceFile(open: given, name: FilePath("it")) == nil)
    }
    for (path, mode) in [(folder.path, O_RDONLY), (try folder.write([1], to: "file"), O_WRONLY)] {
      let given = open(path, mode | O_CLOEXEC)
      defer { close(given) }
      let failure = #expect(throws: Failure.self) { try SourceFile(open: given, name: FilePath("it")) }
      #expect(failure?.code == .sourceMissing && failure?.place.file == "it")
    }
  }

  /// Changes the ctime and nothing else.
  private func touch(_ path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0 else { throw SystemError("stat") }
    func stamp() -> [UInt8] { withUnsafeBytes(of: status.st_ctim) { Array($0) } }
    let before = stamp()
    // Waits until the clock that stamps files has ticked.
    while stamp() == before {
      guard chmod(path, 0o600) == 0, stat(path, &status) == 0 else { throw SystemError("chmod") }
    }
  }

  @Test("If only the ctime has changed, the bytes are compared, again if it changes meanwhile, but not endlessly")
  func touched() throws {
    let path = try folder.write(randomBytes(1000, seed: 8), to: "file")
    let file = try SourceFile(FilePath(path))
    var looks = 0
    func confirm(_ same: Bool = true, touches: Int = 0) -> Failure? {
      looks = 0
      do throws(Failure) {
        try file.confirm(unless: { false }) { () throws(Failure) in
          looks += 1
          if looks <= touches { try? touch(path) }
          return same
        }
        return nil
      } catch {
        return error
      }
    }
    #expect(confirm(false) == nil && looks == 0)
    try touch(path)
    try file.checkUnchanged()
    #expect(confirm(false)?.code == .sourceChanged && looks == 1)
    #expect(confirm(touches: 2) == nil && looks == 3)
    #expect(confirm(false) == nil && looks == 0)
    try touch(path)
    #expect(confirm(touches: 9)?.message.contains("again and again") == true && looks == 3)
  }

  @Test("A SHA-256 that a caller relies on is compared too")
  func promise() throws {
    let bytes = randomBytes(1000, seed: 9)
    let path = try folder.write(bytes, to: "file")
    let file = try SourceFile(FilePath(path))
    file.promise(try #require(Checksum(.sha256, bytes: Digest.sha256(bytes))))
    try touch(path)
    try file.confirm(unless: { false }) { true }
    try setModified(path, seconds: 1_000_000)
    let later = try SourceFile(FilePath(path))
    later.promise(try #require(Checksum(.sha256, bytes: Digest.sha256(bytes))))
    try overwrite(path, [bytes[0] ^ 1])
    try setModified(path, seconds: 1_000_000)
    #expect(throws: Failure.self) { try later.confirm(unless: { false }) { true } }
  }
}
