/// The pieces by which a secret is found again in a text, whichever way it is written there.
///
/// A piece is eight bytes of what is left when all but letters, digits and bytes above ASCII are taken away, from the
/// secret as from the text: so it does not matter whether `+`, `/` and `=` were escaped, turned into `-`, `_` and
/// nothing, or into a space, nor where lines were broken. Eight hex digits are in every ETag by chance; where a piece
/// is of hex digits alone, fourteen are wanted, and their case does not matter.
struct SecretForms {
  /// Letters and digits of a piece.
  static let pieceLength = 8
  /// Digits of a piece that is of hex digits alone: seven bytes.
  static let hexLength = 14

  /// Eight bytes, the first of them highest.
  private(set) var words: [UInt64] = []
  /// Fourteen hex digits.
  private(set) var hexes: [UInt64] = []
  /// Secrets too odd for pieces (punctuation, a short number): searched for whole.
  private(set) var wholes: [[UInt8]] = []

  /// Shorter ones are not searched for: they would be found in texts that have nothing to do with them.
  static let shortest = 8

  mutating func add(_ secret: some Collection<UInt8>) {
    let bytes = Array(secret)
    guard bytes.count >= Self.shortest else { return }
    let known = words.count + hexes.count
    addText(bytes)
    if words.count + hexes.count == known { wholes.append(bytes) }
    addHex(of: bytes)
    // Base64 has three forms, by how many bytes stand before the secret in its group of three. The characters at both
    // ends that other bytes have a share in are left out.
    for before in 0..<3 {
      let text = Array(Base64.encode([UInt8](repeating: 0, count: before) + bytes).utf8)
      let sure = (before + bytes.count) * 8 / 6
      addText(text[(before * 8 + 5) / 6..<sure])
    }
  }

  /// The pieces of a text as it is.
  private mutating func addText(_ text: some Sequence<UInt8>) {
    var window = PieceWindow()
    for byte in text {
      window.take(byte)
      if let word = window.word { words.append(word) }
      if let hex = window.hex { hexes.append(hex) }
    }
  }

  /// The pieces of its bytes in hex.
  private mutating func addHex(of bytes: [UInt8]) {
    var value: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      value = (value << 8 | UInt64(byte)) & PieceWindow.hexMask
      if index + 1 >= Self.hexLength / 2, value != 0 { hexes.append(value) }
    }
  }
}

/// The last letters and digits of a text that is read byte by byte.
struct PieceWindow {
  static let hexMask: UInt64 = (1 << (4 * UInt64(SecretForms.hexLength))) - 1
  /// 0: not part of a piece; 1: part of one; 2 and more: a hex digit, two more than its value.
  static let kinds: [UInt8] = (UInt8.min...UInt8.max).map { byte in
    if let value = Hex.value(of: byte) { return value + 2 }
    return ASCII.isAlphanumeric(byte) || byte >= 0x80 ? 1 : 0
  }

  private var bytes: UInt64 = 0
  private var count = 0
  /// Hex digits in a row.
  private var digits: UInt64 = 0
  private var digitCount = 0
  /// The last byte was part of a piece.
  private(set) var isFresh = false

  mutating func take(_ byte: UInt8) { take(byte, kind: Self.kinds[Int(byte)]) }

  @inline(__always)
  mutating func take(_ byte: UInt8, kind: UInt8) {
    isFresh = kind != 0
    guard isFresh else { return }
    bytes = bytes << 8 | UInt64(byte)
    count += 1
    if kind > 1 {
      digits = (digits << 4 | UInt64(kind - 2)) & Self.hexMask
      digitCount += 1
    } else {
      digitCount = 0
    }
  }

  /// Eight bytes that are not all hex digits.
  var word: UInt64? {
    isFresh && count >= SecretForms.pieceLength && digitCount < SecretForms.pieceLength ? bytes : nil
  }

  var hex: UInt64? { isFresh && digitCount >= SecretForms.hexLength && digits != 0 ? digits : nil }
}
