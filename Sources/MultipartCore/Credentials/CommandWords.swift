/// Splits a command into words as AWS's tools do, without a shell: white space separates words, `'…'` is literal, in
/// `"…"` a backslash escapes `"` and `\`, and outside of quotes any character. Variables, `~` and patterns are not
/// expanded.
enum CommandWords {
  /// Nil if a quote is not closed or the last character is a backslash.
  static func split(_ text: String) -> [[UInt8]]? {
    var words: [[UInt8]] = []
    var word: [UInt8]?
    var quote: UInt8?
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch (quote, byte) {
      case (nil, 0x20), (nil, 0x09), (nil, 0x0A), (nil, 0x0D):
        if let done = word { words.append(done) }
        word = nil
      case (nil, UInt8(ascii: "'")), (nil, UInt8(ascii: "\"")):
        quote = byte
        word = word ?? []
      case (let open?, _) where open == byte: quote = nil
      case (nil, UInt8(ascii: "\\")):
        guard let next = rest.popFirst() else { return nil }
        word = (word ?? []) + [next]
      case (UInt8(ascii: "\""), UInt8(ascii: "\\")):
        guard let next = rest.popFirst() else { return nil }
        word = (word ?? []) + (next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") ? [next] : [byte, next])
      default: word = (word ?? []) + [byte]
      }
    }
    guard quote == nil else { return nil }
    if let done = word { words.append(done) }
    return words
  }
}
