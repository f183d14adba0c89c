/// What the store says about the encryption of an object or part.
public struct EncryptionInfo: Sendable, Equatable {
  /// The algorithm: `AES256`, `aws:kms`, `aws:kms:dsse`.
  public var algorithm: String?
  /// The KMS key, if one was used.
  public var kmsKeyID: String?
  /// Whether an S3 Bucket Key was used.
  public var bucketKey: Bool
  /// The algorithm, if the caller's own key (SSE-C) was used.
  public var customerAlgorithm: String?

  /// Whether the ETag may be an MD5. A bucket may encrypt with KMS by default; the ETag then only looks like one.
  var etagMayBeMD5: Bool {
    customerAlgorithm == nil && algorithm.map { $0.uppercased().utf8.elementsEqual("AES256".utf8) } ?? true
  }

  init(_ headers: HeaderList) {
    algorithm = headers[HeaderName.encryption]
    kmsKeyID = headers[HeaderName.keyID]
    bucketKey = headers[HeaderName.bucketKey]?.lowercased() == "true"
    customerAlgorithm = headers[HeaderName.customerAlgorithm]
  }
}
