/// How many columns a text takes on a terminal. Each scalar is counted, as most terminals do: an emoji that a terminal
/// joins is counted as its pieces, so a line may be too short but never too long.
enum TextWidth {
  static func columns(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + columns($1) }
  }

  static func columns(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x7f { return scalar.value < 0x20 ? 0 : 1 }
    // The variation selector that turns the character before it into an emoji of two columns.
    if scalar.value == 0xfe0f { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// East Asian Width W and F, from Unicode's EastAsianWidth.txt, without unassigned gaps.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
    0xa000...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f,
    0xff00...0xff60, 0xffe0...0xffe6, 0x16fe0...0x18cff, 0x1aff0...0x1b2ff, 0x1d300...0x1d37f, 0x1f200...0x1f2ff,
    0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f780...0x1f7ff, 0x1f900...0x1faff, 0x20000...0x3fffd,
  ]

  /// Cuts out the middle, so that the beginning and the end of a name are visible.
  static func cut(_ text: String, to width: Int) -> String {
    guard columns(text) > width else { return text }
    guard width > 1 else { return width == 1 ? "…" : "" }
    let tail = (width - 1) / 2
    let end = String(take(text.reversed(), width: tail).reversed())
    return String(take(Array(text), width: width - 1 - tail)) + "…" + end
  }

  /// Cuts off the beginning: names in one folder differ at their ends.
  static func end(_ text: String, to width: Int) -> String {
    guard columns(text) > width else { return text }
    guard width > 1 else { return width == 1 ? "…" : "" }
    return "…" + String(take(text.reversed(), width: width - 1).reversed())
  }

  private static func take(_ characters: [Character], width: Int) -> [Character] {
    var room = width
    return Array(
      characters.prefix { character in
        room -= columns(String(character))
        return room >= 0
      })
  }
}
