/// Renders a page for a terminal.
enum TextPage {
  /// Lines longer than this are hard to read, however wide the terminal is.
  private static let widest = 100

  static func draw(_ page: Page, width: Int, paint: Paint = .off) -> String {
    let width = max(20, min(width, widest))
    var out: [String] = []
    var before: Page.Block?
    for block in page.blocks {
      if needsGap(before, block) { out.append("") }
      out += lines(of: block, width: width, paint)
      before = block
    }
    return out.joined(separator: "\n") + "\n"
  }

  private static func needsGap(_ before: Page.Block?, _ block: Page.Block) -> Bool {
    switch (before, block) {
    case (nil, _), (.heading, _): false
    case (_, .heading), (_, .subheading), (.paragraph, _): true
    default: false
    }
  }

  private static func lines(of block: Page.Block, width: Int, _ paint: Paint) -> [String] {
    switch block {
    case .heading(let text): [paint.heading(text + ":")]
    case .subheading(let text): wrap(text, width: width, indent: 0)
    case .paragraph(let text): wrap(text, width: width, indent: 2)
    // Commands are not wrapped, so that they can be copied: the terminal's own wrapping keeps them one line.
    case .example(let what, let line): wrap("# " + what, width: width, indent: 2) + ["  " + line]
    case .synopsis(let text): wrap(text, width: width, indent: 2, hang: 6)
    case .item(let term, let text): item(term, text, width: width)
    }
  }

  /// In two columns if they fit, else the text below its term.
  private static func item(_ term: String, _ text: String, width: Int) -> [String] {
    let column = width >= 72 ? 28 : 6
    let termWidth = TextWidth.columns(term)
    var body = wrap(text, width: width, indent: column)
    if termWidth + 4 <= column, let first = body.first {
      body[0] = "  " + term + String(repeating: " ", count: column - 2 - termWidth) + first.dropFirst(column)
      return body
    }
    return ["  " + term] + body
  }

  /// Wraps at spaces; a word longer than the line gets its own line.
  static func wrap(_ text: String, width: Int, indent: Int, hang: Int? = nil) -> [String] {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var used = indent
    var isEmpty = true
    for word in text.split(separator: " ") {
      let columns = TextWidth.columns(String(word))
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
