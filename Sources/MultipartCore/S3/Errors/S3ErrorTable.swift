import MultipartBasics

/// What stores' error codes mean. The status decides only if there is no code or it is not listed: `ExpiredToken` and
/// `RequestTimeout` are both 400.
///
/// | failure | S3 codes | status without a known code |
/// | --- | --- | --- |
/// | `credentialsExpired` | ExpiredToken, ExpiredTokenException, TokenRefreshRequired, SecurityTokenExpired | |
/// | `credentials` | AccessDenied, InvalidAccessKeyId, SignatureDoesNotMatch, InvalidToken, InvalidSecurity, NotSignedUp, … | 401, 403, 407 |
/// | `clockSkew` | RequestTimeTooSkewed (15 minutes), RequestExpired, RequestInTheFuture | |
/// | `uploadGone` | NoSuchUpload; where the request names an upload id every 404, except NoSuchBucket and pages without a code | |
/// | `precondition` | PreconditionFailed, FileAlreadyExists | 412 |
/// | `dataMismatch` | BadDigest, InvalidDigest, XAmzContentSHA256Mismatch, XAmzContentChecksumMismatch | |
/// | `checksumUnsupported` | NotImplemented; InvalidArgument and InvalidRequest that name a checksum; only where one was sent | 501 |
/// | `throttled` | SlowDown, ServiceUnavailable, Throttling…, TooManyRequests, BandwidthLimitExceeded, … | 429, 503 |
/// | `network` | RequestTimeout, IncompleteBody | 408 |
/// | `server` | InternalError, TemporaryRedirect, OperationAborted and ConditionalRequestConflict (another write is running), … | 5xx, 307, 2xx with an error in it |
/// | `refused` | NoSuchBucket, NoSuchKey, PermanentRedirect, EntityTooLarge, InvalidPart, MalformedXML, … | the other 3xx and 4xx, 507 |
///
/// `AuthorizationHeaderMalformed` is `refused` when the store names the region it wants, else `credentials`.
enum S3ErrorTable {
  static let codes: [String: Failure.Code] = {
    var table: [String: Failure.Code] = [:]
    for (code, names) in rows {
      for name in names.split(whereSeparator: { $0 == " " || $0 == "\n" }) { table[String(name)] = code }
    }
    return table
  }()

  /// Refusals that other credentials may resolve: expired ones, and keys that were rotated or are not known yet.
  static let rejectedKeys: Set<String> = expired.union([
    "InvalidAccessKeyId", "InvalidToken", "InvalidClientTokenId", "UnrecognizedClientException",
  ])
  static let expired = Set(codes.filter { $0.value == .credentialsExpired }.keys)

