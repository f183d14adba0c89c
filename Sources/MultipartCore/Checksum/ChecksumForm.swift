/// What a part carries for the store to verify.
public enum ChecksumForm: Sendable, Equatable {
  /// A checksum in its header.
  case algorithm(ChecksumAlgorithm)
  /// Content-MD5.
  case md5
  /// No checksum. The store still verifies what the signature covers.
  case nothing

  /// The name for people: `CRC64NVME`, `Content-MD5`.
  public var title: String {
    switch self {
    case .algorithm(let algorithm): algorithm.awsName ?? algorithm.rawValue
    case .md5: "Content-MD5"
    case .nothing: "none"
    }
  }

  /// The algorithm of the header; nil for Content-MD5, and without a checksum.
  var algorithm: ChecksumAlgorithm? {
    if case .algorithm(let algorithm) = self { algorithm } else { nil }
  }

  /// The name in options, records and tickets.
  var word: String {
    switch self {
    case .algorithm(let algorithm): algorithm.rawValue
    case .md5: ChecksumAlgorithm.md5.rawValue
    case .nothing: "none"
    }
  }

  /// Parses the word of an option.
  public init?(word: String) {
    switch word {
    case "none": self = .nothing
    case ChecksumAlgorithm.md5.rawValue: self = .md5
    default:
      guard let algorithm = ChecksumAlgorithm(rawValue: word) else { return nil }
      self = .algorithm(algorithm)
    }
  }

  /// The next form to use if a store does not accept or verify this one. With a signed payload hash MD5 is not needed.
  func steppedDown(payloadIsSigned: Bool) -> ChecksumForm? {
    switch self {
    case .algorithm: payloadIsSigned ? ChecksumForm.nothing : .md5
    case .md5: ChecksumForm.nothing
    case .nothing: nil
    }
  }
}
