import MultipartBasics
import MultipartCore

/// Renders a page as the manual page s3up.1, in roff's man macros.
enum ManPage {
  static func draw(_ page: Page, version: String) -> String {
    var out = [".TH S3UP 1 \"\" \"s3up \(escape(version))\" \"User Commands\"", ".nh", ".ad l"]
    for block in page.blocks { out += lines(of: block) }
    return out.joined(separator: "\n") + "\n"
  }

  private static func lines(of block: Page.Block) -> [String] {
    switch block {
    case .heading(let text): [".SH " + quoted(text.uppercased())]
    case .subheading(let text): [".SS " + quoted(text)]
    case .paragraph(let text): [".PP", line(text)]
    case .example(let what, let text): [".PP", line(what) + ":", ".PP", ".RS 4", ".nf", line(text), ".fi", ".RE"]
    case .synopsis(let text): [".PP", "\\fB" + escape(text) + "\\fR"]
    case .item(let term, let text): [".TP", "\\fB" + escape(term) + "\\fR", line(text)]
    }
  }

  /// Escapes a line that would be read as a request.
  private static func line(_ text: String) -> String {
    let escaped = escape(text)
    return escaped.begins(with: ".") || escaped.begins(with: "'") ? "\\&" + escaped : escaped
  }

  private static func quoted(_ text: String) -> String { "\"" + escape(text) + "\"" }

  /// roff prints a plain hyphen as a typographic one, but commands need the minus. An unescaped quote becomes a curly one.
  static func escape(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": out += "\\e"
      case "-": out += "\\-"
      case "'": out += "\\(aq"
      case "\"": out += "\\(dq"
      case "`": out += "\\(ga"
      case "^": out += "\\(ha"
      case "~": out += "\\(ti"
      case "…": out += "..."
      default:
        if scalar.isASCII { out.unicodeScalars.append(scalar) } else { out += "\\[u\(hex(scalar.value))]" }
      }
    }
    return out
  }

  private static func hex(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }
}
