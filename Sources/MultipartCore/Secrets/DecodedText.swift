import MultipartBasics

/// An escape sequence for one byte or character: `%2F`, `&#x2F;`, `&amp;`, `\u002F`, `\x2F`, `\/`.
struct Escape {
  let length: Int
  /// The bytes; UTF-8 for a character outside of ASCII.
  let bytes: [UInt8]

  static func begins(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "%") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "\\")
  }

  private static let named: [(name: [UInt8], byte: UInt8)] = [
    ("amp;", "&"), ("lt;", "<"), ("gt;", ">"), ("quot;", "\""), ("apos;", "'"),
  ].map { (Array($0.0.utf8), UInt8(ascii: $0.1)) }

  /// Parses the escape sequence at the beginning of the text; nil if there is none.
  init?(_ text: ArraySlice<UInt8>) {
    let rest = text.dropFirst()
    switch text.first {
    case UInt8(ascii: "%"):
      guard let (value, _) = Self.number(rest, digits: 2...2) else { return nil }
      self.init(length: 3, bytes: [UInt8(truncatingIfNeeded: value)])
    case UInt8(ascii: "&"): self.init(entity: rest)
    case UInt8(ascii: "\\"): self.init(backslash: rest)
    default: return nil
    }
  }

  private init(length: Int, bytes: [UInt8]) {
    self.length = length
    self.bytes = bytes
  }

  private init?(length: Int, scalar: UInt32) {
    guard let scalar = Unicode.Scalar(scalar) else { return nil }
    self.init(length: length, bytes: Array(String(Character(scalar)).utf8))
  }

  private init?(entity rest: ArraySlice<UInt8>) {
    if let known = Self.named.first(where: { rest.starts(with: $0.name) }) {
      self.init(length: 1 + known.name.count, bytes: [known.byte])
      return
    }
    guard rest.first == UInt8(ascii: "#") else { return nil }
    let isHex = rest.dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
    let digits = rest.dropFirst(isHex ? 2 : 1)
    guard let (value, count) = Self.number(digits, digits: 1...8, base: isHex ? 16 : 10),
      digits.dropFirst(count).first == UInt8(ascii: ";")
    else { return nil }
    self.init(length: (isHex ? 4 : 3) + count, scalar: value)
  }

  private init?(backslash rest: ArraySlice<UInt8>) {
    guard let letter = rest.first else { return nil }
    switch letter {
    case UInt8(ascii: "u"):
      guard let (value, _) = Self.number(rest.dropFirst(), digits: 4...4) else { return nil }
      self.init(length: 6, scalar: value)
    case UInt8(ascii: "x"):
      guard let (value, _) = Self.number(rest.dropFirst(), digits: 2...2) else { return nil }
      self.init(length: 4, bytes: [UInt8(truncatingIfNeeded: value)])
    // White space, which is not part of any piece of a secret.
    case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): self.init(length: 2, bytes: [0x20])
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "'"):
      self.init(length: 2, bytes: [letter])
    default: return nil
    }
  }

  private static func number(
    _ text: ArraySlice<UInt8>, digits: ClosedRange<Int>, base: UInt32 = 16
  ) -> (value: UInt32, count: Int)? {
    var (value, count): (UInt32, Int) = (0, 0)
    for byte in text.prefix(digits.upperBound) {
      guard let digit = Hex.value(of: byte), digit < base else { break }
      value = value &* base &+ UInt32(digit)
      count += 1
    }
    return count >= digits.lowerBound ? (value, count) : nil
  }
}

/// A text without its escapes; each byte knows its place in the original text.
struct DecodedText {
  private(set) var bytes: [UInt8] = []
  /// Where each byte begins and ends in the original text.
  private(set) var starts: [Int] = []
  private(set) var ends: [Int] = []

  private init() {}

  init(_ text: [UInt8]) {
    bytes = text
    starts = Array(text.indices)
    ends = text.indices.map { $0 + 1 }
  }

  /// The text with one layer of escapes removed; nil if it has none.
  func decoded() -> DecodedText? {
    var out = DecodedText()
    var found = false
    var index = 0
    while index < bytes.count {
      if Escape.begins(bytes[index]), let escape = Escape(bytes[index...]) {
        found = true
        for byte in escape.bytes { out.append(byte, starts[index], ends[index + escape.length - 1]) }
        index += escape.length
      } else {
        out.append(bytes[index], starts[index], ends[index])
        index += 1
      }
    }
    return found ? out : nil
  }

  private mutating func append(_ byte: UInt8, _ start: Int, _ end: Int) {
    bytes.append(byte)
    starts.append(start)
    ends.append(end)
  }
}
