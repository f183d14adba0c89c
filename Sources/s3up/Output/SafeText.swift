/// Text of servers and file names made harmless for a terminal and for one line.
enum SafeText {
  /// Line breaks and tabs become spaces; other control characters, and those that turn the direction of writing,
  /// become U+FFFD. What is longer than `limit` characters is cut.
  static func oneLine(_ text: String, limit: Int = 400) -> String {
    var out = ""
    var count = 0
    var isSpace = false
    for scalar in text.unicodeScalars {
      guard count < limit else {
        out += "…"
        break
      }
      let breaks =
        scalar == "\n" || scalar == "\r" || scalar == "\t" || scalar.value == 0x2028 || scalar.value == 0x2029
      if breaks, isSpace { continue }
      out.unicodeScalars.append(breaks ? " " : isHarmful(scalar) ? "\u{fffd}" : scalar)
      isSpace = breaks
      count += 1
    }
    return out
  }

  /// The same for a text of several lines, which stay lines.
  static func lines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { oneLine(String($0), limit: 4000) }
      .joined(separator: "\n")
  }

  static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x200e...0x200f, 0x202a...0x202e, 0x2066...0x2069, 0x61c: true
    default: false
    }
  }
}
