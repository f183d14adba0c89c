import MultipartBasics
import MultipartCore

/// The parts that `presign` signs, each with the MD5 that its bytes must have, if it is given.
struct PresignedParts {
  struct Part: Equatable {
    /// The part's number; nil if the URL is for the whole object.
    var number: Int?
    /// The MD5 in Base64, as in Content-MD5.
    var md5: String?
  }

  let parts: [Part]

  init(_ options: PresignChoices) throws(Failure) {
    guard let range = options.parts else {
      parts = [Part(number: nil, md5: options.contentMD5)]
      return
    }
    guard let file = options.contentMD5File else {
      parts = range.map { Part(number: $0, md5: options.contentMD5) }
      return
    }
    do throws(Failure) {
      parts = try Self.parts(range, try PartsFile.bytes(of: file), name: file.text)
    } catch {
      throw error.at(Place(file: file.text))
    }
  }

  /// Reads one line for each part of the range, and no others: its number and the MD5 of its bytes.
  static func parts(_ range: ClosedRange<Int>, _ bytes: [UInt8], name: String) throws(Failure) -> [Part] {
    let listed = try PartLines.read(bytes, name: name, example: "1 1B2M2Y8AsgTpgAmY7PhCfg==", line)
    let numbers = listed.compactMap(\.number)
    let surplus = numbers.filter { !range.contains($0) }
    guard surplus.isEmpty else {
      throw Failure(
        .usage, "the list has an MD5 of \(PartNumbers.text(surplus)), which --part does not name",
        remedy: "Leave it out, or sign it too: --part \(range.lowerBound)-\(numbers.last ?? range.upperBound)")
    }
    let known = Set(numbers)
    let missing = range.filter { !known.contains($0) }
    guard missing.isEmpty else {
      throw Failure(
        .usage, "the list has no MD5 of \(PartNumbers.text(missing))",
        remedy: "Add a line for each: its number and its MD5.")
    }
    return listed
  }

  private static func line(_ row: ArraySlice<UInt8>) -> (Int, Part)? {
    let words = PartLines.words(row)
    guard words.count == 2, let number = Int(words[0], in: S3Limits.partNumbers), let md5 = md5(words[1]) else {
      return nil
    }
    return (number, Part(number: number, md5: md5))
  }

  /// The MD5 in Base64, from Base64 (24 characters) or hexadecimal digits (32).
  static func md5(_ text: String) -> String? {
    let bytes = text.utf8.count == 32 ? Hex.decode(text) : Base64.decode(text)
    return bytes.flatMap { $0.count == 16 ? Base64.encode($0) : nil }
  }
}
