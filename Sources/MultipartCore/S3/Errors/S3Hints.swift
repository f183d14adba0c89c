/// The way out of each trouble, in one line.
enum S3Hints {
  static func hint(
    _ code: Failure.Code, s3Code: String?, status: Int, operation: String, region: String?, body: S3ErrorBody
  ) -> String? {
    if body.saysExpires { return "the presigned URL has ended: ask for a new one" }
    if let region, isAboutRegion(s3Code, status: status) {
      return "the store names the region \(region): give it with --region \(region)"
    }
    if let s3Code, let hint = byCode[s3Code] { return hint }
    switch code {
    case .credentials: return permissions(of: operation)
    case .credentialsExpired: return "get new credentials and run the same command again"
    case .throttled: return "the store asks for less: lower --concurrency or set --limit-rate, or try again later"
    case .checksumUnsupported: return "choose another checksum with --checksum md5 or --checksum none"
    case .refused where status == 501: return "the store does not know this: leave out the option that asks for it"
    case .refused where status == 405: return "the endpoint is perhaps a website or a proxy, not an S3 API"
    case .refused where status == 404: return byCode["NoSuchBucket"]
    case _ where body.form == .other: return "the answer is not S3's: check --endpoint-url, and any proxy on the way"
    default: return nil
    }
  }

  private static func isAboutRegion(_ s3Code: String?, status: Int) -> Bool {
    switch s3Code {
    case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect", "Redirect",
      "IllegalLocationConstraintException", "InvalidRegionName":
      true
    case nil: status == 301 || status == 307 || status == 400
    default: false
    }
  }

  private static let byCode: [String: String] = [
    "NoSuchBucket": "check the bucket's name, the region and the endpoint",
    "NoSuchKey": "check the key: it is compared byte by byte, upper and lower case too",
    "NoSuchUpload": "the upload was completed, aborted or cleaned away: start it anew",
    "InvalidAccessKeyId": "this store does not know the access key: check the profile and the endpoint",
    "SignatureDoesNotMatch":
      "the secret key is not the access key's, or a proxy on the way changes requests; check both keys for stray spaces",
    "InvalidToken": "the session token is not whole, or belongs to other keys: get new credentials",
    "AuthorizationHeaderMalformed": "check the region and the access key",
    "RequestTimeTooSkewed": "this machine's clock is wrong: set it (timedatectl set-ntp true)",
    "RequestExpired": "this machine's clock is wrong, or the request waited too long: check the clock",
    "PermanentRedirect": "the bucket is in another region or at another endpoint: check --region and --endpoint-url",
    "PreconditionFailed": "the object is there already, or is another than the one asked for",
    "ConditionalRequestConflict": "another write to the same key was under way: run the command again",
    "EntityTooLarge": "a part or single PUT is at most 5 GiB: check --part-size",
    "EntityTooSmall": "every part but the last must have 5 MiB: check --part-size",
    "InvalidPart": "the store does not have a part as it was listed: start the upload anew with --resume never",
    "MetadataTooLarge": "metadata is at most 2 KiB, names and values together",
    "KeyTooLongError": "a key is at most 1,024 bytes of UTF-8",
    "InvalidStorageClass": "the store does not know this --storage-class",
    "InvalidTag": "a tag has a name of 1 to 128 and a value of up to 256 characters; an object has ten at most",
    "KMS.NotFoundException": "check --sse-kms-key-id, and that the key is in the bucket's region",
    "KMS.DisabledException": "the KMS key is switched off: enable it or choose another",
    "QuotaExceeded": "the store's quota is used up",
    "XMinioStorageFull": "the store's disks are full",
    "NotSignedUp": "the account has no S3: sign it up, or use other credentials",
    "InvalidObjectState": "the object is archived, or its storage class does not allow this: restore it first",
  ]

  /// What a policy must allow for each operation.
  static let permissions: [String: String] = [
    "CreateMultipartUpload":
      "s3:PutObject (kms:GenerateDataKey with KMS, s3:PutObjectTagging with tags, s3:PutObjectAcl with an ACL)",
    "UploadPart": "s3:PutObject (kms:GenerateDataKey and kms:Decrypt with KMS)",
    "CompleteMultipartUpload": "s3:PutObject (kms:Decrypt with KMS)",
    "AbortMultipartUpload": "s3:AbortMultipartUpload",
    "ListParts": "s3:ListMultipartUploadParts",
    "ListMultipartUploads": "s3:ListBucketMultipartUploads on the bucket",
    "PutObject":
      "s3:PutObject (kms:GenerateDataKey with KMS, s3:PutObjectTagging with tags, s3:PutObjectAcl with an ACL)",
    "HeadObject": "s3:GetObject (and s3:ListBucket, without which a missing object is answered 403)",
    "GetObject": "s3:GetObject (kms:Decrypt with KMS)",
    "HeadBucket": "s3:ListBucket on the bucket",
    "CreateSession": "s3express:CreateSession on the directory bucket",
  ]

  private static func permissions(of operation: String) -> String {
    permissions[operation].map { "\(operation) needs \($0)" } ?? "check the credentials and what they allow"
  }
}
