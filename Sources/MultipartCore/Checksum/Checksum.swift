import MultipartBasics

/// One checksum; CRCs are big-endian, as S3 writes them.
public struct Checksum: Sendable, Hashable {
  /// How it is computed.
  public let algorithm: ChecksumAlgorithm
  let bytes: [UInt8]

  /// A checksum of these bytes; nil unless their number is that of the algorithm.
  init?(_ algorithm: ChecksumAlgorithm, bytes: [UInt8]) {
    guard bytes.count == algorithm.digestLength else { return nil }
    self.init(algorithm, whole: bytes)
  }

  /// A checksum from a header or an XML element; nil unless it is canonical base64 of the right length.
  public init?(_ algorithm: ChecksumAlgorithm, base64: String) {
    guard let bytes = Base64.decode(base64) else { return nil }
    self.init(algorithm, bytes: bytes)
  }

  init(_ algorithm: ChecksumAlgorithm, whole bytes: [UInt8]) {
    self.algorithm = algorithm
    self.bytes = bytes
  }

  init(_ algorithm: ChecksumAlgorithm, crc: UInt64) {
    let length = algorithm.digestLength
    self.init(algorithm, whole: (0..<length).map { UInt8(truncatingIfNeeded: crc >> (8 * UInt64(length - 1 - $0))) })
  }

  /// The checksum as S3 writes it.
  public var base64: String { Base64.encode(bytes) }
  /// The checksum in hexadecimal.
  public var hex: String { Hex.encode(bytes) }

  /// The CRC as a number; meaningless for digests.
  var crc: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
