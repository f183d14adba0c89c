/// Text of servers and file names made harmless for a terminal and for one line.
package enum SafeText {
  /// Line breaks and tabs, with the spaces beside them, become one space; what is harmful becomes U+FFFD. Other spaces
  /// stay as they are, since the text may be a name. What is longer than `limit` characters is cut.
  package static func oneLine(_ text: String, limit: Int = 400) -> String {
    var out: [Unicode.Scalar] = []
    var isAfterBreak = false
    for scalar in text.unicodeScalars {
      guard out.count < limit else {
        out.append("…")
        break
      }
      if isBreak(scalar) {
        while out.last == " " { out.removeLast() }
        out.append(" ")
        isAfterBreak = true
      } else if scalar != " " || !isAfterBreak {
        out.append(isHarmful(scalar) ? "\u{fffd}" : scalar)
        isAfterBreak = false
      }
    }
    return String(String.UnicodeScalarView(out))
  }

  /// The same for a text of several lines, which stay lines.
  package static func lines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { oneLine(String($0), limit: 4000) }
      .joined(separator: "\n")
  }

  private static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0a, 0x0d, 0x2028...0x2029: true
    default: false
    }
  }

  /// Control characters, those that turn the direction of writing, and those that nobody sees. The two joiners, U+200C
  /// and U+200D, are none of them: words of Persian and pictures of several people are written with them.
  package static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200b, 0x200e...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff,
      0xfff9...0xfffb, 0xe0000...0xe007f:
      true
    default: false
    }
  }
}
