/// Percent-encoding as AWS defines it, written independently of the product's signer.
enum FakeURL {
  /// Encodes everything except letters, digits and `-._~` as %XX in upper case; `/` is kept in paths.
  static func encode(_ bytes: some Sequence<UInt8>, keepSlash: Bool = false) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        out.append(byte)
      case UInt8(ascii: "/") where keepSlash: out.append(byte)
      default: out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Decodes the text; nil for a broken escape.
  static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> [UInt8]? {
    let bytes = Array(text.utf8)
    var out: [UInt8] = []
    var at = 0
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "%") {
        guard at + 2 < bytes.count, let high = digit(bytes[at + 1]), let low = digit(bytes[at + 2]) else { return nil }
        out.append(high << 4 | low)
        at += 3
      } else {
        out.append(plusIsSpace && bytes[at] == UInt8(ascii: "+") ? 0x20 : bytes[at])
        at += 1
      }
    }
    return out
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The decoded pairs of a query, in the order in which they were sent.
  static func pairs(_ query: String) -> [(name: String, value: String)]? {
    var out: [(name: String, value: String)] = []
    for pair in query.split(separator: "&") {
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decode(halves[0], plusIsSpace: true),
        let value = decode(halves.count > 1 ? halves[1] : "", plusIsSpace: true)
      else { return nil }
      out.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
    return out
  }
}
