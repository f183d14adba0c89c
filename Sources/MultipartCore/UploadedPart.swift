import MultipartBasics

/// A part that a store has.
public struct UploadedPart: Sendable, Equatable {
  /// The number, from 1 to 10,000.
  public var number: Int
  /// The size in bytes; nil if the list does not contain it.
  public var size: Int64?
  /// The ETag as the store sends it, including the quotes.
  public var etag: String
  /// The checksums that the store verified, in Base64.
  public var checksums: [ChecksumAlgorithm: String]
  /// When the store received the part, by the store's clock.
  var lastModified: Timestamp?

  /// A part from notes that the caller kept.
  public init(number: Int, size: Int64? = nil, etag: String, checksums: [ChecksumAlgorithm: String] = [:]) {
    self.number = number
    self.size = size
    self.etag = etag
    self.checksums = checksums
  }

  init(_ part: ListParts.Part) {
    self.init(number: part.number, size: part.size, etag: part.etag)
    for algorithm in ChecksumAlgorithm.allCases { checksums[algorithm] = part.checksums[algorithm.headerName] }
    lastModified = part.lastModified
  }

  /// Throws if the list leaves out a number below its highest: an object made of these parts would lack bytes.
  public static func requireWhole(_ list: [UploadedPart]) throws(Failure) {
    try requireWhole(list, "the list of parts leaves out")
  }

  /// `what` begins the message.
  static func requireWhole(_ list: [UploadedPart], _ what: String) throws(Failure) {
    let numbers = list.map(\.number)
    for number in numbers { try S3Limits.check(partNumber: number, of: Place()) }
    let missing = PartNumbers.missing(in: numbers)
    guard !missing.isEmpty else { return }
    throw Failure(
      .dataMismatch, "\(what) \(PartNumbers.text(missing)) of 1-\(numbers.max() ?? 0)",
      remedy: "Send what is missing, or assemble the object without it: \(.allowsGaps)")
  }

  /// Whether its checksum of this algorithm is known, and another one.
  func refutes(_ algorithm: ChecksumAlgorithm, _ text: String) -> Bool {
    guard let own = sum(algorithm), let other = Checksum(algorithm, base64: text) else { return false }
    return own != other
  }

  func sum(_ algorithm: ChecksumAlgorithm) -> Checksum? {
    checksums[algorithm].flatMap { Checksum(algorithm, base64: $0) }
  }
}
