import MultipartBasics

/// Builds headers from text that users typed. Refuses a value with a line break, which would start another header, and
/// characters that HTTP cannot carry.
struct S3HeaderBuilder {
  private(set) var list = HeaderList()

  mutating func add(_ name: String, _ value: String?) throws(Failure) {
    guard let value else { return }
    try Self.checkName(name)
    try Self.checkValue(value, of: name)
    list.add(name, value)
  }

  mutating func set(_ name: String, _ value: String) throws(Failure) {
    list.remove(name)
    try add(name, value)
  }

  static func checkName(_ name: String) throws(Failure) {
    guard HeaderText.isName(name), name.utf8.count <= 256 else {
      throw Failure(
        .usage, "\"\(SafeText.oneLine(name, limit: 80))\" cannot be the name of a header",
        remedy: "names of headers, metadata included, are letters, digits and -_.")
    }
  }

  /// An ETag from a store, if a header can carry it back. One that none can is only compared.
  static func carried(_ etag: String?) -> String? {
    etag.flatMap { (try? checkValue($0, of: HeaderName.ifMatch)) == nil ? nil : $0 }
  }

  static func checkValue(_ value: String, of name: String) throws(Failure) {
    // The message does not repeat the value, which may be a key. Tabs are refused too: they are signed as one space, but
    // sent as a tab.
    guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Failure(
        .usage, "the value of \(name) contains a tab, a line break or another control character",
        remedy: "a header is one line of text, with spaces between its words")
    }
    guard value.utf8.allSatisfy({ $0 < 0x80 }) else {
      throw Failure(
        .usage, "the value of \(name) contains characters that are not ASCII",
        remedy:
          "stores interpret such bytes differently; write them percent-encoded, for a file name as filename*=UTF-8''…"
      )
    }
  }
}
