/// A JSON value. Numbers keep their text, and objects the order of their names.
public enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSON])
  /// The members in order; for a name that occurs twice, the last value counts.
  case object([(String, JSON)])

  /// Compares the bytes of both.
  public static func == (a: JSON, b: JSON) -> Bool { a.encoded.utf8.elementsEqual(b.encoded.utf8) }

  /// Parses JSON (RFC 8259) in UTF-8; nil if it is invalid or exceeds the parser's limits of depth and number.
  public static func parse(_ bytes: [UInt8]) -> JSON? {
    var parser = JSONParser(bytes: bytes)
    return parser.document()
  }

  /// Parses the value at the beginning of the bytes, ignoring anything after it.
  public static func parse(beginningOf bytes: [UInt8]) -> JSON? {
    var parser = JSONParser(bytes: bytes)
    return parser.value()
  }

  /// The value of a member; nil if there is none, or this is not an object.
  public subscript(name: String) -> JSON? {
    if case .object(let fields) = self { return fields.last { $0.0.utf8.elementsEqual(name.utf8) }?.1 }
    return nil
  }

  /// The text; nil for any other value.
  public var text: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  /// The elements; nil for any other value.
  public var elements: [JSON]? {
    if case .array(let elements) = self { return elements }
    return nil
  }

  /// Whether it is an object of strings, as a KMS encryption context must be.
  public var isObjectOfStrings: Bool {
    if case .object(let fields) = self { return fields.allSatisfy { $0.1.text != nil } }
    return false
  }

  /// The value as a whole number. `1.0` and `1e3` do not count: no service writes integers like that.
  public var integer: Int64? {
    if case .number(let digits) = self { return Int64(digits) }
    return nil
  }

  /// The value as a whole number within bounds.
  @inlinable public func integer<Number: FixedWidthInteger>(in bounds: ClosedRange<Number>) -> Number? {
    if case .number(let digits) = self { return Number(digits, in: bounds) }
    return nil
  }

  /// The value as a number that may have a fraction: some services write times that way.
  public var double: Double? {
    if case .number(let digits) = self { return Double(digits) }
    return nil
  }
}

/// Shows only the shape, because values may be keys and tokens.
extension JSON: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The shape without values.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a text"
    case .array(let elements): "an array of \(elements.count)"
    case .object(let fields): "an object of \(fields.map(\.0).sorted().joined(separator: ", "))"
    }
  }

  /// The shape without values.
  public var debugDescription: String { description }
  /// A mirror without children, because they may be secrets.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A recursive descent parser for untrusted bytes.
struct JSONParser {
  static let deepest = 32
  /// The most values; a ticket of 10,000 parts has about a hundred thousand.
  private static let mostValues = 1 << 20
  private var values = 0
  private let bytes: [UInt8]
  private var at = 0
  private var depth = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func document() -> JSON? {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    guard let value = value() else { return nil }
    skipSpace()
    return at == bytes.count ? value : nil
  }

  private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    at += 1
    return true
  }

  mutating func value() -> JSON? {
    values += 1
    guard values <= Self.mostValues else { return nil }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return nested { $0.object() }
    case UInt8(ascii: "["): return nested { $0.array() }
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return word("true", .bool(true))
    case UInt8(ascii: "f"): return word("false", .bool(false))
    case UInt8(ascii: "n"): return word("null", .null)
    default: return number()
    }
  }

  private mutating func nested(_ read: (inout JSONParser) -> JSON?) -> JSON? {
    guard depth < Self.deepest else { return nil }
    depth += 1
    defer { depth -= 1 }
    at += 1
    return read(&self)
  }

  private mutating func object() -> JSON? {
    var fields: [(String, JSON)] = []
    skipSpace()
    if take(UInt8(ascii: "}")) { return .object(fields) }
    while true {
      skipSpace()
      guard let name = string() else { return nil }
      skipSpace()
      guard take(UInt8(ascii: ":")), let value = value() else { return nil }
      fields.append((name, value))
      skipSpace()
      if take(UInt8(ascii: "}")) { return .object(fields) }
      guard take(UInt8(ascii: ",")) else { return nil }
    }
  }

  private mutating func array() -> JSON? {
    var elements: [JSON] = []
    skipSpace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      guard let value = value() else { return nil }
      elements.append(value)
      skipSpace()
      if take(UInt8(ascii: "]")) { return .array(elements) }
      guard take(UInt8(ascii: ",")) else { return nil }
    }
  }

  private mutating func word(_ word: String, _ value: JSON) -> JSON? {
    guard bytes[at...].starts(with: word.utf8) else { return nil }
    at += word.utf8.count
    return value
  }

  private mutating func number() -> JSON? {
    let start = at
    _ = take(UInt8(ascii: "-"))
    guard let first = next, ASCII.isDigit(first) else { return nil }
    if first == UInt8(ascii: "0") { at += 1 } else { skipDigits() }
    if take(UInt8(ascii: ".")) {
      guard let digit = next, ASCII.isDigit(digit) else { return nil }
      skipDigits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      guard let digit = next, ASCII.isDigit(digit) else { return nil }
      skipDigits()
    }
    return .number(String(decoding: bytes[start..<at], as: UTF8.self))
  }

  private mutating func skipDigits() {
    while let byte = next, ASCII.isDigit(byte) { at += 1 }
  }

  private mutating func string() -> String? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    let plain = takePlain()
    if take(UInt8(ascii: "\"")) { return String(validating: plain, as: UTF8.self) }
    var text = Array(plain)
    while let byte = next {
      at += 1
      switch byte {
      case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        text += Array(String(Character(scalar)).utf8)
        text += takePlain()
      default: return nil
      }
    }
    return nil
  }

  /// Takes bytes up to the next quote, escape or control character.
  private mutating func takePlain() -> ArraySlice<UInt8> {
    let start = at
    at = bytes.withUnsafeBufferPointer { bytes in
      var end = start
      while end < bytes.count, case let byte = bytes[end], byte >= 0x20, byte != UInt8(ascii: "\""),
        byte != UInt8(ascii: "\\")
      {
        end += 1
      }
      return end
    }
    return bytes[start..<at]
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard let byte = next else { return nil }
    at += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      guard let unit = unit() else { return nil }
      guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) }
      guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = self.unit(), (0xDC00..<0xE000).contains(low)
      else { return nil }
      return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    default: return nil
    }
  }

  private mutating func unit() -> UInt32? {
    guard bytes.count - at >= 4 else { return nil }
    var value: UInt32 = 0
    for byte in bytes[at..<(at + 4)] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      value = value << 4 | UInt32(digit)
    }
    at += 4
    return value
  }
}
