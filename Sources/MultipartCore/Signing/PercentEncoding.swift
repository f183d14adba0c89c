/// AWS's UriEncode: every byte but `A-Z a-z 0-9 - . _ ~` becomes `%XY` with upper-case digits.
package enum PercentEncoding {
  /// For keys: `/` stays, and nothing is folded, so `/a`, `a//b` and `../x` stay themselves.
  package static func path(_ text: String) -> String { encode(text, keepingSlash: true) }

  /// For names and values of the query, and for a bucket in a path.
  package static func query(_ text: String) -> String { encode(text, keepingSlash: false) }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func encode(_ text: String, keepingSlash: Bool) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if isUnreserved(byte) || (keepingSlash && byte == UInt8(ascii: "/")) {
        out.append(byte)
      } else {
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
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
