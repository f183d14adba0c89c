import MultipartBasics

/// The pieces by which a secret is found in a text, however it is encoded there.
///
/// A piece is eight bytes of the secret, of which only letters, digits and bytes above ASCII are counted; the text is
/// stripped in the same way. So it does not matter whether `+`, `/` and `=` were escaped, replaced by `-`, `_` and
/// nothing or by a space, or where lines were broken. Eight hex digits may occur in an ETag by chance; so a piece that
/// consists only of hex digits has fourteen, and their case does not matter.
struct SecretForms {
  /// Letters and digits per piece.
  static let pieceLength = 8
  /// Digits of a piece that consists only of hex digits: seven bytes.
  static let hexLength = 14

  /// Pieces of eight bytes each, big-endian.
  private(set) var words: [UInt64] = []
  /// Pieces of fourteen hex digits each.
  private(set) var hexes: [UInt64] = []
  /// Secrets that have no pieces (punctuation, a short number), which are searched for as a whole.
  private(set) var wholes: [[UInt8]] = []

  /// Shorter secrets are not searched for: they would occur in unrelated texts.
  static let shortest = 8

  init() {}

  /// The pieces of a SigV4 signature: an eighth of them, enough to notice a stretch of it that is as long as
  /// ``SecretSearch/Care/lengths`` requires. Nil if it is not such a signature.
  init?(stretchesOf signature: [UInt8]) {
    guard signature.count == 64, signature.allSatisfy({ Hex.value(of: $0) != nil }) else { return nil }
    func number(_ bytes: Range<Int>, width: UInt64) -> UInt64 {
      signature[bytes].reduce(0) { $0 << width | UInt64(width == 4 ? Hex.value(of: $1) ?? 0 : $1) }
    }
    hexes = stride(from: 0, through: 50, by: 8).map { number($0..<$0 + 14, width: 4) }
    // The signature written in hex once more: seven bytes are fourteen digits.
    hexes += stride(from: 0, through: 56, by: 4).map { number($0..<$0 + 7, width: 8) }
    // The signature in Base64, which has neither `+` nor `/` in it: six bytes are eight letters, wherever a group of
    // three bytes begins.
    words = (0...58).filter { $0 % 6 < 3 }.map { Base64.word(of: number($0..<$0 + 6, width: 8)) }
  }

  mutating func add(_ secret: some Collection<UInt8>) {
    let bytes = Array(secret)
    guard bytes.count >= Self.shortest else { return }
    let known = words.count + hexes.count
    // Words come from the text and its three forms in Base64, hex digits from the text and its form in hex.
    words.reserveCapacity(words.count + 5 * bytes.count)
    hexes.reserveCapacity(hexes.count + 2 * bytes.count)
    addText(bytes[...])
    if words.count + hexes.count == known { wholes.append(bytes) }
    addHex(of: bytes)
    // Base64 has three forms, depending on how many bytes precede the secret in its group of three. Characters at both ends
    // that depend on other bytes are left out.
    for before in 0..<3 {
      let text = Base64.letters(of: [UInt8](repeating: 0, count: before) + bytes)
      let sure = (before + bytes.count) * 8 / 6
      addText(text[(before * 8 + 5) / 6..<sure])
    }
  }

  /// Adds the pieces of the text itself.
  private mutating func addText(_ text: ArraySlice<UInt8>) {
    var window = PieceWindow()
    for byte in text {
      window.take(byte)
      if let word = window.word { words.append(word) }
      if let hex = window.hex { hexes.append(hex) }
    }
  }

  /// Adds the pieces of the bytes in hex.
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
  /// 0: not part of a piece; 1: part of one; 2 or more: a hex digit, its value plus 2.
  static let kinds: [UInt8] = (UInt8.min...UInt8.max).map { byte in
    if let value = Hex.value(of: byte) { return value + 2 }
    return ASCII.isAlphanumeric(byte) || byte >= 0x80 ? 1 : 0
  }

  private var bytes: UInt64 = 0
  private var count = 0
  /// The number of consecutive hex digits.
  private var digits: UInt64 = 0
  private var digitCount = 0
  /// Whether the last byte belongs to a piece.
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

  /// The last eight bytes, unless all of them are hex digits.
  var word: UInt64? {
    isFresh && count >= SecretForms.pieceLength && digitCount < SecretForms.pieceLength ? bytes : nil
  }

  var hex: UInt64? { isFresh && digitCount >= SecretForms.hexLength && digits != 0 ? digits : nil }
}
