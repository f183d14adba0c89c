/// AWS's UriEncode: every byte but `A-Z a-z 0-9 - . _ ~` becomes `%XY` with upper-case digits.
package enum PercentEncoding {
  /// For keys: `/` stays, and nothing is folded, so `/a`, `a//b` and `../x` stay themselves.
  package static func path(_ text: String) -> String { encode(text, keepingSlash: true) }

  /// For names and values of the query, and for a bucket in a path.
  package static func query(_ text: String) -> String { encode(text, keepingSlash: false) }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func encode(_ text: String, keepingSlash: Bool) -> String {
    func stays(_ byte: UInt8) -> Bool { isUnreserved(byte) || (keepingSlash && byte == UInt8(ascii: "/")) }
    // Most names, keys and ids are made of such bytes alone.
    guard let first = text.utf8.firstIndex(where: { !stays($0) }) else { return text }
    var out = Array(text.utf8[..<first])
    out.reserveCapacity(text.utf8.count + 32)
    for byte in text.utf8[first...] {
      if stays(byte) {
        out.append(byte)
      } else {
        out.append(UInt8(ascii: "%"))
        out.append(digits[Int(byte >> 4)])
        out.append(digits[Int(byte & 15)])
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
