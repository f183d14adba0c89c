/// The names of headers that are both written and read, or that several requests have.
enum HeaderName {
  static let encryption = "x-amz-server-side-encryption"
  static let keyID = "x-amz-server-side-encryption-aws-kms-key-id"
  static let keyContext = "x-amz-server-side-encryption-context"
  static let bucketKey = "x-amz-server-side-encryption-bucket-key-enabled"
  static let customerAlgorithm = "x-amz-server-side-encryption-customer-algorithm"
  static let lockMode = "x-amz-object-lock-mode"
  static let lockDate = "x-amz-object-lock-retain-until-date"
  static let legalHold = "x-amz-object-lock-legal-hold"
  static let redirect = "x-amz-website-redirect-location"
  static let storageClass = "x-amz-storage-class"
  static let tagging = "x-amz-tagging"
  static let acl = "x-amz-acl"
  /// The prefix of the header for a permission; each permission has its own.
  static let grant = "x-amz-grant-"
  static let metadata = "x-amz-meta-"
  /// Headers for browsers and caches.
  static let content = [
    "content-type", "cache-control", "content-disposition", "content-encoding", "content-language", "expires",
  ]

  static let checksumAlgorithm = "x-amz-checksum-algorithm"
  static let checksumType = "x-amz-checksum-type"
  static let checksumMode = "x-amz-checksum-mode"
  static let contentMD5 = "Content-MD5"
  static let payloadSHA256 = "x-amz-content-sha256"
  static let objectSize = "x-amz-mp-object-size"
  static let partsCount = "x-amz-mp-parts-count"
  static let versionID = "x-amz-version-id"
  static let abortDate = "x-amz-abort-date"
  static let bucketRegion = "x-amz-bucket-region"
  static let ifMatch = "If-Match"
  static let ifNoneMatch = "If-None-Match"
}
