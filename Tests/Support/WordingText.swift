@testable package import MultipartCore

/// Searches a text in the library's own words.
extension Wording {
  package var isEmpty: Bool { pieces.isEmpty }

  package func contains(_ text: String) -> Bool { description.contains(text) }
  package func hasPrefix(_ text: String) -> Bool { description.hasPrefix(text) }
  package func hasSuffix(_ text: String) -> Bool { description.hasSuffix(text) }
}
