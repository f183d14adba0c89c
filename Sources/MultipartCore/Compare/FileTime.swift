import MultipartBasics

/// When a file was last modified, in the form used in an object's metadata: seconds since 1970 with up to nine
/// decimals.
struct FileTime: Sendable, Equatable {
  /// The metadata name that s3up and rclone use for it.
  static let ownName = "s3up-mtime"
  static let rcloneName = "mtime"

  var seconds: Int64
  /// The fraction, 0..<1,000,000,000, counted forwards, even before 1970.
  var nanoseconds: Int64

  init(_ identity: FileIdentity) {
    (seconds, nanoseconds) = (identity.modifiedSeconds, identity.modifiedNanoseconds)
  }

  /// Parses a time; nil unless it is a decimal number with at most nine decimals.
  init?(_ text: String) {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let pieces = text.utf8.dropFirst(isNegative ? 1 : 0)
      .split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let fraction = Array(pieces.count > 1 ? pieces[1] : "0".utf8[...])
    guard let whole = pieces.first.flatMap({ Int64($0, in: 0...999_999_999_999_999_999) }),
      (1...9).contains(fraction.count),
      let decimals = Int64(fraction + [UInt8](repeating: 0x30, count: 9 - fraction.count), in: 0...999_999_999)
    else { return nil }
    (seconds, nanoseconds) = (whole, decimals)
    guard isNegative else { return }
    (seconds, nanoseconds) = nanoseconds == 0 ? (-seconds, 0) : (-seconds - 1, 1_000_000_000 - nanoseconds)
  }

  /// The text, without trailing zeros.
  var text: String {
    let isNegative = seconds < 0 && nanoseconds > 0
    let whole = isNegative ? seconds + 1 : seconds
    let fraction = isNegative ? 1_000_000_000 - nanoseconds : nanoseconds
    let sign = isNegative && whole == 0 ? "-" : ""
    guard fraction > 0 else { return sign + String(whole) }
    var digits = Array(String(1_000_000_000 + fraction).utf8.dropFirst())
    while digits.last == 0x30 { digits.removeLast() }
    return sign + String(whole) + "." + String(decoding: digits, as: UTF8.self)
  }
}
