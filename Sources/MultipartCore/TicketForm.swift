import MultipartBasics

/// The form in which a ticket is written. Every form contains the ticket, as JSON on one line.
public enum TicketForm: String, Sendable, CaseIterable {
  /// The ticket alone.
  case json
  /// A script that uploads the file.
  case sh
  /// A page that uploads the file in a browser.
  case html

  /// The form by the first bytes: a script begins with `#!`, a page with a tag.
  init(of text: some Collection<UInt8>) {
    if text.starts(with: "#!".utf8) {
      self = .sh
    } else {
      self = text.first { $0 > 0x20 } == UInt8(ascii: "<") ? .html : .json
    }
  }

  /// The ticket in a text of this form. A quote in a JSON string is escaped, so that the mark cannot occur in one.
  func document(in text: [UInt8]) -> JSON? {
    guard self != .json else { return JSON.parse(text) }
    guard let start = text.firstRange(of: Array(#"{"s3up_ticket":"#.utf8))?.lowerBound else { return nil }
    return JSON.parse(beginningOf: Array(text[start...]))
  }
}
