/// The rules for header text: a line break in a value could add another header.
public enum HeaderText {
  /// Whether the text is a token of RFC 9110.
  public static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-!#$%&'*+.^_`|~".utf8.contains($0) }
  }

  /// Whether the text has no control characters but tabs.
  public static func isValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
  }
}
