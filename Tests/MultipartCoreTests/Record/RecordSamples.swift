import Foundation
import Support
import Testing

@testable import MultipartCore

/// Headers and parts in which every value is a trap for a format of words and lines.
enum RecordSamples {
  static let target = RecordTarget(
    origin: "https://s3.example:9000", bucket: "b ucket%41", key: "a/../b \n\0\"%20\r/e\u{301}\u{1F4A9}\u{7F}")

  static func header(
    _ target: RecordTarget = target, id: String = "up load%\"\u{FFFD}~2+/=", created: Int64 = 1_800_000_000
  ) -> UploadRecord.Header {
    UploadRecord.Header(
      target: target, sourcePath: FilePath(bytes: [0x2F, 0xFF, 0xC3, 0x28, 0x20, 0x0A, 0x25, 0x80]),
      source: identity(
        device: .max, inode: .max - 1, size: .max, modified: (-1, 999_999_999), changed: (.min, 999_999_998)),
      uploadID: id, partSize: 8 << 20, form: .algorithm(.crc64nvme), optionsDigest: String(repeating: "ab", count: 32),
      created: Timestamp(seconds: created))
  }

  static func identity(
    device: UInt64, inode: UInt64, size: Int64, modified: (Int64, Int64), changed: (Int64, Int64)
  ) -> FileIdentity {
    var identity = FileIdentity.none
    (identity.device, identity.inode, identity.size) = (device, inode, size)
    (identity.modifiedSeconds, identity.modifiedNanoseconds) = modified
    (identity.changedSeconds, identity.changedNanoseconds) = changed
    return identity
  }

  static let etags = [
    "\"d41d8cd98f00b204e9800998ecf8427e\"", "", "\"a b\"", "%", "%22", "a\nb", "-", "\u{0}", "W/\"\u{E9}\"",
  ]

  /// A part with each algorithm in turn and none, and an ETag of any characters that a store may send.
  static func part(_ number: Int, size: Int64 = 8 << 20) -> UploadRecord.Part {
    let algorithms = ChecksumAlgorithm.allCases
    let choice = number % (algorithms.count + 1)
    let checksum = choice == 0 ? nil : algorithms[choice - 1]
    return UploadRecord.Part(
      number: number, size: size + Int64(number), etag: etags[number % etags.count] + String(number),
      checksum: checksum.flatMap { Checksum($0, bytes: randomBytes($0.digestLength, seed: UInt64(number))) })
  }

  static func record(parts count: Int) -> UploadRecord {
    var record = UploadRecord(header: header())
    for number in 0..<count { record.parts[number + 1] = part(number + 1) }
    return record
  }

  /// The text of a record, and the end of each of its lines.
  static func text(_ record: UploadRecord) throws -> (bytes: [UInt8], ends: [Int]) {
    var (bytes, seed) = try RecordText.head(record.header)
    for number in record.parts.keys.sorted() {
      bytes += try RecordText.entry(#require(record.parts[number]), seed: seed)
    }
    return (bytes, bytes.indices.filter { bytes[$0] == 0x0A }.map { $0 + 1 })
  }
}

/// The state folder of one test, viewed from outside.
struct RecordShelf {
  let directory: TemporaryDirectory
  let book: RecordBook

  init() throws {
    directory = try TemporaryDirectory()
    book = RecordBook(folder: directory.path("state"))
  }

  var folder: String { directory.path("state/uploads") }

  func path(_ suffix: String, of target: RecordTarget = RecordSamples.target) throws -> String {
    try folder + "/" + target.name() + suffix
  }

  /// Writes bytes to the record's path.
  func write(_ bytes: [UInt8], to target: RecordTarget = RecordSamples.target) throws {
    let path = try directory.write(bytes, to: "state/uploads/" + target.name() + ".record")
    chmod(path, 0o600)
  }

  func bytes(of target: RecordTarget = RecordSamples.target) throws -> [UInt8] {
    try directory.read("state/uploads/" + target.name() + ".record")
  }

  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

  static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  static func mode(_ path: String) -> mode_t? { status(path).map { $0.st_mode & 0o7777 } }
}
