import Glibc
import MultipartBasics

/// A record as text:
/// ```
/// s3up record 2 CRC
/// upload ORIGIN BUCKET KEY PATH DEVICE INODE SIZE MTIME NANOSECONDS CTIME NANOSECONDS ID PART-SIZE CHECKSUM OPTIONS \
///   CREATED CRC
/// part NUMBER SIZE ETAG ALGORITHM:HEX|- CRC
/// ```
/// All versions begin with a first line of this form, so that an unknown version can be distinguished from damage.
/// Version 1 had no ctime: its file counts as touched.
enum RecordText {
  /// 10,000 parts take about 1 MiB.
  static let mostBytes = 16 << 20
  private static let opening = ["s3up", "record", "2"].map { Array($0.utf8) }
  private static let former = ["s3up", "record", "1"].map { Array($0.utf8) }

  /// The contents of a file up to its first invalid entry.
  struct Reading {
    var record: UploadRecord
    /// The length up to the end of the last valid entry.
    var length: Int
    var seed: UInt32
  }

  /// The first two entries, and the CRC seed of those that follow.
  static func head(_ header: UploadRecord.Header) throws(Failure) -> (bytes: [UInt8], seed: UInt32) {
    let first = RecordLine.write(opening).bytes
    let second = RecordLine.write(words(header))
    let bytes = first + second.bytes
    // Nothing is written that could not be read back.
    guard let back = try read(bytes), back.record.header == header else {
      throw Failure(.local, "the record of this upload cannot be written: one of its values is out of bounds")
    }
    return (bytes, second.crc)
  }

  static func entry(_ part: UploadRecord.Part, seed: UInt32) throws(Failure) -> [UInt8] {
    var draft = RecordLine.Draft()
    draft.add("part".utf8)
    draft.add(String(part.number).utf8)
    draft.add(String(part.size).utf8)
    draft.add(part.etag.utf8)
    draft.add((part.checksum.map { $0.algorithm.rawValue + ":" + $0.hex } ?? "-").utf8)
    let bytes = draft.end(seed: seed).bytes
    guard bytes.count <= RecordLine.longest, S3Limits.partNumbers.contains(part.number),
      (0...S3Limits.largestPart).contains(part.size)
    else {
      throw Failure(.local, "part \(part.number) cannot be recorded: one of its values is out of bounds")
    }
    return bytes
  }

  /// Reads a record; nil without a complete header. Throws for a different version.
  static func read(_ bytes: [UInt8]) throws(Failure) -> Reading? {
    var rest = bytes.prefix(mostBytes)
    guard let first = nextEntry(&rest), let opening = RecordLine.read(first)?.words,
      opening.starts(with: Self.opening.dropLast())
    else { return nil }
    guard opening == Self.opening || opening == former else { throw unknown(opening) }
    guard let second = nextEntry(&rest), let upload = RecordLine.read(second) else { return nil }
    var words = upload.words
    if opening == former { words.insert(contentsOf: [Array("0".utf8), Array("0".utf8)], at: min(10, words.count)) }
    guard let header = header(words) else { return nil }
    var reading = Reading(record: UploadRecord(header: header), length: rest.startIndex, seed: upload.crc)
    while let entry = nextEntry(&rest), let words = RecordLine.read(entry, seed: upload.crc)?.words,
      let part = part(words)
    {
      reading.record.parts[part.number] = part
      reading.length = rest.startIndex
    }
    return reading
  }

  /// The next entry, up to its line feed; a last one without a line feed is incomplete.
  private static func nextEntry(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let end = rest.prefix(RecordLine.longest).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[..<end]
  }

  private static func unknown(_ opening: [RecordLine.Word]) -> Failure {
    let version = String(
      decoding: Array(opening.dropFirst(2).joined(separator: [UInt8(ascii: " ")]).prefix(32)), as: UTF8.self)
    return Failure(
      .configuration, "the record of this upload is in format version \(version), which this program does not know",
      remedy: "use the version that wrote it, or remove the file: the parts are then found on the server")
  }

  // MARK: Words

  static func words(_ header: UploadRecord.Header) -> [RecordLine.Word] {
    let (target, source) = (header.target, header.source)
    let texts = [
      "upload", target.origin, target.bucket, target.key, "", String(source.device), String(source.inode),
      String(source.size), String(source.modifiedSeconds), String(source.modifiedNanoseconds),
      String(source.changedSeconds), String(source.changedNanoseconds), header.uploadID,
      String(header.partSize), header.form.word, header.optionsDigest, String(header.created.seconds),
    ]
    var words = texts.map { Array($0.utf8) }
    words[4] = header.sourcePath.bytes
    return words
  }

  private static func header(_ words: [RecordLine.Word]) -> UploadRecord.Header? {
    let texts = words.map { String(decoding: $0, as: UTF8.self) }
    guard texts.count == 17, texts[0] == "upload", let device = UInt64(texts[5], in: 0 ... .max),
      let inode = UInt64(texts[6], in: 0 ... .max), let size = Int64(texts[7], in: 0 ... .max),
      let seconds = Int64(texts[8], in: .min ... .max), let nanoseconds = Int64(texts[9], in: .min ... .max),
      let changed = Int64(texts[10], in: .min ... .max), let changedNanoseconds = Int64(texts[11], in: .min ... .max),
      let partSize = Int64(texts[13], in: 1 ... .max), let form = ChecksumForm(word: texts[14]),
      let created = Int64(texts[16], in: .min ... .max), !texts[12].isEmpty
    else { return nil }
    var source = FileIdentity.none
    (source.device, source.inode, source.size) = (device, inode, size)
    (source.modifiedSeconds, source.modifiedNanoseconds) = (seconds, nanoseconds)
    (source.changedSeconds, source.changedNanoseconds) = (changed, changedNanoseconds)
    return UploadRecord.Header(
      target: RecordTarget(origin: texts[1], bucket: texts[2], key: texts[3]),
      sourcePath: FilePath(bytes: words[4]), source: source, uploadID: texts[12], partSize: partSize, form: form,
      optionsDigest: texts[15], created: Timestamp(seconds: created))
  }

  private static func part(_ words: [RecordLine.Word]) -> UploadRecord.Part? {
    let texts = words.map { String(decoding: $0, as: UTF8.self) }
    guard texts.count == 5, texts[0] == "part", let number = Int(texts[1], in: S3Limits.partNumbers),
      let size = Int64(texts[2], in: 0...S3Limits.largestPart)
    else { return nil }
    var part = UploadRecord.Part(number: number, size: size, etag: texts[3])
    if texts[4] != "-" {
      guard let checksum = checksum(texts[4]) else { return nil }
      part.checksum = checksum
    }
    return part
  }

  private static func checksum(_ text: String) -> Checksum? {
    let pieces = text.pieces(at: ":")
    guard pieces.count == 2, let algorithm = ChecksumAlgorithm(rawValue: String(pieces[0])),
      let bytes = Hex.decode(String(pieces[1]))
    else { return nil }
    return Checksum(algorithm, bytes: bytes)
  }
}
