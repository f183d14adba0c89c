/// AWS's UriEncode: every byte except `A-Z a-z 0-9 - . _ ~` becomes `%XY` with upper-case digits.
public enum PercentEncoding {
  /// Encodes a key: `/` is kept, and nothing is normalised, so `/a`, `a//b` and `../x` stay as they are.
  public static func path(_ text: String) -> String { encode(text, keepingSlash: true) }

  /// Encodes names and values of the query, and a bucket in a path.
  public static func query(_ text: String) -> String { encode(text, keepingSlash: false) }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func encode(_ text: String, keepingSlash: Bool) -> String {
    func stays(_ byte: UInt8) -> Bool { isUnreserved(byte) || (keepingSlash && byte == UInt8(ascii: "/")) }
    // Most names, keys and ids need no escape.
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

  private static func isUnreserved(_ byte: UInt8) -> Bool { ASCII.isAlphanumeric(byte) || "-._~".utf8.contains(byte) }

  /// `+` becomes a space, as `encoding-type=url` writes it. Text that would not be UTF-8 is returned unchanged.
  public static func decoded(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return text }
    return String(validating: bytes(of: text.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }), as: UTF8.self) ?? text
  }

  /// Decodes a path, in which a plus sign is one; text that is not UTF-8 afterwards stays encoded.
  public static func decodedPath(_ text: String) -> String {
    String(validating: bytes(of: Array(text.utf8)), as: UTF8.self) ?? text
  }

  /// An invalid escape is kept as it is.
  public static func bytes(of text: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var i = 0
    while i < text.count {
      if text[i] == UInt8(ascii: "%"), i + 2 < text.count, let high = Hex.value(of: text[i + 1]),
        let low = Hex.value(of: text[i + 2])
      {
        bytes.append(high << 4 | low)
        i += 3
      } else {
        bytes.append(text[i])
        i += 1
      }
    }
    return bytes
  }

  /// Each `%` begins two hex digits.
  @inlinable public static func isWhole(_ text: some Collection<UInt8>) -> Bool {
    text.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false).dropFirst().allSatisfy { rest in
      rest.prefix(2).lazy.filter { Hex.value(of: $0) != nil }.count == 2
    }
  }
}
