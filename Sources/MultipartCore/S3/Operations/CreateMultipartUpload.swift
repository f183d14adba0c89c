import MultipartBasics

/// Begins a multipart upload: `POST /key?uploads`.
struct CreateMultipartUpload: S3Operation {
  static let name = OperationName(
    "CreateMultipartUpload",
    needs: "s3:PutObject (kms:GenerateDataKey with KMS, s3:PutObjectTagging with tags, s3:PutObjectAcl with an ACL)")

  struct Output: Sendable, Equatable {
    var uploadID: String
    /// When a lifecycle rule of the bucket will abort the upload; nil without such a rule.
    var abortDate: Timestamp?
    var abortRuleID: String?
    var encryption: EncryptionInfo
    var requestID: String?
    /// The store's clock at the time of its answer.
    var date: Timestamp?
  }

  var address: ObjectAddress
  var object: ObjectHeaders
  var checksum: ChecksumAlgorithm?
  var encryption: ServerSideEncryption?

  init(
    _ address: ObjectAddress, object: ObjectHeaders = ObjectHeaders(), checksum: ChecksumAlgorithm? = nil,
    encryption: ServerSideEncryption? = nil
  ) {
    self.address = address
    self.object = object
    self.checksum = checksum
    self.encryption = encryption
  }

  var place: Place { address.place }

  func request() throws(Failure) -> S3Request {
    var headers = S3HeaderBuilder()
    try headers.add(HeaderName.checksumAlgorithm, checksum?.awsName)
    try headers.add(HeaderName.checksumType, checksum?.typeInParts?.rawValue)
    try headers.add(address, encryption)
    try object.add(to: &headers)
    var request = try S3Request(Self.name, .post, place: place, query: [QueryItem("uploads")], headers: headers.list)
    // Sent twice, it would create two uploads.
    request.mayBeResent = false
    return request
  }

  func output(from answer: Response) throws(Failure) -> Output {
    let tree = try document(answer, carriedChecksum: checksum?.awsName != nil)
    let headers = answer.headers
    // An id is sent back byte for byte, so it is not trimmed.
    guard let id = tree.first("UploadId")?.text, !ASCII.trimmed(id).isEmpty else {
      throw nonsense(answer, "the store began an upload but returned no upload id")
    }
    // Scripts read it as one line.
    guard !id.unicodeScalars.contains(where: SafeText.isHarmful) else {
      throw nonsense(answer, "the store returned an upload id that contains a control or invisible character")
    }
    guard !id.contains(Redaction.mask) else {
      throw nonsense(answer, "the store returned an upload id that repeats a secret of this run")
    }
    return Output(
      uploadID: id, abortDate: headers[HeaderName.abortDate].flatMap(DateText.http),
      abortRuleID: headers["x-amz-abort-rule-id"],
      encryption: EncryptionInfo(headers), requestID: S3ErrorBody.requestID(headers),
      date: headers["Date"].flatMap(DateText.http))
  }
}

extension S3HeaderBuilder {
  /// Adds the headers of a request that writes an object, encrypted with the store's key or with the caller's.
  mutating func add(_ address: ObjectAddress, _ encryption: ServerSideEncryption?) throws(Failure) {
    if encryption != nil, address.customerKey != nil {
      throw Failure(
        .usage, "an object is encrypted with the store's key or with yours (SSE-C), not with both",
        remedy: "leave out one of \(.serverSideEncryption) and \(.customerKey)")
    }
    try encryption?.add(to: &self)
    try add(address)
  }
}
