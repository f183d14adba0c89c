/// What proves that a part arrived as it was read, from weakest to strongest.
enum PartProof: Int, Sendable, Comparable {
  /// Nothing but the store's 200.
  case none
  /// The store accepted a Content-MD5, but its ETag does not show whether it verified it.
  case contentMD5
  /// The payload's SHA-256 was part of the signature.
  case signedPayload
  /// The part's ETag is the MD5 of the bytes that were sent.
  case etag
  /// The store returned the checksum that was sent, so it has verified it.
  case checksum

  static func < (a: PartProof, b: PartProof) -> Bool { a.rawValue < b.rawValue }

  /// Whether the answer returns the checksum that was sent; fails if it has another one.
  static func isVerified(_ sum: Checksum, by given: [String: String]) throws(Failure) -> Bool {
    guard let text = given[sum.algorithm.headerName] else { return false }
    guard Checksum(sum.algorithm, base64: text) == sum else {
      throw Failure(.dataMismatch, "the store received other bytes than were sent (\(sum.algorithm.awsName ?? ""))")
    }
    return true
  }

  /// The failure of an ETag that looks like an MD5 and is that of other bytes.
  static let refuted = Failure(
    .dataMismatch, "the ETag is not the MD5 of the bytes that were sent",
    remedy: "the store received other bytes; or its ETags only look like MD5s, and \(.checksum, "none") leaves this out"
  )
}

extension UploadPart.Output {
  /// The ETag, which complete must name.
  func requiredETag() throws(Failure) -> String {
    if let etag, ETag(etag) != nil { return etag }
    throw Failure(.server, "the store answered without an ETag", status: 200, requestID: requestID)
  }
}

/// A part that the store has. It is sent with complete, and the object is compared with it.
struct PartReceipt: Sendable, Equatable {
  var number: Int
  var size: Int64
  /// The ETag as the store sent it, including the quotes.
  var etag: String
  /// The checksum of the local bytes, if the upload uses checksums.
  var checksum: Checksum?
  var proof: PartProof
  /// A checksum of the bytes when this run sent or compared them, whether or not the upload uses it.
  var localSum: Checksum?
}
