/// Encryption by the store with a key that the store or KMS holds.
public struct ServerSideEncryption: Sendable, Equatable {
  /// By the values of `x-amz-server-side-encryption`.
  public enum Algorithm: String, Sendable, CaseIterable {
    case aes256 = "AES256"
    case kms = "aws:kms"
    case kmsTwice = "aws:kms:dsse"
  }

  /// How.
  public var algorithm: Algorithm
  /// The KMS key; nil: AWS's own.
  public var keyID: String?
  /// The encryption context as a JSON object of strings.
  public var contextJSON: String?
  /// Fewer requests to KMS; nil leaves it to the bucket.
  public var bucketKey: Bool?

  /// A key, a context and a bucket key are KMS's.
  public init(_ algorithm: Algorithm, keyID: String? = nil, contextJSON: String? = nil, bucketKey: Bool? = nil) {
    self.algorithm = algorithm
    self.keyID = keyID
    self.contextJSON = contextJSON
    self.bucketKey = bucketKey
  }

  func add(to headers: inout S3HeaderBuilder) throws(Failure) {
    if algorithm == .aes256, keyID != nil || contextJSON != nil || bucketKey != nil {
      throw Failure(
        .usage, "a KMS key, context or bucket key makes no sense with AES256", remedy: "encrypt with aws:kms instead")
    }
    try headers.add("x-amz-server-side-encryption", algorithm.rawValue)
    try headers.add("x-amz-server-side-encryption-aws-kms-key-id", keyID)
    try headers.add("x-amz-server-side-encryption-context", contextJSON.map { Base64.encode($0.utf8) })
    try headers.add("x-amz-server-side-encryption-bucket-key-enabled", bucketKey.map { $0 ? "true" : "false" })
  }
}

/// How the store says that an object or part is encrypted.
package struct EncryptionInfo: Sendable, Equatable {
  /// `AES256`, `aws:kms`, `aws:kms:dsse`.
  package var algorithm: String?
  package var kmsKeyID: String?
  package var bucketKey: Bool
  /// Encrypted with a key of ours: SSE-C.
  package var customerAlgorithm: String?

  /// A bucket may encrypt by its own rule with a key of KMS, unasked; the ETag is then no MD5, but looks like one.
  package var etagMayBeMD5: Bool {
    customerAlgorithm == nil && algorithm.map { $0.uppercased().utf8.elementsEqual("AES256".utf8) } ?? true
  }

  package init(_ headers: HeaderList) {
    algorithm = headers["x-amz-server-side-encryption"]
    kmsKeyID = headers["x-amz-server-side-encryption-aws-kms-key-id"]
    bucketKey = headers["x-amz-server-side-encryption-bucket-key-enabled"]?.lowercased() == "true"
    customerAlgorithm = headers["x-amz-server-side-encryption-customer-algorithm"]
  }
}
