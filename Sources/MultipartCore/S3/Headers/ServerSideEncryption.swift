import MultipartBasics

/// Encryption by the store, with a key of the store or of KMS.
public struct ServerSideEncryption: Sendable, Equatable {
  /// The values of `x-amz-server-side-encryption`.
  public enum Algorithm: String, Sendable, CaseIterable {
    case aes256 = "AES256"
    case kms = "aws:kms"
    case kmsDualLayer = "aws:kms:dsse"
  }

  /// The algorithm.
  public var algorithm: Algorithm
  /// The KMS key; nil: the one that AWS manages.
  public var keyID: String?
  /// The encryption context as a JSON object of strings.
  public var contextJSON: String?
  /// Whether to use an S3 Bucket Key, which reduces requests to KMS; nil: the bucket's setting.
  public var bucketKey: Bool?

  /// Encryption with this algorithm. Key id, context and bucket key are only for KMS.
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
    try headers.add(HeaderName.encryption, algorithm.rawValue)
    try headers.add(HeaderName.keyID, keyID)
    try headers.add(HeaderName.keyContext, contextJSON.map { Base64.encode($0.utf8) })
    try headers.add(HeaderName.bucketKey, bucketKey.map { $0 ? "true" : "false" })
  }
}
