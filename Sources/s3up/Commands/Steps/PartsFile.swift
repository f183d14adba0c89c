import MultipartBasics
import MultipartCore

/// A list of parts, one per line: a number and an ETag, or the output of `parts` (number, size, ETag, checksums), of `parts
/// --json` or of `part --json`. Empty lines and those that begin with `#` are ignored.
enum PartsFile {
  /// Enough for 10,000 JSON objects with several checksums each.
  static let mostBytes = 16 << 20

  static func read(_ file: Argument) throws(Failure) -> [UploadedPart] {
    try parse(try bytes(of: file), name: file.text)
  }

  static func bytes(of file: Argument) throws(Failure) -> [UInt8] {
    try FilePath(bytes: file.bytes).input(limit: mostBytes)
  }

  /// The parts, sorted by number.
  static func parse(_ bytes: [UInt8], name: String) throws(Failure) -> [UploadedPart] {
    try PartLines.read(bytes, name: name, example: "1 \"9b2cf535f27731c974343645a3985328\"") { row in
      row.first == UInt8(ascii: "{") ? object(row) : words(row)
    }
  }

  private static func words(_ row: ArraySlice<UInt8>) -> (Int, UploadedPart)? {
    let words = PartLines.words(row)
    guard words.count >= 2, let number = Int(words[0], in: S3Limits.partNumbers) else { return nil }
    guard words.count > 2 else { return line(number, etag: words[1], size: nil, checksums: []) }
    guard let size = Int64(words[1], in: 0 ... .max) else { return nil }
    let sums = words[3...].map { word -> Checksum? in
      let halves = word.pieces(at: ":", maxSplits: 1).map(String.init)
      return halves.count == 2 ? checksum(halves[0], halves[1]) : nil
    }
    guard sums.allSatisfy({ $0 != nil }) else { return nil }
    return line(number, etag: words[2], size: size, checksums: sums.compactMap(\.self))
  }

  private static func object(_ row: ArraySlice<UInt8>) -> (Int, UploadedPart)? {
    guard let object = JSON.parse(Array(row)), let number = object["part"]?.integer(in: S3Limits.partNumbers),
      let etag = object["etag"]?.text
    else { return nil }
    var sums: [Checksum?] = []
    if case .object(let fields)? = object["checksums"] {
      sums = fields.map { name, value in value.text.flatMap { checksum(name, $0) } }
    }
    let size = object["size"]
    guard sums.allSatisfy({ $0 != nil }), size == nil || size == .null || size?.integer != nil else { return nil }
    return line(number, etag: etag, size: size?.integer, checksums: sums.compactMap(\.self))
  }

  private static func line(_ number: Int, etag: String, size: Int64?, checksums: [Checksum]) -> (Int, UploadedPart)? {
    guard ETag(etag) != nil, size.map({ (0...S3Limits.largestPart).contains($0) }) ?? true else { return nil }
    let sums = checksums.map { ($0.algorithm, $0.base64) }
    return (
      number,
      UploadedPart(number: number, size: size, etag: etag, checksums: Dictionary(sums) { _, last in last })
    )
  }

  private static func checksum(_ name: String, _ value: String) -> Checksum? {
    ChecksumAlgorithm(awsName: name).flatMap { Checksum($0, base64: value) }
  }
}

/// A file with one line per part that begins with its number.
enum PartLines {
  /// Returns the values in the order of the parts; refuses a line that `read` returns nil for, and a part that occurs
  /// twice.
  static func read<Value>(
    _ bytes: [UInt8], name: String, example: String, _ read: (ArraySlice<UInt8>) -> (Int, Value)?
  ) throws(Failure) -> [Value] {
    var found: [Int: Value] = [:]
    let rows = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, row) in rows.enumerated() {
      let row = row.drop { isSpace($0) }
      guard let first = row.first, first != UInt8(ascii: "#") else { continue }
      guard let (number, value) = read(row) else {
        throw Failure(
          .usage, "line \(index + 1) of the list of parts is not a part", remedy: "A line is such as \(example)"
        ).at(Place(file: name))
      }
      guard found.updateValue(value, forKey: number) == nil else {
        throw Failure(
          .usage, "part \(number) is twice in the list", remedy: "Leave one line for each part."
        ).at(Place(file: name))
      }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }

  static func words(_ row: ArraySlice<UInt8>) -> [String] {
    row.split(whereSeparator: isSpace).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
