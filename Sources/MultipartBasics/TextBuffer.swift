/// Text that is written for every part of an upload, as bytes in one buffer: appending to a `String` takes some hundred
/// instructions each time.
public struct TextBuffer {
  /// The text so far, in UTF-8.
  public private(set) var bytes: [UInt8] = []

  /// An empty text that has room for so many bytes.
  public init(reserving capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  /// The text so far.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Adds a text.
  public mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  /// Adds texts one after the other.
  public mutating func add(_ texts: String...) {
    for text in texts { add(text) }
  }

  /// Adds bytes of UTF-8.
  public mutating func add(_ text: ArraySlice<UInt8>) {
    bytes.append(contentsOf: text)
  }

  /// Adds an ASCII character.
  public mutating func add(byte: Unicode.Scalar) {
    bytes.append(UInt8(ascii: byte))
  }

  /// Adds a number with leading zeros up to `width`; a longer number is written in full.
  public mutating func add(_ value: Int, width: Int) {
    var place = 1
    for _ in 1..<width { place *= 10 }
    guard (0..<place * 10).contains(value) else { return add(String(value)) }
    while place > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(value / place % 10))
      place /= 10
    }
  }
}
