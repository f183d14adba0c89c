/// One SHA-256 over all that an upload was created with and a later run cannot change: headers of the object,
/// encryption, conditions. Each value goes in by name and with lengths, so that no two lists look the same; names are
/// put in order, values of one name stay as they came.
///
/// It is written into the record: a secret must not go in, not even hashed. Of a customer's key only say that there was
/// one.
package struct OptionsDigest: Sendable {
  private var entries: [(name: [UInt8], value: [UInt8]?)] = []

  package init() {}

  /// Nil is another value than the empty string.
  package mutating func add(_ name: String, _ value: String?) {
    entries.append((Array(name.utf8), value.map { Array($0.utf8) }))
  }

  package func hex() throws(Failure) -> String {
    let ordered = entries.enumerated().sorted { a, b in
      if a.element.name == b.element.name { return a.offset < b.offset }
      return a.element.name.lexicographicallyPrecedes(b.element.name)
    }
    var bytes: [UInt8] = []
    for (_, entry) in ordered {
      Self.append(entry.name, to: &bytes)
      bytes.append(entry.value == nil ? 0 : 1)
      Self.append(entry.value ?? [], to: &bytes)
    }
    return Hex.encode(try Digest.sha256(bytes))
  }

  private static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
    withUnsafeBytes(of: UInt64(text.count).bigEndian) { bytes += $0 }
    bytes += text
  }
}
