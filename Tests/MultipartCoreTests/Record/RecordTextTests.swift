import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct RecordTextTests {
  private let record = RecordSamples.record(parts: 30)

  private func parts(_ count: Int) -> [Int: UploadRecord.Part] { record.parts.filter { $0.key <= count } }

  @Test("Keys, paths and ETags of any bytes survive a round trip, one line each")
  func roundTrip() throws {
    let (bytes, ends) = try RecordSamples.text(record)
    let reading = try #require(try RecordText.read(bytes))
    #expect(reading.record == record)
    #expect(reading.length == bytes.count)
    #expect(ends.count == 32)
    #expect(reading.record.header.sourcePath.bytes == record.header.sourcePath.bytes)
    #expect(Array(reading.record.header.target.key.utf8) == Array(record.header.target.key.utf8))
    for number in 1...30 {
      #expect(reading.record.parts[number]?.etag.utf8.elementsEqual(RecordSamples.part(number).etag.utf8) == true)
    }
    #expect(bytes.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
  }

  @Test("The text has exactly this form, so that later releases can read it")
  func frozen() throws {
    var record = UploadRecord(header: RecordSamples.header())
    record.parts[1] = RecordSamples.part(1)
    let digest = String(repeating: "ab", count: 32)
    let expected = [
      "s3up record 2",
      "upload https://s3.example:9000 b%20ucket%2541 "
        + "a/../b%20%0a%00\"%2520%0d/e%cc%81%f0%9f%92%a9%7f /%ff%c3(%20%0a%25%80 18446744073709551615 "
        + "18446744073709551614 9223372036854775807 -1 999999999 -9223372036854775808 999999998 up%20load%25\"%ef%bf%bd~2+/= 8388608 crc64nvme "
        + "\(digest) 1800000000",
      "part 1 8388609 1 crc64nvme:" + Hex.encode(randomBytes(8, seed: 1)),
    ]
    let lines = String(decoding: try RecordSamples.text(record).bytes, as: UTF8.self).split(separator: "\n")
    #expect(lines.map { String($0.dropLast(9)) } == expected)
    #expect(lines.first == "s3up record 2 c572048b")
  }

  @Test("The record of a release without ctimes is read, and is not that of an untouched file")
  func former() throws {
    let record = RecordSamples.record(parts: 3)
    let (text, ends) = try RecordSamples.text(record)
    var words = try #require(RecordLine.read(text[ends[0]..<ends[1] - 1])).words
    words.removeSubrange(10...11)
    let opening = RecordLine.write(["s3up", "record", "1"].map { Array($0.utf8) }).bytes
    let upload = RecordLine.write(words)
    var bytes = opening + upload.bytes
    for number in 1...3 { bytes += try RecordText.entry(RecordSamples.part(number), seed: upload.crc) }
    var expected = record
    (expected.header.source.changedSeconds, expected.header.source.changedNanoseconds) = (0, 0)
    #expect(try RecordText.read(bytes)?.record == expected)
    #expect(try RecordText.read(opening + text[ends[0]...]) == nil)
  }

  @Test("Every form of checksum is remembered")
  func forms() throws {
    for form in [.md5, .nothing] + ChecksumAlgorithm.allCases.filter({ $0 != .md5 }).map(ChecksumForm.algorithm) {
      var header = RecordSamples.header()
      header.form = form
      #expect(try RecordText.read(RecordText.head(header).bytes)?.record.header.form == form)
    }
  }

  @Test("Cut off at any byte, a record consists of its complete lines only")
  func torn() throws {
    let (bytes, ends) = try RecordSamples.text(record)
    for length in 0..<bytes.count {
      let whole = ends.filter { $0 <= length }.count
      let reading = try RecordText.read(Array(bytes.prefix(length)))
      guard whole >= 2 else {
        #expect(reading == nil, "cut at \(length)")
        continue
      }
      #expect(reading?.record.parts == parts(whole - 2), "cut at \(length)")
      #expect(reading?.length == ends[whole - 1], "cut at \(length)")
    }
  }

  @Test("Cut off at any byte and filled with NULs or another record, it consists of its complete lines")
  func filled() throws {
    let (bytes, ends) = try RecordSamples.text(record)
    var other = record
    other.header.uploadID = "another"
    for number in other.parts.keys { other.parts[number]?.etag = "stale" }
    let (stale, starts) = try RecordSamples.text(other)
    for length in stride(from: ends[1], to: bytes.count, by: 7) + ends.dropFirst().dropLast() {
      let whole = parts(ends.filter { $0 <= length }.count - 2)
      let nul = Array(bytes.prefix(length)) + [UInt8](repeating: 0, count: 4096)
      #expect(try RecordText.read(nul)?.record.parts == whole, "NULs from \(length)")
      // Blocks of an older file, at the same offset and beginning with a line.
      let older = Array(bytes.prefix(length)) + stale.dropFirst(length)
      #expect(try RecordText.read(older)?.record.parts == whole, "another's from \(length)")
      #expect(
        try RecordText.read(Array(bytes.prefix(length)) + stale[starts[1]...])?.record.parts == whole, "from \(length)")
    }
  }

  @Test(
    "After changing any byte, no wrong part or header is accepted", arguments: [0x01, 0x20, 0x80] as [UInt8])
  func flipped(mask: UInt8) throws {
    let (bytes, ends) = try RecordSamples.text(record)
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= mask
      let line = ends.filter { $0 <= place }.count
      let reading = try RecordText.read(changed)
      #expect(reading?.record.header == (line < 2 ? nil : record.header), "byte \(place)")
      #expect(reading?.record.parts == (line < 2 ? nil : parts(line - 2)), "byte \(place)")
    }
  }

  @Test("Two lines that were written into each other end the record")
  func interleaved() throws {
    let (bytes, ends) = try RecordSamples.text(record)
    let (a, b) = (bytes[ends[4]..<ends[5]], bytes[ends[5]..<ends[6]])
    for cut in 1..<a.count {
      let mixed = Array(bytes[..<ends[4]]) + a.prefix(cut) + b + a.dropFirst(cut)
      #expect(try RecordText.read(mixed)?.record.parts == parts(3))
    }
  }

  @Test("If a part was sent twice, the later line counts")
  func twice() throws {
    let head = try RecordText.head(record.header)
    var again = RecordSamples.part(1)
    again.etag = "later"
    let bytes =
      try head.bytes + RecordText.entry(RecordSamples.part(1), seed: head.seed)
      + RecordText.entry(again, seed: head.seed)
    #expect(try RecordText.read(bytes)?.record.parts == [1: again])
  }

  @Test("A newer format is reported by its version, and a damaged file as damaged")
  func versions() throws {
    let second = try RecordSamples.text(record).bytes.drop { $0 != 0x0A }.dropFirst()
    for words in [["s3up", "record", "3"], ["s3up", "record", "2", "more"], ["s3up", "record", ""]] {
      let bytes = RecordLine.write(words.map { Array($0.utf8) }).bytes + second
      let failure = #expect(throws: Failure.self) { try RecordText.read(bytes) }
      #expect(failure?.code == .configuration)
      #expect(failure?.message.contains("version \(words.dropFirst(2).joined(separator: " ")),") == true)
      #expect(failure?.remedy != nil)
    }
    #expect(try RecordText.read(Array("s3up record 3\n".utf8) + second) == nil)
    #expect(try RecordText.read(RecordLine.write([Array("notes".utf8)]).bytes + second) == nil)
  }

  @Test("Well-formed lines that make no sense end the record")
  func nonsense() throws {
    let head = try RecordText.head(record.header)
    let good = try RecordText.entry(RecordSamples.part(7), seed: head.seed)
    let bad = [
      ["part", "0", "1", "e", "-"], ["part", "10001", "1", "e", "-"], ["part", "-1", "1", "e", "-"],
      ["part", "1", "-1", "e", "-"], ["part", "1", "9223372036854775808", "e", "-"], ["part", "1", "1", "e"],
      ["part", "1", "1", "e", "crc32:00"], ["part", "1", "1", "e", "crc32"], ["part", "1", "1", "e", ""],
      ["part", "1", "1", "e", "-", "-"], ["upload"], [""], ["part", "1", "1", "e", "crc32:0000000g"],
    ]
    for words in bad {
      let line = RecordLine.write(words.map { Array($0.utf8) }, seed: head.seed).bytes
      let reading = try #require(try RecordText.read(head.bytes + good + line + good))
      #expect(reading.record.parts == [7: RecordSamples.part(7)], "\(words)")
      #expect(reading.length == head.bytes.count + good.count)
    }
  }

  @Test("An entry that could not be read back is not written")
  func unwritable() throws {
    for number in [0, 10_001, -1] {
      #expect(throws: Failure.self) {
        try RecordText.entry(UploadRecord.Part(number: number, size: 1, etag: ""), seed: 0)
      }
    }
    let long = UploadRecord.Part(number: 1, size: 1, etag: String(repeating: "x", count: 64 << 10))
    #expect(throws: Failure.self) { try RecordText.entry(long, seed: 0) }
    #expect(throws: Failure.self) { try RecordText.entry(UploadRecord.Part(number: 1, size: -1, etag: ""), seed: 0) }
    var header = RecordSamples.header()
    header.partSize = 0
    #expect(throws: Failure.self) { try RecordText.head(header) }
    #expect(throws: Failure.self) { try RecordText.head(RecordSamples.header(id: "")) }
  }

  @Test("Random bytes, long lines and an empty file are not a record")
  func garbage() throws {
    for bytes in [
      [], [0x0A], randomBytes(100_000, seed: 3), [UInt8](repeating: 0x61, count: 200_000),
      [UInt8](repeating: 0x0A, count: 1000), Array("s3up record 1 d622f77f\n".utf8),
    ] {
      #expect(try RecordText.read(bytes) == nil)
    }
  }

  @Test("Targets are compared by their bytes, and each has a name of its own")
  func targets() throws {
    let composed = RecordTarget(origin: "https://a", bucket: "b", key: "\u{E9}")
    let decomposed = RecordTarget(origin: "https://a", bucket: "b", key: "e\u{301}")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    let targets = [
      composed, decomposed, RecordTarget(origin: "https://a", bucket: "b\u{E9}", key: ""),
      RecordTarget(origin: "https://ab", bucket: "", key: "\u{E9}"), RecordSamples.target,
    ]
    let names = try targets.map { try $0.name() }
    #expect(Set(names).count == targets.count)
    #expect(names.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    let plain = RecordTarget(origin: "https://s3", bucket: "b", key: "k")
    let digest = try Digest.sha256(Array("https://s3\0b\0k".utf8))
    #expect(try plain.name() == String(Hex.encode(digest).prefix(32)))
  }
}
