/// Makes text of servers and file names harmless for a terminal, and for one line of output.
public enum SafeText {
  /// Line breaks and tabs, with the spaces beside them, become one space; harmful characters become U+FFFD. Other spaces
  /// are kept, because the text may be a name. Text longer than `limit` characters is cut.
  public static func oneLine(_ text: String, limit: Int = 400) -> String {
    if isPlain(text, limit) { return text }
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

  /// Does the same to a text of several lines, and keeps the line breaks.
  public static func lines(_ text: String) -> String {
    text.pieces(at: "\n").map { oneLine(String($0), limit: 4000) }.joined(separator: "\n")
  }

  /// Printable ASCII that is short enough stays as it is: nearly every text.
  private static func isPlain(_ text: String, _ limit: Int) -> Bool {
    text.utf8.count <= limit && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
  }

  private static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0a, 0x0d, 0x2028...0x2029: true
    default: false
    }
  }

  /// Control characters, those that change the direction of writing, and invisible ones. The two joiners, U+200C and
  /// U+200D, are allowed: Persian words and emoji of several people need them.
  public static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200b, 0x200e...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff,
      0xfff9...0xfffb, 0xe0000...0xe007f:
      true
    default: false
    }
  }
}
