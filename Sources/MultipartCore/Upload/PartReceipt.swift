/// How it is known that a part arrived as it was read; from the strongest down.
package enum PartProof: Int, Sendable, Comparable {
  /// Nothing but that the store answered 200.
  case none
  /// The store took a Content-MD5 without complaint, and its ETag does not show whether it looked.
  case contentMD5
  /// The payload's SHA-256 was part of the signature.
  case signedPayload
  /// The part's ETag is the MD5 of the bytes that were sent.
  case etag
  /// The store gave back the checksum that was sent and so has verified it.
  case checksum

  package static func < (a: PartProof, b: PartProof) -> Bool { a.rawValue < b.rawValue }
}

/// A part that the store has: what complete names, and what the object is compared with.
package struct PartReceipt: Sendable, Equatable {
  package var number: Int
  package var size: Int64
  /// As the store gave it, quotes and all.
  package var etag: String
  /// What was computed from the local bytes, when the upload carries such checksums.
  package var checksum: Checksum?
  package var proof: PartProof
  /// A sum of the bytes as they were when they were sent or compared in this run, whatever the upload carries.
  package var localSum: Checksum?

  package init(
    number: Int, size: Int64, etag: String, checksum: Checksum? = nil, proof: PartProof, localSum: Checksum? = nil
  ) {
    self.number = number
    self.size = size
    self.etag = etag
    self.checksum = checksum
    self.proof = proof
    self.localSum = localSum
  }
}

/// What a part carries for the store to verify.
public enum ChecksumForm: Sendable, Equatable {
  case algorithm(ChecksumAlgorithm)
  case md5
  case none

  /// What is tried when a store does not take or does not verify this one. A signed payload hash makes MD5 needless.
  package func steppedDown(payloadIsSigned: Bool) -> ChecksumForm? {
    switch self {
    case .algorithm: payloadIsSigned ? ChecksumForm.none : .md5
    case .md5: ChecksumForm.none
    case .none: nil
    }
  }
}
