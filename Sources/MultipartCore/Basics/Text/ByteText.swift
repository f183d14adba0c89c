/// Text from outside is searched and cut with these, by its bytes. Swift's own `hasPrefix`, `contains`, `split` and
/// `prefix(while:)` go by characters: a `=` that an accent follows, or that a U+0600 precedes, is one character, which equals no
/// `=`, and a CRLF is one that equals no line feed.
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
