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
  /// `contentType` is what was guessed; the option beats it.
  func headers(contentType guessed: String? = nil) throws(Failure) -> ObjectHeaders {
    var result = ObjectHeaders()
    result.contentType = contentType ?? guessed
    result.cacheControl = cacheControl
    result.contentDisposition = contentDisposition
    result.contentEncoding = contentEncoding
    result.contentLanguage = contentLanguage
    result.expires = expires
    result.metadata = metadata.map { NamedValue($0.name, $0.value) }
    result.tags = tags.map { NamedValue($0.name, $0.value) }
    result.storageClass = storageClass
    result.acl = acl
    result.grants = try grants.map { (grant) throws(Failure) in
      guard
        let permission = ObjectHeaders.Grant.Permission.allCases.first(where: {
          "x-amz-grant-" + $0.rawValue == grant.header
        })
      else { throw Failure(.usage, "--grant: '\(grant.header)' is no permission") }
      return ObjectHeaders.Grant(permission, grant.grantee)
    }
    result.websiteRedirect = websiteRedirect
    result.lockMode = lockMode.flatMap { ObjectHeaders.LockMode(rawValue: $0.rawValue) }
    result.retainUntil = retainUntil
    result.legalHold = legalHold.map { $0 == .on }
    result.extra = headers.map { NamedValue($0.name, $0.value) }
    return result
  }
}

extension EncryptionOptions {
  var server: ServerSideEncryption? {
    guard let kind, let algorithm = ServerSideEncryption.Algorithm(rawValue: kind.rawValue) else { return nil }
    return ServerSideEncryption(algorithm, keyID: kmsKeyID, contextJSON: kmsContext, bucketKey: bucketKey)
  }

  /// Reads the key. It goes out only where nobody can listen: over TLS, or to this machine itself.
  func customerKey(for origin: Origin, insecure: Bool) throws(Failure) -> CustomerKey? {
    guard let file = customerKeyFile else { return nil }
    guard origin.scheme == .https || origin.isLoopback || insecure else {
      throw Failure(
        .usage, "an SSE-C key is not sent over plain HTTP",
        remedy: "use an https endpoint, or --insecure if the line is safe by other means")
    }
    return try CustomerKey(file: FilePath(bytes: file.bytes))
  }
}

extension ConditionOptions {
  var write: WriteConditions { WriteConditions(ifNoneMatch: ifNoneMatch, ifMatch: ifMatch) }
}

extension UploadResult {
  func summary(duration: Duration) -> UploadSummary {
    UploadSummary(
      size: size, etag: object.etag, versionID: object.versionID,
      checksum: sum.map {
        UploadSummary.Checksum(algorithm: $0.algorithm.awsName ?? "MD5", type: $0.type, value: $0.text)
      }, parts: parts, bytesSent: bytesSent, bytesResumed: bytesResumed, retries: retries, duration: duration,
      requestID: object.requestID,
      evidence: evidence)
  }
}
