/// Text that no log, error, dump or interpolation shows: only `reveal()` gives it.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  package init(_ text: String) {
    self.text = text
  }

  /// The secret itself, for the signer and for what is sent to the store.
  package func reveal() -> String { text }

  package var description: String { "(secret)" }
  package var debugDescription: String { "(secret)" }
  package var customMirror: Mirror { Mirror(self, children: []) }

  /// By bytes: two spellings of the same Unicode text are two secrets.
  package static func == (a: Secret, b: Secret) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
