/// The CRC of A followed by B from the CRC of A, the CRC of B and the length of B, without the bytes.
///
/// Appending n bytes multiplies the checksum of A by x^(8n) modulo the CRC's polynomial P (the inversions at start and
/// end cancel out), and adds the checksum of B. x^(8n) is a product of some of x^1, x^2, x^4, ..., which are computed
/// once: at most 46 multiplications for 48.8 TiB. The last length is cached, because most parts have the same size.
struct CRCCombiner: Sendable {
  let algorithm: ChecksumAlgorithm
  private let field: Field
  private var lastLength: UInt64 = 0
  private var lastPower: UInt64

  /// A combiner; nil for an algorithm that is not a CRC.
  init?(_ algorithm: ChecksumAlgorithm) {
    switch algorithm {
    case .crc64nvme: field = .crc64nvme
    case .crc32c: field = .crc32c
    case .crc32: field = .crc32
    case .sha256, .sha1, .md5: return nil
    }
    self.algorithm = algorithm
    lastPower = field.one
  }

  /// The checksum of A followed by B; nil if one of them is of a different algorithm, or the length is negative.
  mutating func combine(_ a: Checksum, _ b: Checksum, lengthOfB: Int64) -> Checksum? {
    guard a.algorithm == algorithm, b.algorithm == algorithm, let length = UInt64(exactly: lengthOfB) else {
      return nil
    }
    if length != lastLength {
      lastPower = field.power(ofBytes: length)
      lastLength = length
    }
    return Checksum(algorithm, crc: field.multiply(a.crc, lastPower) ^ b.crc)
  }

  /// The checksum of the whole from its pieces (checksum, length) in order; without pieces zero, which is that of no
  /// bytes.
  static func combine(
    _ algorithm: ChecksumAlgorithm, _ pieces: some Sequence<(Checksum, Int64)>
  ) -> Checksum? {
    guard var combiner = CRCCombiner(algorithm) else { return nil }
    var whole = Checksum(algorithm, crc: 0)
    for (checksum, length) in pieces {
      guard let longer = combiner.combine(whole, checksum, lengthOfB: length) else { return nil }
      whole = longer
    }
    return whole
  }
}

/// Polynomials modulo P in the reflected form of the CRC: the highest bit stands for x^0.
private struct Field: Sendable {
  let polynomial: UInt64
  let one: UInt64
  /// x^(2^k) for k in 0..<67, enough for 2^63 bytes.
  let squares: [UInt64]

  static let crc64nvme = Field(polynomial: 0x9A6C_9329_AC4B_C9B5, width: 64)
  static let crc32c = Field(polynomial: 0x82F6_3B78, width: 32)
  static let crc32 = Field(polynomial: 0xEDB8_8320, width: 32)

  init(polynomial: UInt64, width: UInt64) {
    self.polynomial = polynomial
    one = 1 << (width - 1)
    var squares = [one >> 1]
    for _ in 1..<67 {
      let last = squares[squares.count - 1]
      squares.append(Self.multiply(last, last, polynomial, one))
    }
    self.squares = squares
  }

  func multiply(_ a: UInt64, _ b: UInt64) -> UInt64 { Self.multiply(a, b, polynomial, one) }

  /// x^(8 * count).
  func power(ofBytes count: UInt64) -> UInt64 {
    var result = one
    var rest = count
    var place = 3
    while rest != 0 {
      if rest & 1 != 0 { result = multiply(result, squares[place]) }
      rest >>= 1
      place += 1
    }
    return result
  }

  private static func multiply(_ a: UInt64, _ b: UInt64, _ polynomial: UInt64, _ one: UInt64) -> UInt64 {
    var product: UInt64 = 0
    var shifted = b
    var rest = a
    // Bits of `a` from x^0 upwards, while `b` is multiplied by x at each step.
    while rest != 0 {
      if rest & one != 0 { product ^= shifted }
      rest = (rest & (one &- 1)) << 1
      shifted = (shifted >> 1) ^ (shifted & 1 != 0 ? polynomial : 0)
    }
    return product
  }
}
