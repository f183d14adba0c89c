/// The remedy for each failure, in one line.
enum S3Hints {
  static func remedy(
    _ code: Failure.Code, s3Code: String?, status: Int, operation: OperationName, region: String?, body: S3ErrorBody,
    bucket: String?
  ) -> Wording? {
    if body.saysTLSPort { return "that port speaks TLS: write the endpoint with https://" }
    if status == 407 { return "a proxy on the way asks for a user name and a password" }
    if body.saysExpires { return "the presigned URL has expired: ask for a new one" }
    if let region, isAboutRegion(s3Code, status: status) {
      return "the store names the region \(region): give it with \(.region, region)"
    }
    // Decided by our own code, because stores use different ones: InvalidArgument, for example, does not mention
    // checksums.
    if code == .checksumUnsupported {
      return "choose another checksum with \(.checksum, "md5") or \(.checksum, "none")"
    }
    if s3Code == "InvalidRequest", [GetObject.name, HeadObject.name].contains(operation) {
      return "if the object is encrypted with your own key, give that key with \(.customerKey)"
    }
    if s3Code == "NoSuchUpload", let bucket { return noSuchUpload(bucket) }
    if let s3Code, let remedy = byCode[s3Code] { return remedy }
    switch code {
    case .credentials where body.form == .other:
      return
        "the response is a web page, not an answer of the store: a proxy or firewall on the way may have refused the request"
    case _ where status == 507: return byCode["XMinioStorageFull"]
    case .credentials:
      return "\(operation) needs \(operation.needs): ask the bucket's owner to allow it, or use other credentials"
    case .credentialsExpired: return "get new credentials"
    case .throttled: return "the store asks for less: lower \(.concurrency) or set \(.limitRate), or try again later"
    case .refused where status == 501:
      return "the store does not support this: leave out the option that requires it, or check \(.endpoint)"
    case .refused where status == 405: return "the endpoint may be a website or a proxy, not an S3 API"
    case .refused where status == 404: return byCode["NoSuchBucket"]
    case _ where body.form == .other: return "the answer is not S3's: check \(.endpoint), and any proxy on the way"
    case .refused where s3Code == nil: return "check \(.endpoint), the bucket's name and the region"
    // Only the store's own words are known; any store may invent codes.
    default: return nil
    }
  }

  /// The remedy for a refusal of a presigned URL: whoever signed it chose the store and the object, and has the
  /// permission. Nil if the general remedy helps whoever holds it.
  static func remedy(forURL failure: Failure) -> Wording? {
    switch failure.s3Code {
    case "SignatureDoesNotMatch", "InvalidAccessKeyId":
      return "the URL is incomplete, or was signed for another kind of request: ask for a new one"
    case "AccessDenied": return "whoever signed the URL may not do this, or no longer: ask for a new one"
    case "NoSuchUpload": return "the URL's upload has ended: ask for a new URL"
    case _ where failure.status == 404:
      return "nothing is there, or no longer: check that the URL is whole, and ask whoever gave it to you"
    default:
      guard failure.code == .refused, let settings = failure.remedy?.settings,
        settings.contains(.region) || settings.contains(.endpoint)
      else { return nil }
      return "the URL does not lead to a bucket of a store: check that it is whole, and any proxy on the way"
    }
  }

  /// What to do if the store has no such upload.
  static func noSuchUpload(_ bucket: String) -> Wording {
    "it has ended, or the ID or the key is wrong: \(run: .listUploads(bucket: bucket)) lists the uploads that exist"
  }

  private static func isAboutRegion(_ s3Code: String?, status: Int) -> Bool {
    guard let s3Code else { return status == 301 || status == 307 || status == 400 }
    return Redirect.codes.contains(s3Code) || s3Code == "InvalidRegionName"
  }

