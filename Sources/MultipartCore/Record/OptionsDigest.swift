import MultipartBasics

/// A SHA-256 of everything that an upload is created with and that a later run cannot change, such as its headers and
/// its encryption. Each value is added with its name and length, so that different lists never give the same
/// input; names are sorted, and values of one name keep their order.
///
/// The digest is written into the record, so secrets must not be added, not even hashed. For a customer key add only
/// its presence.
struct OptionsDigest: Sendable {
  private var entries: [(name: [UInt8], value: [UInt8]?)] = []

  init() {}

  /// Adds a value; nil differs from the empty string.
  mutating func add(_ name: String, _ value: String?) {
    entries.append((Array(name.utf8), value.map { Array($0.utf8) }))
  }

  func hex() throws(Failure) -> String {
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
