/// Sends a whole object in one request: `PUT /key`.
struct PutObject: S3Operation {
  static let name = OperationName(
    "PutObject",
    needs: "s3:PutObject (kms:GenerateDataKey with KMS, s3:PutObjectTagging with tags, s3:PutObjectAcl with an ACL)")

  typealias Output = WrittenObject

  var address: ObjectAddress
  var body: RequestBody
  var object: ObjectHeaders
  /// The header `x-amz-checksum-crc64nvme` or `Content-MD5`, with its value.
  var checksum: NamedValue?
  var payloadSHA256: String?
  var conditions: WriteConditions
  var encryption: ServerSideEncryption?

  init(
    _ address: ObjectAddress, body: RequestBody, object: ObjectHeaders = ObjectHeaders(),
    checksum: NamedValue? = nil, payloadSHA256: String? = nil, conditions: WriteConditions = WriteConditions(),
    encryption: ServerSideEncryption? = nil
  ) {
    self.address = address
    self.body = body
    self.object = object
    self.checksum = checksum
    self.payloadSHA256 = payloadSHA256
    self.conditions = conditions
    self.encryption = encryption
  }

  var place: Place { address.place }

  func request() throws(Failure) -> S3Request {
    var headers = S3HeaderBuilder()
    if let checksum { try headers.add(checksum.name, checksum.value) }
    try conditions.add(to: &headers)
    try headers.add(address, encryption)
    try object.add(to: &headers)
    var request = try S3Request(
      Self.name, .put, place: place, headers: headers.list, body: body, payloadSHA256: payloadSHA256)
    // Sent twice, the condition would fail because of the object that the first request created.
    request.mayBeResent = conditions == WriteConditions()
    return request
  }

  func output(from answer: Response) throws(Failure) -> Output {
    try requireSuccess(answer, carriedChecksum: checksum != nil)
    return WrittenObject(answer.headers)
  }
}

/// What a store says about the object that a request has created.
struct WrittenObject: Sendable, Equatable {
  /// The ETag as the store wrote it.
  var etag: String?
  /// The checksums that the store says it computed, by lower-case header name.
  var checksums: [String: String]
  var checksumType: String?
  var versionID: String?
  var encryption: EncryptionInfo
  var requestID: String?

  init(_ headers: HeaderList) {
    etag = ETag.text(headers.sole("ETag"))
    checksums = ChecksumHeaders.values(in: headers)
    checksumType = headers[HeaderName.checksumType]
    versionID = headers[HeaderName.versionID]
    encryption = EncryptionInfo(headers)
    requestID = S3ErrorBody.requestID(headers)
  }
}
