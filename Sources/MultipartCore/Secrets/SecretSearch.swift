import MultipartBasics

/// Finds secrets in texts from outside, as a whole or in part, in any encoding (``SecretForms``), and replaces them by
/// ``Redaction/mask``.
///
///     let search = SecretSearch([Array(token.utf8)])
///     search.masked("you sent \(token)")   // "you sent REDACTED"
struct SecretSearch: Sendable {
  /// How much of a secret must be in a text for it to be masked.
  enum Care {
    /// One piece is enough: for text that is only displayed, where masking one word too many does no harm.
    case pieces
    /// As much as cannot occur by chance: for text that programs read, where no key or ETag may be changed.
    case lengths

    /// The least number of consecutive letters and digits.
    var least: Int { self == .pieces ? SecretForms.pieceLength : 20 }
    /// The least number of consecutive hex digits: sixteen bytes.
    var leastHex: Int { self == .pieces ? SecretForms.hexLength : 32 }
  }

  private let words: PieceTable
  private let hexes: PieceTable
  private let wholes: [[UInt8]]

  /// The number of layers to decode; the most that occurred was percent-encoding in JSON in XML.
  private static let layers = 3

  init(_ secrets: some Sequence<[UInt8]>) {
    var forms = SecretForms()
    for secret in secrets { forms.add(secret) }
    self.init(forms)
  }

  init(_ forms: SecretForms) {
    words = PieceTable(forms.words)
    hexes = PieceTable(forms.hexes)
    wholes = forms.wholes
  }

  var isEmpty: Bool { words.isEmpty && hexes.isEmpty && wholes.isEmpty }

