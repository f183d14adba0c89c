/// Text from outside is searched and cut with these, by its bytes. Swift's own `hasPrefix`, `contains`, `split` and
/// `prefix(while:)` go by characters: a `=` that an accent follows, or that a U+0600 precedes, is one character, which
/// equals no `=`, and a CRLF is one that equals no line feed.
extension StringProtocol where SubSequence == Substring {
  package func begins(with start: String) -> Bool { utf8.starts(with: start.utf8) }

  package func ends(with end: String) -> Bool { utf8.suffix(end.utf8.count).elementsEqual(end.utf8) }

  package func holds(_ text: String) -> Bool { utf8.firstRange(of: text.utf8) != nil }

  /// What follows the text that it begins with; nil if it does not begin so.
  package func rest(after start: String) -> Substring? {
    begins(with: start) ? self[utf8.index(startIndex, offsetBy: start.utf8.count)...] : nil
  }

  /// What is before the first `mark`, and what is after it; nil if there is none.
  package func cut(at mark: String) -> (before: Substring, after: Substring)? {
    guard let found = utf8.firstRange(of: mark.utf8) else { return nil }
    return (self[..<found.lowerBound], self[found.upperBound...])
  }

  /// What is before the first of these ASCII characters, or all.
  package func upTo(_ marks: String) -> Substring {
    self[..<(utf8.firstIndex { marks.utf8.contains($0) } ?? endIndex)]
  }

  /// What is between these ASCII characters, with what is empty.
  package func pieces(at marks: String, maxSplits: Int = .max) -> [Substring] {
    utf8.split(maxSplits: maxSplits, omittingEmptySubsequences: false) { marks.utf8.contains($0) }.map {
      self[$0.startIndex..<$0.endIndex]
    }
  }

  /// What is between these ASCII characters, without what is empty.
  package func words(between marks: String) -> [Substring] { pieces(at: marks).filter { !$0.isEmpty } }
}

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
