import MultipartCore

extension ChecksumChoice {
  /// Nil for `auto`.
  var form: ChecksumForm? {
    switch self {
    case .auto: nil
    case .none: ChecksumForm.none
    case .md5: .md5
    case .crc64nvme: .algorithm(.crc64nvme)
    case .crc32c: .algorithm(.crc32c)
    case .crc32: .algorithm(.crc32)
    case .sha256: .algorithm(.sha256)
    case .sha1: .algorithm(.sha1)
    }
  }
}

extension ObjectOptions {
  /// `contentType` is the guessed type; the option wins.
  func headers(contentType guessed: String? = nil) throws(Failure) -> ObjectHeaders {
    var result = ObjectHeaders()
    result.contentType = contentType ?? guessed
    result.cacheControl = cacheControl
    result.contentDisposition = contentDisposition
    result.contentEncoding = contentEncoding
    result.contentLanguage = contentLanguage
    result.expires = expires
    result.metadata = metadata
    result.tags = tags
    result.storageClass = storageClass
    result.acl = acl
    result.grants = try grants.map { (grant) throws(Failure) in
      guard
        let permission = ObjectHeaders.Grant.Permission.allCases.first(where: {
          "x-amz-grant-" + $0.rawValue == grant.header
        })
      else { throw Failure(.usage, "--grant: '\(grant.header)' is not a permission") }
      return ObjectHeaders.Grant(permission, grant.grantee)
    }
    result.websiteRedirect = websiteRedirect
    result.lockMode = lockMode
    result.retainUntil = retainUntil
    result.legalHold = legalHold.map { $0 == .on }
    result.extra = headers
    return result
  }
}

extension EncryptionOptions {
  var server: ServerSideEncryption? {
    kind.map { ServerSideEncryption($0, keyID: kmsKeyID, contextJSON: kmsContext, bucketKey: bucketKey) }
  }

  func customerKey() throws(Failure) -> CustomerKey? {
    try customerKeyFile.map { (file) throws(Failure) in try CustomerKey(file: FilePath(bytes: file.bytes)) }
  }
}

extension ConditionOptions {
  var write: WriteConditions { WriteConditions(ifNoneMatch: ifNoneMatch, ifMatch: ifMatch) }
}

extension UploadedObject {
  func summary(duration: Duration) -> UploadSummary {
    UploadSummary(
      size: size, etag: etag, versionID: versionID,
      checksum: checksum.map {
        UploadSummary.Checksum(
          algorithm: $0.algorithm, type: $0.type.rawValue, value: $0.value)
      }, parts: parts, bytesSent: bytesSent, bytesResumed: bytesResumed, retries: retries, duration: duration,
      requestID: requestID, evidence: evidence)
  }
}