  func masked(_ text: String, _ care: Care = .pieces) -> String {
    masked(Array(text.utf8), care).map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  /// The text with its secrets masked; nil if it contains none.
  func masked(_ text: [UInt8], _ care: Care = .pieces) -> [UInt8]? {
    let found = ranges(in: text, care)
    return found.isEmpty ? nil : Self.masked(found, in: text)
  }

  /// Where the text contains secrets.
  func ranges(in text: [UInt8], _ care: Care = .pieces) -> [Range<Int>] {
    guard mayMask(text) else { return [] }
    var found: [Range<Int>] = []
    var view: DecodedText? = DecodedText(text)
    for _ in 0...Self.layers {
      guard let layer = view else { break }
      find(in: layer, care, &found)
      view = layer.decoded()
    }
    return found
  }

  /// Whether the text may contain a secret. False for nearly every text, without copying it; only a text for which it
  /// is true has to be searched.
  func mayMask(_ text: some Collection<UInt8>) -> Bool {
    guard !isEmpty, text.count >= SecretForms.shortest else { return false }
    return text.withContiguousStorageIfAvailable(mayHide) ?? Array(text).withUnsafeBufferPointer(mayHide)
  }

  private func mayHide(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    if !wholes.isEmpty { return true }
    var window = PieceWindow()
    var hasEscapes = false
    for byte in text {
      window.take(byte)
      if !window.isFresh {
        hasEscapes = hasEscapes || Escape.begins(byte)
      } else if holds(window) {
        return true
      }
    }
    return hasEscapes && mayHideDecoded(Array(text))
  }

  /// Whether the text may contain a secret after removing one layer of escapes; also true if there is another layer.
  private func mayHideDecoded(_ text: [UInt8]) -> Bool {
    var window = PieceWindow()
    var index = 0
    while index < text.count {
      let byte = text[index]
      guard Escape.begins(byte) else {
        index += 1
        window.take(byte)
        if window.isFresh, holds(window) { return true }
        continue
      }
      guard let escape = Escape(text[index...]), !escape.bytes.contains(where: Escape.begins) else { return true }
      index += escape.length
      for byte in escape.bytes {
        window.take(byte)
        if window.isFresh, holds(window) { return true }
      }
    }
    return false
  }

  private func holds(_ window: PieceWindow) -> Bool {
    if let word = window.word, words.contains(word) { return true }
    if let hex = window.hex, hexes.contains(hex) { return true }
    return false
  }

  private func find(in layer: DecodedText, _ care: Care, _ found: inout [Range<Int>]) {
    var window = PieceWindow()
    // The positions of letters and digits.
    var places: [Int] = []
    // The last run of overlapping pieces among these, and whether all of it is hex digits.
    var run = (letters: 0..<0, isHex: true)
    func end() {
      guard run.letters.count >= (run.isHex ? care.leastHex : care.least) else { return }
      let place = Self.whole(places[run.letters.lowerBound]...places[run.letters.upperBound - 1], in: layer.bytes)
      found.append(layer.starts[place.lowerBound]..<layer.ends[place.upperBound])
    }
    func take(_ length: Int, isHex: Bool) {
      let piece = places.count - length..<places.count
      if piece.lowerBound < run.letters.upperBound {
        run = (run.letters.lowerBound..<piece.upperBound, run.isHex && isHex)
      } else {
        end()
        run = (piece, isHex)
      }
    }
    for (index, byte) in layer.bytes.enumerated() {
      window.take(byte)
      guard window.isFresh else { continue }
      places.append(index)
      if let word = window.word, words.contains(word) { take(SecretForms.pieceLength, isHex: false) }
      if let hex = window.hex, hexes.contains(hex) { take(SecretForms.hexLength, isHex: true) }
    }
    end()
    for secret in wholes where secret.count >= care.least {
      for range in layer.bytes.ranges(of: secret) {
        found.append(layer.starts[range.lowerBound]..<layer.ends[range.upperBound - 1])
      }
    }
  }

  /// A secret that begins or ends with hex digits has up to this many that are in no piece.
  private static let mostHexAtEnd = SecretForms.hexLength - SecretForms.pieceLength

  /// What was found of a secret, with the hex digits and the padding of Base64 at its ends.
  private static func whole(_ found: ClosedRange<Int>, in text: [UInt8]) -> ClosedRange<Int> {
    func isHex(_ byte: UInt8) -> Bool { Hex.value(of: byte) != nil }
    let before = text[..<found.lowerBound].suffix(mostHexAtEnd).reversed().prefix(while: isHex)
    var end = found.upperBound + text[(found.upperBound + 1)...].prefix(mostHexAtEnd).prefix(while: isHex).count
    end += text[(end + 1)...].prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
    return found.lowerBound - before.count...end
  }

  /// The text with a mask in place of the ranges. Ranges that touch or nearly touch become one: a few hex digits may be
  /// left between pieces of one secret.
  static func masked(_ ranges: [Range<Int>], in text: [UInt8]) -> [UInt8] {
    let nearly = 4
    var out: [UInt8] = []
    var done = 0
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > done {
      if done == 0 || range.lowerBound > done + nearly {
        if range.lowerBound > done { out += text[done..<range.lowerBound] }
        out += Redaction.mask.utf8
      }
      done = range.upperBound
    }
    return out + text[done...]
  }
}

/// A set of numbers, optimized for lookups of numbers that it does not contain.
private struct PieceTable: Sendable {
  private let slots: [UInt64]
  private let shift: UInt64
  let isEmpty: Bool

  /// At least half of the slots stay empty, so that a search is short. Zero is not a piece.
  init(_ pieces: [UInt64]) {
    isEmpty = pieces.isEmpty
    var size = 16
    while size < 2 * pieces.count { size *= 2 }
    let shift = UInt64(64 - size.trailingZeroBitCount)
    self.shift = shift
    slots = [UInt64](unsafeUninitializedCapacity: size) { slots, count in
      slots.initialize(repeating: 0)
      count = size
      for piece in pieces {
        var slot = Self.place(of: piece, shift)
        while slots[slot] != 0, slots[slot] != piece { slot = (slot + 1) & (size - 1) }
        slots[slot] = piece
      }
    }
  }

  func contains(_ piece: UInt64) -> Bool {
    var slot = Self.place(of: piece, shift)
    while slots[slot] != 0 {
      if slots[slot] == piece { return true }
      slot = (slot + 1) & (slots.count - 1)
    }
    return false
  }

  /// Multiplying by the golden ratio mixes the upper bits well.
  private static func place(of piece: UInt64, _ shift: UInt64) -> Int {
    Int(truncatingIfNeeded: (piece &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }
}