  private static let byCode: [String: Wording] = [
    "NoSuchBucket":
      "check the bucket's name, the region and the endpoint; see which buckets there are: \(run: .listBuckets)",
    "NoSuchKey": "check the key: it is compared byte by byte, and case matters",
    "InvalidAccessKeyId":
      "this store does not know the access key: check the place it comes from (\(run: .examine) names it) and the endpoint, and that ID and secret are not swapped or in quotes",
    "SignatureDoesNotMatch":
      "the secret key does not belong to the access key, or a proxy on the way changes requests; check both keys for stray spaces and quotes",
    "InvalidToken":
      "the session token is incomplete, or belongs to other keys: get new credentials, or unset AWS_SESSION_TOKEN if your keys need none",
    "AuthorizationHeaderMalformed": "check the region and the access key",
    "RequestTimeTooSkewed": "this machine's clock is wrong: set it (timedatectl set-ntp true)",
    "RequestInTheFuture": "this machine's clock is ahead: set it (timedatectl set-ntp true)",
    "RequestExpired": "this machine's clock is wrong, or the request waited too long: check the clock",
    "PermanentRedirect": "the bucket is in another region or at another endpoint: check \(.region) and \(.endpoint)",
    "PreconditionFailed":
      "the object already exists, or is not the expected one: look at it, and leave the condition out to replace it anyway",
    "ConditionalRequestConflict": "another write to the same key was in progress: run the command again",
    "EntityTooLarge": "a part or single PUT is at most 5 GiB: check \(.partSize)",
    "EntityTooSmall": "every part but the last must have at least 5 MiB: check \(.partSize)",
    "InvalidPart":
      "the store does not have a part as it was listed: begin a new upload instead of resuming this one (\(.resume, "never"))",
    "MetadataTooLarge": "metadata is at most 2 KiB, names and values together",
    "KeyTooLongError": "a key is at most 1,024 bytes of UTF-8",
    "InvalidStorageClass":
      "the store does not know this \(.storageClass): choose one that it offers, or leave it out",
    "InvalidTag": "a tag has a name of 1 to 128 and a value of up to 256 characters; an object has ten at most",
    "KMS.NotFoundException": "check \(.kmsKeyID), and that the key is in the bucket's region",
    "KMS.DisabledException": "the KMS key is switched off: enable it or choose another",
    "AccountProblem":
      "the store has closed or limited the account, for example because of an unpaid bill: ask its provider",
    "QuotaExceeded":
      "the store's quota is used up: delete what is not needed, or have the quota raised",
    "XMinioStorageFull":
      "the store's disks are full: delete what is not needed, or tell who runs the store",
    "NotSignedUp": "the account is not signed up for S3: sign it up, or use other credentials",
    "InvalidArgument": "the store does not accept the value of an option or header: its message says which",
    "InvalidRequest": "the store does not accept this key, or these options together: its message may say which",
    "InvalidBucketName": "a bucket's name has 3 to 63 lower-case letters, digits, dots and hyphens",
    "InvalidBucketState": "the bucket's settings do not allow this: object lock, for one, needs versioning",
    "InvalidURI": "the store cannot read this key: try one without unusual characters",
    "InvalidRange": "the object is shorter than the requested range: \(run: .headObject) shows its size",
    "InvalidPartNumber": S3Limits.partNumbersRemedy,
    "InvalidPartOrder": "the list of parts was not in order: give them in ascending order",
    "InvalidPayer": "the bucket's owner does not allow requests like this one: ask the owner",
    "InvalidEncryptionAlgorithmError":
      "the store does not support this encryption: choose another \(.serverSideEncryption), or none",
    "InvalidRegionName": "check \(.region)",
    "InvalidLocationConstraint": "check \(.region)",
    "IllegalLocationConstraintException": "the bucket is in another region: give it with \(.region)",
    "MalformedACLError": "check \(.accessControl) and \(.grants)",
    "MalformedXML": "the store cannot read the document that was sent: check that the endpoint is an S3 API",
    "MaxMessageLengthExceeded": "metadata and other headers are too long together: shorten them",
    "RequestHeaderSectionTooLarge": "metadata and other headers are too long together: shorten them",
    "KeyTooLong": "a key is at most 1,024 bytes of UTF-8",
    "MissingContentLength": "something on the way removes Content-Length: bypass the proxy",
    "MissingRequestBodyError": "something on the way removes the body: bypass the proxy",
    "UnexpectedContent": "something on the way adds to the request: bypass the proxy",
    "UserKeyMustBeSpecified": "the store expects a different kind of request: check that the endpoint is an S3 API",
    "MethodNotAllowed": "the endpoint may be a website or a proxy, not an S3 API",
    "NoSuchVersion": "check \(.versionID)",
    "ObjectLockConfigurationNotFoundError":
      "the bucket has no object lock: leave out \(.objectLockMode), \(.retainUntil) and \(.legalHold)",
    "AllAccessDisabled": "the store has disabled all access to this bucket: ask its owner",
    "BrokenMPU": "the store has lost the upload's state: begin a new one instead of resuming it (\(.resume, "never"))",
    "BucketAlreadyExists": "choose another name for the bucket",
    "BucketAlreadyOwnedByYou": "the bucket already exists",
    "KMS.InvalidStateException": "the KMS key cannot be used in its state: enable it or choose another",
    "BadDigest": "the bytes did not arrive as they were sent: run it again, and check the network and any proxy",
    "XAmzContentSHA256Mismatch": "the bytes did not arrive as they were sent: run it again, and check any proxy",
    "XAmzContentChecksumMismatch": "the bytes did not arrive as they were sent: run it again, and check any proxy",
    "RequestTimeout": "the store waited too long for bytes: lower \(.concurrency) on a slow line",
    "AuthorizationQueryParametersError": "the presigned URL is incomplete: put it in quotes",
    "InvalidObjectState": "the object is archived, or its storage class does not allow this: restore it first",
  ]
}
