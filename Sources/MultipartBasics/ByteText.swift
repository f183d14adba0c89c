/// Searches and cuts text from outside by its bytes. Swift's own `hasPrefix`, `contains`, `split` and `prefix(while:)`
/// work on characters: a `=` followed by an accent, or preceded by a U+0600, is one character that does not equal `=`,
/// and a CRLF is one that does not equal a line feed.
extension StringProtocol where SubSequence == Substring {
  /// Whether its first bytes are these.
  @inlinable public func begins(with start: String) -> Bool { utf8.starts(with: start.utf8) }

  /// Whether its last bytes are these.
  @inlinable public func ends(with end: String) -> Bool { utf8.suffix(end.utf8.count).elementsEqual(end.utf8) }

  /// Whether it contains these bytes.
  @inlinable public func holds(_ text: String) -> Bool { utf8.firstRange(of: text.utf8) != nil }

  /// The text after this prefix; nil if the text does not begin with it.
  @inlinable public func rest(after start: String) -> Substring? {
    begins(with: start) ? self[utf8.index(startIndex, offsetBy: start.utf8.count)...] : nil
  }

  /// The text before and after the first `mark`; nil if there is none.
  @inlinable public func cut(at mark: String) -> (before: Substring, after: Substring)? {
    guard let found = utf8.firstRange(of: mark.utf8) else { return nil }
    return (self[..<found.lowerBound], self[found.upperBound...])
  }

  /// The text before the first of these ASCII characters, or all of it.
  @inlinable public func upTo(_ marks: String) -> Substring {
    self[..<(utf8.firstIndex { marks.utf8.contains($0) } ?? endIndex)]
  }

  /// The pieces between these ASCII characters, including empty ones.
  @inlinable public func pieces(at marks: String, maxSplits: Int = .max) -> [Substring] {
    utf8.split(maxSplits: maxSplits, omittingEmptySubsequences: false) { marks.utf8.contains($0) }.map {
      self[$0.startIndex..<$0.endIndex]
    }
  }

  /// The pieces between these ASCII characters, without empty ones.
  @inlinable public func words(between marks: String) -> [Substring] { pieces(at: marks).filter { !$0.isEmpty } }
}

/// Letters, digits and white space as protocols define them: ASCII only.
public enum ASCII {
  /// Whether the byte is one of `0` to `9`.
  @inlinable public static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Whether the byte is one of `a` to `z` or `A` to `Z`.
  @inlinable public static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  /// Whether the byte is a letter or a digit.
  @inlinable public static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isLetter(byte) }

  /// Whether the byte is printable and not a space.
  @inlinable public static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

  /// The text without white space at both ends.
  public static func trimmed(_ text: String) -> String { String(Substring(trimmed(text.utf8))) }

  /// The bytes without white space at both ends.
  public static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
    let isWhite: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    var rest = bytes.drop(while: isWhite)
    while let last = rest.last, isWhite(last) { rest.removeLast() }
    return rest
  }
}
