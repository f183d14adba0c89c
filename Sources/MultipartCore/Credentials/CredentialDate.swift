import MultipartBasics

/// Parses times as token caches and programs write them: `2025-06-15T16:06:40Z`, with a fraction, with `UTC` as in old
/// versions of the AWS CLI, or with an offset such as `+02:00`.
enum CredentialDate {
  static func parse(_ text: String) -> Timestamp? {
    let bytes = Array(ASCII.trimmed(text).utf8)
    guard bytes.count >= 19, bytes.count <= 48 else { return nil }
    var day = Array(bytes[..<19])
    if day[10] == 0x20 { day[10] = UInt8(ascii: "T") }
    var zone = bytes[19...]
    if zone.first == UInt8(ascii: ".") { zone = zone.dropFirst().drop(while: ASCII.isDigit) }
    guard let offset = offset(Array(zone)), let moment = S3Date.iso8601(String(decoding: day, as: UTF8.self) + "Z")
    else {
      return nil
    }
    return Timestamp(seconds: moment.seconds - offset)
  }

  /// The offset from UTC in seconds.
  private static func offset(_ zone: [UInt8]) -> Int64? {
    if zone == Array("Z".utf8) || zone == Array("UTC".utf8) { return 0 }
    guard let sign = zone.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    let digits = zone.dropFirst().filter { $0 != UInt8(ascii: ":") }
    guard digits.count == 4 || digits.count == 2, digits.allSatisfy(ASCII.isDigit) else { return nil }
    let numbers = digits.map { Int64($0 - 0x30) }
    let hours = numbers[0] * 10 + numbers[1]
    let minutes = numbers.count == 4 ? numbers[2] * 10 + numbers[3] : 0
    guard hours < 24, minutes < 60 else { return nil }
    return (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
  }
}
