/// Letters, digits and white space as protocols define them: ASCII only.
package enum ASCII {
  package static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  package static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  /// Printable and not a space.
  package static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

  /// Without white space at both ends.
  package static func trimmed(_ text: String) -> String {
    let white: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let bytes = text.utf8
    guard let first = bytes.firstIndex(where: { !white($0) }), let last = bytes.lastIndex(where: { !white($0) }) else {
      return ""
    }
    return String(text[first...last])
  }
}
