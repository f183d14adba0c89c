internal import CKernels
import MultipartBasics

/// One line of a record: words separated by one space, the last of which is the CRC32C of everything before it in eight
/// hex digits. It detects a line that is incomplete, filled with NULs, mixed with another or has a flipped bit.
enum RecordLine {
  typealias Word = [UInt8]

  /// Longer lines are not ours: the longest keys, paths and ETags are far below this, even if each byte takes three.
  static let longest = 64 << 10

  private static let space = UInt8(ascii: " ")
  private static let percent = UInt8(ascii: "%")
  private static let crcLength = 8

  /// A line that is built word by word in one buffer.
  struct Draft {
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(160) }

    /// Visible ASCII is not escaped, so that people can read a record; other bytes become `%xy`.
    mutating func add(_ word: some Collection<UInt8>) {
      if !bytes.isEmpty { bytes.append(space) }
      // Most words are plain ASCII and are copied at once.
      let isDone = word.withContiguousStorageIfAvailable { word in
        guard word.allSatisfy(isPlain) else { return false }
        bytes.append(contentsOf: word)
        return true
      }
      if isDone == true { return }
      for byte in word {
        if isPlain(byte) {
          bytes.append(byte)
        } else {
          bytes.append(percent)
          bytes.append(Hex.digit(byte >> 4))
          bytes.append(Hex.digit(byte & 15))
        }
      }
    }

    /// Ends the line. `seed` is part of the CRC but is not written. For part lines it is the CRC of their header,
    /// because after a power cut a file system may show blocks of an older record whose lines are valid in themselves.
    consuming func end(seed: UInt32) -> (bytes: [UInt8], crc: UInt32) {
      let crc = checksum(bytes[...], seed)
      bytes.append(space)
      for place in 0..<crcLength { bytes.append(hexDigit(place, of: crc)) }
      bytes.append(UInt8(ascii: "\n"))
      return (bytes, crc)
    }
  }

  static func write(_ words: [Word], seed: UInt32 = 0) -> (bytes: [UInt8], crc: UInt32) {
    var draft = Draft()
    for word in words { draft.add(word) }
    return draft.end(seed: seed)
  }

  /// The words of a line without its line feed; nil if the CRC does not match.
  static func read(_ line: ArraySlice<UInt8>, seed: UInt32 = 0) -> (words: [Word], crc: UInt32)? {
    guard line.count > crcLength, line.count < longest else { return nil }
    let body = line.dropLast(crcLength + 1)
    guard line[body.endIndex] == space else { return nil }
    let crc = checksum(body, seed)
    let written = line.suffix(crcLength)
    guard written.indices.allSatisfy({ written[$0] == hexDigit($0 - written.startIndex, of: crc) }) else { return nil }
    var words: [Word] = []
    for piece in body.split(separator: space, omittingEmptySubsequences: false) {
      guard let word = decode(piece) else { return nil }
      words.append(word)
    }
    return (words, crc)
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>, _ seed: UInt32) -> UInt32 {
    bytes.withUnsafeBytes { ck_crc32c(seed, $0.baseAddress, $0.count) }
  }

  /// One of eight digits, the highest first.
  private static func hexDigit(_ place: Int, of crc: UInt32) -> UInt8 {
    Hex.digit(UInt8(truncatingIfNeeded: crc >> UInt32(28 - 4 * place)) & 15)
  }

  private static func decode(_ piece: ArraySlice<UInt8>) -> Word? {
    var word: Word = []
    word.reserveCapacity(piece.count)
    var at = piece.startIndex
    while at < piece.endIndex {
      if isPlain(piece[at]) {
        word.append(piece[at])
        at += 1
      } else {
        guard piece[at] == percent, at + 2 < piece.endIndex, let high = value(piece[at + 1]),
          let low = value(piece[at + 2])
        else { return nil }
        word.append(high << 4 | low)
        at += 3
      }
    }
    return word
  }

  private static func isPlain(_ byte: UInt8) -> Bool { byte > space && byte < 0x7F && byte != percent }

  /// The value of a digit; only lower case is written, so only that is accepted.
  private static func value(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): letter - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
