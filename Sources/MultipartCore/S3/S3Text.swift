import COpenSSL

/// The small text forms that S3's headers, lists and errors use.
package enum S3Text {
  /// `EVP_EncodeBlock` writes four characters for three bytes, and a zero byte behind them.
  package static func base64(_ bytes: [UInt8]) -> String {
    guard !bytes.isEmpty else { return "" }
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
    return String(decoding: text.prefix(Int(max(0, count))), as: UTF8.self)
  }

  /// Nil when it is not base64 with its padding.
  package static func decodeBase64(_ text: some StringProtocol) -> [UInt8]? {
    let input = Array(text.utf8)
    guard !input.isEmpty else { return [] }
    guard input.count.isMultiple(of: 4), input.count < 1 << 20 else { return nil }
    let padding = input.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard input.dropLast(padding).allSatisfy({ isAlphanumeric($0) || $0 == 0x2B || $0 == 0x2F }) else { return nil }
    var bytes = [UInt8](repeating: 0, count: input.count / 4 * 3)
    let count = EVP_DecodeBlock(&bytes, input, Int32(input.count))
    guard count >= padding else { return nil }
    return Array(bytes.prefix(Int(count) - padding))
  }

  /// Everything but RFC 3986's unreserved characters as `%XX`.
  package static func percentEncoded(_ text: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isAlphanumeric(byte) || "-._~".utf8.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// `%XX` decoded, and `+` as a space: the form of `encoding-type=url`. Text that does not come out as UTF-8 is given
  /// back as it came.
  package static func percentDecoded(_ text: String) -> String {
    let input = Array(text.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(input.count)
    var i = 0
    while i < input.count {
      if input[i] == UInt8(ascii: "%"), i + 2 < input.count, let high = nibble(input[i + 1]),
        let low = nibble(input[i + 2])
      {
        bytes.append(high << 4 | low)
        i += 3
      } else {
        bytes.append(input[i] == UInt8(ascii: "+") ? 0x20 : input[i])
        i += 1
      }
    }
    return String(validating: bytes, as: UTF8.self) ?? text
  }

  package static func nibble(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  package static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  /// Without ASCII white space at both ends.
  package static func trimmed(_ text: String) -> String {
    let white: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let bytes = text.utf8
    guard let first = bytes.firstIndex(where: { !white($0) }), let last = bytes.lastIndex(where: { !white($0) }) else {
      return ""
    }
    return String(text[first...last])
  }
}
