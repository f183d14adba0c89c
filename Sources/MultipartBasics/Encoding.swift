/// Base64 in the standard alphabet with padding. Parsing is strict: no white space, no missing padding, and no set bits
/// that the padding hides, so that two texts are equal only if their bytes are.
public enum Base64 {
  @usableFromInline static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  @usableFromInline static let padding = UInt8(ascii: "=")

  /// The text for these bytes.
  @inlinable public static func encode(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: letters(of: bytes), as: UTF8.self)
  }

  /// The text as bytes.
  @inlinable public static func letters(of bytes: some Collection<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    alphabet.withUnsafeBufferPointer { alphabet in
      var bits = 0
      var held = 0
      for byte in bytes {
        bits = bits << 8 | Int(byte)
        held += 1
        guard held == 3 else { continue }
        text.append(alphabet[bits >> 18])
        text.append(alphabet[bits >> 12 & 63])
        text.append(alphabet[bits >> 6 & 63])
        text.append(alphabet[bits & 63])
        (bits, held) = (0, 0)
      }
      if held == 1 { text += [alphabet[bits >> 2], alphabet[bits << 4 & 63], padding, padding] }
      if held == 2 { text += [alphabet[bits >> 10], alphabet[bits >> 4 & 63], alphabet[bits << 2 & 63], padding] }
    }
    return text
  }

  /// The eight letters of six bytes.
  public static func word(of bytes: UInt64) -> UInt64 {
    stride(from: 42, through: 0, by: -6).reduce(0) { $0 << 8 | UInt64(alphabet[Int(bytes >> $1) & 63]) }
  }

  /// The bytes of a text; nil if it is not valid.
  @inlinable public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let text = Array(text.utf8)
    guard text.count % 4 == 0 else { return nil }
    let padded = text.reversed().prefix(2).prefix { $0 == padding }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0
    for (place, letter) in text.dropLast(padded).enumerated() {
      guard let value = value(of: letter) else { return nil }
      bits = bits << 6 | value
      if place % 4 == 3 {
        bytes += [UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8)]
        bytes.append(UInt8(truncatingIfNeeded: bits))
      }
    }
    switch padded {
    case 1:
      guard bits & 0b11 == 0 else { return nil }
      bytes += [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
    case 2:
      guard bits & 0b1111 == 0 else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
    default: break
    }
    return bytes
  }

  @usableFromInline static func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}

/// Hexadecimal: written in lower case, accepted in either case.
public enum Hex {
  /// The text for these bytes.
  @inlinable public static func encode(_ bytes: some Collection<UInt8>) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      var count = 0
      for byte in bytes {
        text[count] = digit(byte >> 4)
        text[count + 1] = digit(byte & 15)
        count += 2
      }
      return count
    }
  }

  /// The digit for a value from 0 to 15.
  @inlinable public static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// The bytes of a text; nil if it is not valid.
  public static func decode(_ text: String) -> [UInt8]? {
    let text = Array(text.utf8)
    guard text.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    for place in stride(from: 0, to: text.count, by: 2) {
      guard let high = value(of: text[place]), let low = value(of: text[place + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// The value of a digit; nil for any other byte.
  public static func value(of letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): letter - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): letter - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
