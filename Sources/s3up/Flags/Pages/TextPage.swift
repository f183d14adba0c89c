import MultipartBasics
import MultipartCore

/// Renders a page for a terminal.
enum TextPage {
  static func draw(_ page: Page, width: Int, paint: Paint = .off) -> String {
    let width = max(20, min(width, 300))
    let longest = page.blocks.map { if case .item(let term, _) = $0 { TextWidth.columns(term) } else { 0 } }.max() ?? 0
    let column = width >= 72 ? min(28, longest + 4) : 6
    var out: [String] = []
    var before: Page.Block?
    for block in page.blocks {
      if needsGap(before, block) { out.append("") }
      out += lines(of: block, width: width, column: column, paint)
      before = block
    }
    return out.joined(separator: "\n") + "\n"
  }

  private static func needsGap(_ before: Page.Block?, _ block: Page.Block) -> Bool {
    switch (before, block) {
    case (nil, _), (.heading, _): false
    case (_, .heading), (_, .subheading), (.subheading, .example), (.paragraph, _): true
    default: false
    }
  }

  private static func lines(of block: Page.Block, width: Int, column: Int, _ paint: Paint) -> [String] {
    switch block {
    case .heading(let text): wrap(text + ":", width: width, indent: 0).map(paint.heading)
    case .subheading(let text): wrap(text, width: width, indent: 0)
    case .paragraph(let text): wrap(text, width: width, indent: 2)
    case .example(let what, let line):
      // Each line of the comment is one, so that the example can be copied.
      wrap(what, width: width - 4, indent: 0).map { "  # " + $0 } + command(line, width: width)
    case .synopsis(let text): wrap(text, width: width, indent: 2, hang: 6)
    case .item(let term, let text): item(term, text, width: width, column: column)
    }
  }

  /// A term and its text, in two columns if they fit, else the text below its term.
  private static func item(_ term: String, _ text: String, width: Int, column: Int) -> [String] {
    let termWidth = TextWidth.columns(term)
    var body = wrap(text, width: width, indent: column)
    if termWidth + 4 <= column, let first = body.first {
      body[0] = "  " + term + String(repeating: " ", count: column - 2 - termWidth) + first.dropFirst(column)
      return body
    }
    return wrap(term, width: width, indent: 2, hang: 4) + body
  }

  /// Wraps a command with backslashes at the line ends, so that it can be copied. Inside quotes the shell would take a
  /// backslash literally, so quoted text is never split.
  private static func command(_ line: String, width: Int) -> [String] {
    guard TextWidth.columns(line) + 2 > width else { return ["  " + line] }
    var words: [String] = []
    var quote: UInt8?
    for piece in line.pieces(at: " ") {
      if quote == nil { words.append(String(piece)) } else { words[words.count - 1] += " " + piece }
      for byte in piece.utf8 where byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
        if quote == nil { quote = byte } else if quote == byte { quote = nil }
      }
    }
    let lines = wrap(words, width: width - 2, indent: 2, hang: 4)
    return lines.dropLast().map { $0 + " \\" } + lines.suffix(1)
  }

  static func wrap(_ text: String, width: Int, indent: Int, hang: Int? = nil) -> [String] {
    wrap(text.words(between: " ").map(String.init), width: width, indent: indent, hang: hang)
  }

  /// Wraps at spaces; a word longer than the line gets its own line.
  private static func wrap(_ words: [String], width: Int, indent: Int, hang: Int?) -> [String] {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var used = indent
    var isEmpty = true
    for word in words {
      let columns = TextWidth.columns(word)
      if !isEmpty, used + 1 + columns > width {
        lines.append(line)
        line = String(repeating: " ", count: hang ?? indent)
        used = hang ?? indent
        isEmpty = true
      }
      if !isEmpty {
        line += " "
        used += 1
      }
      line += word
      used += columns
      isEmpty = false
    }
    return lines + [line]
  }
}