  private static let rows: [(Failure.Code, String)] = [
    (.credentialsExpired, "ExpiredToken ExpiredTokenException TokenRefreshRequired SecurityTokenExpired"),
    (
      .credentials,
      """
      AccessDenied AccessDeniedException AccessForbidden AccountProblem AuthenticationRequired
      AuthorizationQueryParametersError CredentialsNotSupported InvalidAccessKeyId InvalidClientTokenId InvalidSecurity
      InvalidSecurityToken InvalidToken MissingAuthenticationToken MissingSecurityElement MissingSecurityHeader
      NotSignedUp SignatureDoesNotMatch SignatureVersionNotSupported UnauthorizedAccess UnrecognizedClientException
      """
    ),
    (.clockSkew, "RequestTimeTooSkewed RequestExpired RequestInTheFuture"),
    (.uploadGone, "NoSuchUpload"),
    (.precondition, "PreconditionFailed FileAlreadyExists"),
    (
      .dataMismatch,
      """
      BadDigest InvalidDigest XAmzContentSHA256Mismatch XAmzContentChecksumMismatch XAmzContentMD5Mismatch
      """
    ),
    (
      .throttled,
      """
      SlowDown SlowDownRead SlowDownWrite ServiceUnavailable Throttling ThrottlingException ThrottledException
      RequestThrottled RequestThrottledException RequestLimitExceeded TooManyRequests TooManyRequestsException
      BandwidthLimitExceeded LimitExceededException QpsLimitExceeded UploadTrafficRateLimitExceeded
      DownloadTrafficRateLimitExceeded TotalQpsLimitExceeded PriorRequestNotComplete Busy ServerBusy
      KMS.ThrottlingException
      """
    ),
    (.network, "RequestTimeout RequestTimeoutException IncompleteBody"),
    (
      .server,
      """
      InternalError InternalFailure InternalServerError InternalException OperationAborted ConditionalRequestConflict
      TemporaryRedirect Redirect KMS.KMSInternalException
      """
    ),
    (
      .refused,
      """
      AllAccessDisabled BrokenMPU BucketAlreadyExists BucketAlreadyOwnedByYou EntityTooLarge EntityTooSmall
      IllegalLocationConstraintException InvalidBucketName InvalidBucketState InvalidEncryptionAlgorithmError
      InvalidLocationConstraint InvalidObjectState InvalidPart InvalidPartNumber InvalidPartOrder InvalidPayer
      InvalidRange InvalidRegionName InvalidStorageClass InvalidTag InvalidURI KeyTooLong KeyTooLongError
      KMS.DisabledException KMS.InvalidStateException KMS.NotFoundException MalformedACLError MalformedXML
      MaxMessageLengthExceeded MetadataTooLarge MethodNotAllowed MissingContentLength MissingRequestBodyError
      NoSuchBucket NoSuchKey NoSuchVersion ObjectLockConfigurationNotFoundError PermanentRedirect QuotaExceeded
      RequestHeaderSectionTooLarge UnexpectedContent UserKeyMustBeSpecified XMinioStorageFull
      """
    ),
  ]

  /// The failure's code, from all that is known about the answer.
  static func code(
    _ s3Code: String?, status: Int, body: S3ErrorBody, region: String?, onUpload: Bool, carriedChecksum: Bool
  ) -> Failure.Code {
    if onUpload, status == 404, s3Code != "NoSuchBucket" {
      // A page of a proxy that does not find the store for a moment says nothing about the upload.
      return s3Code == nil && body.form == .other ? .server : .uploadGone
    }
    if s3Code == "AuthorizationHeaderMalformed" { return region == nil ? .credentials : .refused }
    if let s3Code, let code = codes[s3Code] {
      return code
    }
    if carriedChecksum, refusesChecksum(s3Code, status: status, body: body) { return .checksumUnsupported }
    if let message = body.message?.lowercased(), message.holds("reduce your request rate") { return .throttled }
    return code(status: status)
  }

  static func code(status: Int) -> Failure.Code {
    switch status {
    case 401, 403, 407: .credentials
    case 408: .network
    case 412: .precondition
    case 429, 503: .throttled
    // Not implemented, and no space left: a retry would get the same answer.
    case 501, 507: .refused
    case 300..<500 where status != 307: .refused
    default: .server
    }
  }

  /// Whether the store refuses the checksum. Stores also return 501 for tags, encryption and conditions: if the answer
  /// names one of these, the checksum is not the reason. If it names nothing, the checksum is the likeliest reason, and
  /// the next try shows whether it was.
  private static func refusesChecksum(_ s3Code: String?, status: Int, body: S3ErrorBody) -> Bool {
    let text = ((body.argument ?? "") + " " + (body.message ?? "")).lowercased()
    let namesChecksum = ["checksum", "content-md5", "crc64nvme", "crc32"].contains { text.contains($0) }
    if status == 501 || s3Code == "NotImplemented" {
      return namesChecksum || !otherFeatures.contains { text.contains($0) }
    }
    return status == 400 && namesChecksum
      && (s3Code == nil || s3Code == "InvalidArgument" || s3Code == "InvalidRequest" || s3Code == "BadRequest")
  }

  private static let otherFeatures = [
    "x-amz-", "tagging", "website", "encryption", "conditional", "if-match", "if-none-match", "acl", "lock",
    "retention", "storage class", "transfer-encoding", "multi-part", "multipart", "payloads in multiple chunks",
  ]
}
