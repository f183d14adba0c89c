/// Checks that a text is one JSON object whose values are all strings, as a KMS encryption context must be; the text
/// itself is passed on as it is.
struct FlatJSON {
  private var rest: Substring.UTF8View

  static func isObjectOfStrings(_ text: String) -> Bool {
    var reader = FlatJSON(rest: text[...].utf8)
    return reader.object()
  }

  private mutating func object() -> Bool {
    guard take("{") else { return false }
    if take("}") { return atEnd() }
    repeat {
      guard string(), take(":"), string() else { return false }
    } while take(",")
    return take("}") && atEnd()
  }

  private mutating func skipSpace() {
    while let byte = rest.first, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { rest = rest.dropFirst() }
  }

  private mutating func take(_ letter: Unicode.Scalar) -> Bool {
    skipSpace()
    guard rest.first == UInt8(ascii: letter) else { return false }
    rest = rest.dropFirst()
    return true
  }

  private mutating func atEnd() -> Bool {
    skipSpace()
    return rest.isEmpty
  }

  private mutating func string() -> Bool {
    guard take("\"") else { return false }
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return true }
      if byte < 0x20 { return false }
      guard byte == UInt8(ascii: "\\") else { continue }
      guard let escape = rest.popFirst() else { return false }
      if escape == UInt8(ascii: "u") {
        guard rest.count >= 4, rest.prefix(4).allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
          return false
        }
        rest = rest.dropFirst(4)
      } else if !"\"\\/bfnrt".utf8.contains(escape) {
        return false
      }
    }
    return false
  }
}
