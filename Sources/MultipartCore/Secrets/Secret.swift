/// Text that no log, error, dump or interpolation shows: only `reveal()` gives it.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  /// Keeps the text.
  public init(_ text: String) {
    self.text = text
  }

  /// The secret itself, for the signer and for what is sent to the store.
  package func reveal() -> String { text }

  /// Nothing of it.
  public var description: String { "(secret)" }
  /// Nothing of it.
  public var debugDescription: String { "(secret)" }
  /// Nothing of it.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// By bytes: two spellings of the same Unicode text are two secrets.
  public static func == (a: Secret, b: Secret) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8)
  }

  /// Of the same bytes.
  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
