import MultipartBasics

/// HTTP headers in the order they are sent. Names are compared without case; the first header of a name is the one read.
struct HeaderList: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  private(set) var fields: [NamedValue] = []

  init() {}

  init(fields: [NamedValue]) { self.fields = fields }

  init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { add(name, value) }
  }

  subscript(name: String) -> String? {
    fields.first { Self.same($0.name, name) }?.value
  }

  /// The length of the body in bytes, of a HEAD that of the body of a GET; nil if it is not known.
  var contentLength: Int64? { self["Content-Length"].flatMap { Int64(ASCII.trimmed($0), in: 0 ... .max) } }

  /// The value, if the header has only one: of two that contradict each other, neither is evidence.
  func sole(_ name: String) -> String? {
    let values = fields.filter { Self.same($0.name, name) }
    return values.allSatisfy { $0.value.utf8.elementsEqual(values[0].value.utf8) } ? values.first?.value : nil
  }

  mutating func add(_ name: String, _ value: String) {
    fields.append(NamedValue(name, value))
  }

  /// Adds the header if there is a value.
  mutating func add(_ name: String, _ value: String?) {
    if let value { add(name, value) }
  }

  mutating func set(_ name: String, _ value: String) {
    remove(name)
    add(name, value)
  }

  mutating func remove(_ name: String) {
    fields.removeAll { Self.same($0.name, name) }
  }

  mutating func append(contentsOf other: HeaderList) {
    fields.append(contentsOf: other.fields)
  }

  /// Compares ASCII letters without case, byte by byte: header names are tokens, never Unicode.
  private static func same(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count && a.utf8.elementsEqual(b.utf8) { fold($0) == fold($1) }
  }

  private static func fold(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
