import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct RunRecordTests {
  private let directory: TemporaryDirectory
  private let name = String(repeating: "a1", count: 16)
  private let now = Timestamp(seconds: Int64(time(nil)))

  init() throws { directory = try TemporaryDirectory() }

  private var folder: String { directory.path("state") }
  private var path: String { folder + "/runs/" + name }

  private func open(_ name: String? = nil, most: Int = RunRecord.mostLines) throws -> RunRecord? {
    try RunRecord.open(folder: folder, name: name ?? self.name, now: now, most: most)
  }

  private static func object(_ number: Int, options: String = "o") -> RunRecord.Object {
    RunRecord.Object(
      bucket: "b", key: "k\(number)", options: options,
      source: RecordSamples.identity(
        device: 1, inode: 2, size: Int64(number), modified: (-3, 4), changed: (-5, 6)))
  }

  private static let one = RunRecord.Object(bucket: "b", key: "k", options: "", source: .none)

  /// Writes a record of these many lines.
  private func write(_ count: Int) throws {
    let record = try #require(try open())
    for number in 0..<count {
      try record.append(Self.object(number), identity: "\"e\(number)\"")
    }
    try record.close(keeps: true)
  }

  private func known(_ record: RunRecord, of count: Int) throws -> [Int] {
    try (0..<count).filter { try record.knows(Self.object($0), identity: "e\($0)") }
  }

  @Test("the next run knows what this one has recorded, and nothing else")
  func both() throws {
    let first = try #require(try open())
    #expect(!first.isResumed)
    #expect(try known(first, of: 3) == [])
    try first.close(keeps: true)
    try write(1000)
    let record = try #require(try open())
    #expect(record.isResumed)
    #expect(try known(record, of: 1100) == Array(0..<1000))
    let own = Self.object(5)
    #expect(try record.knows(own, identity: "\"e5\""))
    #expect(try !record.knows(own, identity: "e6"))
    for change in [\RunRecord.Object.bucket, \.key, \.options] {
      var other = own
      other[keyPath: change] += "x"
      #expect(try !record.knows(other, identity: "e5"))
    }
    for change in [
      \FileIdentity.size, \.modifiedSeconds, \.modifiedNanoseconds, \.changedSeconds, \.changedNanoseconds,
    ] {
      var other = own
      other.source[keyPath: change] += 1
      #expect(try !record.knows(other, identity: "e5"))
    }
    for change in [\FileIdentity.device, \.inode] {
      var other = own
      other.source[keyPath: change] += 1
      #expect(try !record.knows(other, identity: "e5"))
    }
    try record.close(keeps: true)
    #expect(RecordShelf.mode(path) == 0o600)
    #expect(RecordShelf.mode(folder + "/runs") == 0o700)
    // Each line has 33 bytes, and there is the first line.
    #expect(RecordShelf.status(path).map { $0.st_size > 33_000 && $0.st_size < 33_128 } == true)
  }

  @Test("the last line about an object counts, even if it says that nothing is known any more")
  func last() throws {
    try write(10)
    var record = try #require(try open())
    try record.append(Self.object(5, options: "other"), identity: "e5")
    try record.forget(Self.object(6, options: "other"))
    try record.forget(Self.object(11))
    try record.close(keeps: true)
    record = try #require(try open())
    #expect(try known(record, of: 12) == [0, 1, 2, 3, 4, 7, 8, 9])
    #expect(try record.knows(Self.object(5, options: "other"), identity: "e5"))
    #expect(try !record.knows(Self.object(6, options: "other"), identity: "e6"))
    // An object that was unknown needs no line.
    let size = try #require(RecordShelf.status(path)).st_size
    for number in [6, 11] { try record.forget(Self.object(number)) }
    #expect(try #require(RecordShelf.status(path)).st_size == size)
    // The same object as before, but another one with the same bytes existed in between.
    try record.append(Self.object(5), identity: "e5")
    try record.close(keeps: true)
    record = try #require(try open())
    #expect(try known(record, of: 12) == [0, 1, 2, 3, 4, 5, 7, 8, 9])
    try record.close(keeps: true)
  }

  @Test("what was begun and not recorded is known as such by the next run, unless it was withdrawn")
  func begun() throws {
    var record = try #require(try open())
    for number in 0..<3 { try record.begin(bucket: Self.object(number).bucket, key: Self.object(number).key) }
    let has = { (record: RunRecord, number: Int) in
      try record.hasBegun(bucket: Self.object(number).bucket, key: Self.object(number).key)
    }
    #expect(try !has(record, 0))
    try record.append(Self.object(1), identity: "e1")
    try record.withdraw(bucket: Self.object(2).bucket, key: Self.object(2).key)
    try record.close(keeps: true)
    record = try #require(try open())
    #expect(try (0..<4).map { try has(record, $0) } == [true, false, false, false])
    #expect(try known(record, of: 4) == [1])
    try record.close(keeps: true)
  }

  @Test("if there are more lines than are kept in memory, the newest count, and others can follow")
  func most() throws {
    try write(10)
    var record = try #require(try open(most: 4))
    #expect(try known(record, of: 10) == [6, 7, 8, 9])
    try record.append(Self.object(10), identity: "e10")
    try record.close(keeps: true)
    record = try #require(try open())
    #expect(try known(record, of: 11) == Array(0...10))
    try record.close(keeps: true)
  }

  @Test("a finished run leaves nothing")
  func removed() throws {
    let record = try #require(try open())
    try record.append(Self.one, identity: "e")
    try record.close(keeps: false)
    try record.append(Self.one, identity: "e")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/runs") == [])
  }

  @Test("while one run has the record, no other gets it")
  func exclusive() throws {
    let record = try #require(try open())
    #expect(try open() == nil)
    let other = try #require(try open(String(repeating: "b2", count: 16)))
    try other.close(keeps: false)
    try record.close(keeps: true)
    let again = try #require(try open())
    #expect(try open() == nil)
    try again.close(keeps: false)
  }

  @Test("each line is in the file as soon as it is noted")
  func atOnce() throws {
    let record = try #require(try open())
    let head = try #require(RecordShelf.status(path)).st_size
    for number in 1...3 {
      try record.append(Self.object(number), identity: "")
      #expect(try #require(RecordShelf.status(path)).st_size == head + off_t(33 * number))
    }
    try record.close(keeps: true)
  }

  @Test("lines written by many threads are all there")
  func threads() async throws {
    let record = try #require(try open())
    await withTaskGroup(of: Void.self) { group in
      for part in 0..<8 {
        group.addTask {
          for number in stride(from: part, to: 2000, by: 8) {
            try? record.append(Self.object(number), identity: "e\(number)")
          }
        }
      }
    }
    try record.close(keeps: true)
    let next = try #require(try open())
    #expect(try known(next, of: 2000).count == 2000)
    try next.close(keeps: true)
  }

  @Test("in a record that ends anywhere, the whole lines before count, and new ones can follow", arguments: 0...70)
  func cutOff(bytes: Int) throws {
    try write(5)
    let whole = try directory.read("state/runs/\(name)")
    try directory.write(whole.dropLast(bytes), to: "state/runs/\(name)")
    let record = try #require(try open())
    let left = 5 - (bytes + 32) / 33
    #expect(try known(record, of: 5) == Array(0..<left))
    try record.append(Self.object(9), identity: "e9")
    try record.close(keeps: true)
    let next = try #require(try open())
    #expect(try known(next, of: 10) == Array(0..<left) + [9])
    try next.close(keeps: true)
  }

  @Test("a line of zeros, as after a power cut, ends the record")
  func zeros() throws {
    try write(5)
    var bytes = try directory.read("state/runs/\(name)")
    for place in bytes.indices.suffix(60) { bytes[place] = 0 }
    try directory.write(bytes, to: "state/runs/\(name)")
    let record = try #require(try open())
    #expect(try known(record, of: 5) == [0, 1, 2])
    try record.close(keeps: true)
  }

  @Test("lines of another record do not match")
  func seeds() throws {
    try write(5)
    let old = try directory.read("state/runs/\(name)")
    try FileManager.default.removeItem(atPath: path)
    try write(1)
    let own = try directory.read("state/runs/\(name)")
    let head = try #require(own.firstIndex(of: 0x0A))
    #expect(own[...head] != old[...head])
    try directory.write(own[...head] + old[(head + 1)...], to: "state/runs/\(name)")
    let record = try #require(try open())
    #expect(record.isResumed)
    #expect(try known(record, of: 5) == [])
    try record.close(keeps: true)
  }

  @Test("a record that is damaged, of another version or not a file of ours is started anew", arguments: 0..<7)
  func anew(kind: Int) throws {
    try write(3)
    let other = try directory.write("untouched", to: "other")
    switch kind {
    case 0: try directory.write("", to: "state/runs/\(name)")
    case 1: try directory.write(randomBytes(5000, seed: 1), to: "state/runs/\(name)")
    case 2, 6:
      let head = RecordLine.write(
        ["s3up", "run", kind == 2 ? "1" : "3", String(repeating: "0", count: 32)].map { Array($0.utf8) }
      ).bytes
      try directory.write(head, to: "state/runs/\(name)")
    case 3:
      var bytes = try directory.read("state/runs/\(name)")
      bytes[20] ^= 1
      try directory.write(bytes, to: "state/runs/\(name)")
    case 4: chmod(path, 0o666)
    default:
      try FileManager.default.removeItem(atPath: path)
      try #require(symlink(other, path) == 0)
    }
    let record = try #require(try open())
    #expect(!record.isResumed)
    try record.append(Self.one, identity: "")
    try record.close(keeps: true)
    #expect(RecordShelf.mode(path) == 0o600)
    #expect(try directory.read("other") == Array("untouched".utf8))
    let next = try #require(try open())
    #expect(next.isResumed)
    try next.close(keeps: false)
  }

  @Test("records that were not resumed for 30 days are removed, but none that is in use")
  func old() throws {
    let names = ["c3", "d4", "e5"].map { String(repeating: $0, count: 16) }
    for name in names { try #require(try open(name)).close(keeps: true) }
    try directory.write("kept", to: "state/runs/notes")
    let used = try #require(try open(names[1]))
    for (name, days) in zip(names + ["notes"], [31, 31, 29, 99]) {
      try setModified(folder + "/runs/" + name, seconds: Int(now.seconds) - days * 86_400)
    }
    let record = try #require(try open())
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder + "/runs").filter { !$0.hasSuffix(".lock") }.sorted()
        == [name, names[1], names[2], "notes"])
    try record.close(keeps: true)
    try used.close(keeps: true)
  }

  @Test("without a state folder there is no record")
  func noFolder() throws {
    #expect(throws: Failure.self) { try RunRecord.open(folder: "", name: name, now: now) }
    try directory.write("", to: "file")
    #expect(throws: Failure.self) { try RunRecord.open(folder: directory.path("file"), name: name, now: now) }
  }

  @Test("a run's name covers everything that was given, and how it was divided")
  func names() throws {
    let lists = [[], [""], ["", ""], ["ab"], ["a", "b"], ["b", "a"], ["a", "b", ""]]
    let names = try lists.map { try RunRecord.name(of: $0) }
    #expect(Set(names).count == lists.count)
    #expect(names.allSatisfy { $0.utf8.count == 32 })
    #expect(try RunRecord.name(of: ["a", "b"]) == names[4])
  }
}
