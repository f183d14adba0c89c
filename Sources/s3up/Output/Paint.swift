import MultipartBasics
import MultipartCore

/// Colors, if they are wanted. They carry no information that the words do not.
struct Paint: Sendable {
  let isOn: Bool

  static let off = Paint(isOn: false)

  func heading(_ text: String) -> String { wrap("1", text) }
  func good(_ text: String) -> String { wrap("32", text) }
  func warning(_ text: String) -> String { wrap("33", text) }
  func bad(_ text: String) -> String { wrap("1;31", text) }

  /// The two lines of an error, with a highlighted prefix.
  func error(_ lines: [String]) -> [String] {
    let prefix = "s3up:"
    return lines.map { $0.begins(with: prefix) ? wrap("1;31", prefix) + $0.dropFirst(prefix.count) : $0 }
  }

  /// The line of a result, with a highlighted verb.
  func result(_ line: String) -> String {
    guard isOn, let (verb, rest) = line.cut(at: " ") else { return line }
    return good(String(verb)) + " " + rest
  }

  /// Wraps the text in an SGR sequence of ECMA-48.
  private func wrap(_ code: String, _ text: String) -> String { isOn ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text }
}
