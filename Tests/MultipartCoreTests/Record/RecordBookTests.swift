import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct RecordBookTests {
  private let shelf: RecordShelf
  private let header = RecordSamples.header()
  private let target = RecordSamples.target

  init() throws { shelf = try RecordShelf() }

  private var book: RecordBook { shelf.book }

  @Test("A record exists as soon as it is begun, and each part as soon as it is appended")
  func story() throws {
    #expect(try book.load(target) == nil)
    let writer = try book.begin(header)
    #expect(try book.load(target) == UploadRecord(header: header))
    for number in [3, 1, 2] {
      try writer.append(RecordSamples.part(number), now: .zero)
      #expect(try book.load(target)?.parts[number] == RecordSamples.part(number))
    }
    try writer.flush()
    #expect(try book.load(target) == RecordSamples.record(parts: 3))
    try writer.remove()
    #expect(try book.load(target) == nil)
    #expect(try shelf.names() == [])
  }

  @Test("The file is 0600 in a folder that is 0700, and begin leaves no other file")
  func modes() throws {
    _ = try book.begin(header)
    #expect(RecordShelf.mode(shelf.folder) == 0o700)
    #expect(RecordShelf.mode(try shelf.path(".record")) == 0o600)
    #expect(try shelf.names() == [target.name() + ".record"])
  }

  @Test("A new record replaces an older one entirely")
  func replaces() throws {
    let old = try book.begin(header)
    try old.append(RecordSamples.part(1), now: .zero)
    let other = RecordSamples.header(id: "second")
    let new = try book.begin(other)
    #expect(try book.load(target) == UploadRecord(header: other))
    // The first run's handle refers to a file that has no name any more.
    try old.append(RecordSamples.part(2), now: .zero)
    try old.remove()
    #expect(try book.load(target) == UploadRecord(header: other))
    try new.append(RecordSamples.part(3), now: .zero)
    #expect(try book.load(target)?.parts == [3: RecordSamples.part(3)])
  }

  @Test("A record that is cut off anywhere is continued after the last complete line")
  func resumes() throws {
    let record = RecordSamples.record(parts: 6)
    let (bytes, ends) = try RecordSamples.text(record)
    for length in ends.dropFirst().flatMap({ [$0 - 1, $0, $0 + 1, $0 + 20] }) where length <= bytes.count {
      try shelf.write(Array(bytes.prefix(length)))
      let inode = RecordShelf.status(try shelf.path(".record"))?.st_ino
      guard let found = try book.load(target) else {
        #expect(length < ends[1])
        continue
      }
      try book.resume(found).append(RecordSamples.part(9), now: .zero)
      var expected = found
      expected.parts[9] = RecordSamples.part(9)
      #expect(try book.load(target) == expected)
      #expect(found.parts.count == ends.filter { $0 <= length }.count - 2)
      #expect(RecordShelf.status(try shelf.path(".record"))?.st_ino == inode)
    }
  }

  @Test("A record is continued with what the caller has read, whatever the file says now")
  func resumesElse() throws {
    let record = RecordSamples.record(parts: 3)
    try book.resume(record).append(RecordSamples.part(4), now: .zero)
    #expect(try book.load(target) == RecordSamples.record(parts: 4))
    var fewer = record
    fewer.parts[2] = nil
    try book.resume(fewer).append(RecordSamples.part(5), now: .zero)
    #expect(try book.load(target)?.parts.keys.sorted() == [1, 3, 5])
    var another = record
    another.header.uploadID = "another"
    _ = try book.resume(another)
    #expect(try book.load(target) == another)
  }

  @Test("A record is removed with or without its writer, and a missing one is not an error")
  func removes() throws {
    try book.remove(target)
    let writer = try book.begin(header)
    try book.remove(target)
    #expect(try book.load(target) == nil)
    try writer.remove()
    try writer.remove()
    // A part that arrives late is deleted with the rest.
    try writer.append(RecordSamples.part(1), now: .zero)
    try writer.flush()
    #expect(try shelf.names() == [])
  }

  @Test("All records are found, oldest first, and unusable files are named")
  func listing() throws {
    #expect(try book.all() == [])
    for (index, created) in [300, 100, 200].enumerated() {
      let target = RecordTarget(origin: "https://a", bucket: "b", key: "key \(index)")
      _ = try book.begin(RecordSamples.header(target, created: Int64(created)))
    }
    let lock = try book.lock(target)
    let (bytes, _) = try RecordSamples.text(RecordSamples.record(parts: 1))
    try shelf.write(Array(bytes.prefix(30)))
    try shelf.write(bytes, to: RecordTarget(origin: "", bucket: "", key: "wrong place"))
    let second = RecordLine.write(["s3up", "record", "3"].map { Array($0.utf8) }).bytes
    try shelf.write(second, to: RecordTarget(origin: "", bucket: "", key: "future"))
    let listing = try book.listing()
    #expect(listing.records.map(\.header.created.seconds) == [100, 200, 300])
    #expect(try book.all() == listing.records)
    #expect(listing.unusable.count == 3)
    #expect(listing.unusable.allSatisfy { $0.place.file?.hasSuffix(".record") == true })
    #expect(listing.unusable.filter { $0.code == .configuration }.count == 1)
    lock?.release()
  }

  @Test("The record of another destination is not used")
  func misplaced() throws {
    let (bytes, _) = try RecordSamples.text(RecordSamples.record(parts: 1))
    let other = RecordTarget(origin: "https://a", bucket: "b", key: "k")
    try shelf.write(bytes, to: other)
    #expect(try book.load(other) == nil)
  }

  @Test("If many begin a record at once, it is completely one of theirs, and none of the others removes it")
  func racing() async throws {
    let book = book
    let writers = try await withThrowingTaskGroup(of: (String, RecordWriter).self) { group in
      for index in 0..<12 {
        group.addTask {
          let writer = try book.begin(RecordSamples.header(id: "run \(index)"))
          try writer.append(RecordSamples.part(index + 1), now: .zero)
          return ("run \(index)", writer)
        }
      }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    #expect(writers.count == 12)
    let record = try #require(try book.load(target))
    #expect(record.parts.count == 1)
    for (id, writer) in writers where id != record.header.uploadID { try writer.remove() }
    #expect(try book.load(target) == record)
    try writers[record.header.uploadID]?.remove()
    #expect(try shelf.names() == [])
  }

  @Test("Incomplete files of a killed run are deleted by the next run that holds the lock, and by no other")
  func leftovers() throws {
    let name = try target.name()
    for number in [0, 3, 15] { try shelf.directory.write("half", to: "state/uploads/\(name).record.new\(number)") }
    let other = try #require(try book.lock(RecordTarget(origin: "https://other", bucket: "b", key: "k")))
    other.release()
    #expect(try shelf.names().count == 3)
    try shelf.directory.write("999999999\n", to: "state/uploads/\(name).lock")
    let lock = try #require(try book.lock(target))
    #expect(lock.leftSince != nil)
    #expect(try shelf.names() == [name + ".lock"])
    lock.release()
    #expect(try shelf.names() == [])
  }

  @Test("10,000 parts: each append writes its own line and no more, and a part costs no more to read than one of 1,000")
  func many() throws {
    let writer = try book.begin(header)
    let path = try shelf.path(".record")
    let first = try #require(RecordShelf.status(path))
    var size = Int(first.st_size)
    var lines: Set<Int> = []
    func timeToLoad(_ parts: Int) throws -> Duration {
      var tries: [Duration] = []
      // Other load on the machine can only make a try longer.
      for _ in 1...3 {
        let began = threadTime()
        let loaded = try book.load(target)?.parts.count
        tries.append(threadTime() - began)
        #expect(loaded == parts)
      }
      return tries.min() ?? .zero
    }
    var few = Duration.zero
    for number in 1...10_000 {
      try writer.append(UploadRecord.Part(number: number, size: 1 << 10, etag: "\"0123456789abcdef\""), now: .zero)
      let status = try #require(RecordShelf.status(path))
      lines.insert(Int(status.st_size) - size - String(number).count)
      size = Int(status.st_size)
      #expect(status.st_ino == first.st_ino)
      if number == 1000 { few = try timeToLoad(number) }
    }
    #expect(lines.count == 1)
    // Work that grew with the square of their number would take a hundred times as long.
    let many = try timeToLoad(10_000)
    #expect(many < few * 30, "1,000 parts take \(few), 10,000 \(many)")
  }

  @Test("A record begun with parts has them at once; a part that cannot be written is left out, and more can follow")
  func begunWithParts() throws {
    var long = RecordSamples.part(2)
    long.etag = String(repeating: "e", count: 70_000)
    let writer = try book.begin(header, parts: [RecordSamples.part(3), long, RecordSamples.part(1)])
    #expect(try book.load(target)?.parts == [1: RecordSamples.part(1), 3: RecordSamples.part(3)])
    try writer.append(RecordSamples.part(2), now: .zero)
    #expect(try book.load(target)?.parts.count == 3)
    // A record holds as many parts of a hostile store as it can, and no more.
    let many = (1...400).map { UploadRecord.Part(number: $0, size: 1, etag: String(repeating: "e", count: 60_000)) }
    _ = try book.begin(header, parts: many)
    #expect(try shelf.bytes().count <= RecordText.mostBytes)
    #expect((270...279).contains(try #require(try book.load(target)).parts.count))
  }

  @Test("A record of the maximum length accepts no more parts, and is shortened when it is continued")
  func longest() throws {
    let head = try RecordText.head(header)
    var part = RecordSamples.part(1)
    part.etag = String(repeating: "e", count: 60 << 10)
    let line = try RecordText.entry(part, seed: head.seed)
    var bytes = head.bytes
    while bytes.count + line.count <= RecordText.mostBytes { bytes += line }
    try shelf.write(bytes + line)
    let record = try #require(try book.load(target))
    #expect(record.parts == [1: part])
    let file = try #require(try RecordFolder.open(shelf.folder)?.file(target.name() + ".record", O_RDWR | O_APPEND))
    let full = RecordWriter(
      try #require(try RecordFolder.open(shelf.folder)), try target.name() + ".record", file, length: bytes.count,
      seed: head.seed)
    #expect(throws: Failure.self) { try full.append(part, now: .zero) }
    try book.resume(record).append(RecordSamples.part(2), now: .zero)
    #expect(try shelf.bytes().count < 100_000)
    #expect(try book.load(target)?.parts == [1: part, 2: RecordSamples.part(2)])
  }
}
