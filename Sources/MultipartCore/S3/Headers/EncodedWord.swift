import MultipartBasics

/// Encodes metadata outside of ASCII. S3 decodes RFC 2047 words when it stores a value, and encodes a value that is not
/// ASCII when it returns it; it would take raw bytes for Latin-1. Tabs are encoded too: in a header a tab is white
/// space, which some stores sign as one space and others as it is.
enum EncodedWord {
  static func encode(_ value: String) -> String {
    value.utf8.allSatisfy { $0 < 0x80 && $0 != 0x09 } ? value : "=?UTF-8?B?\(Base64.encode(value.utf8))?="
  }

  /// Decodes a value that consists of UTF-8 words; any other value is returned unchanged.
  static func decode(_ value: String) -> String {
    guard value.begins(with: "=?") else { return value }
    var bytes: [UInt8] = []
    // White space between two words is not part of the text.
    for word in value.words(between: " \t") {
      let fields = word.pieces(at: "?")
      guard fields.count == 5, fields[0] == "=", fields[4] == "=", fields[1].lowercased() == "utf-8" else {
        return value
      }
      switch fields[2] {
      case "B", "b":
        guard let part = Base64.decode(fields[3]) else { return value }
        bytes += part
      case "Q", "q":
        guard let part = quoted(fields[3]) else { return value }
        bytes += part
      default: return value
      }
    }
    return String(validating: bytes, as: UTF8.self) ?? value
  }

  private static func quoted(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "_"): bytes.append(0x20)
      case UInt8(ascii: "="):
        guard let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value)
        else { return nil }
        bytes.append(high << 4 | low)
      default: bytes.append(byte)
      }
    }
    return bytes
  }
}
