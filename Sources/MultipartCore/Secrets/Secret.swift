/// Text that no log, error, dump or interpolation shows, and that only requests contain.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  /// Wraps the text.
  public init(_ text: String) {
    self.text = text
  }

  /// The secret itself, for the signer and for requests.
  func reveal() -> String { text }

  /// A placeholder.
  public var description: String { "(secret)" }
  /// A placeholder.
  public var debugDescription: String { "(secret)" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Compares bytes: two spellings of the same Unicode text are two secrets.
  public static func == (a: Secret, b: Secret) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
