/// Sends one part: `PUT /key?partNumber=3&uploadId=…`.
struct UploadPart: S3Operation {
  static let name = OperationName(
    "UploadPart",
    needs: "s3:PutObject (kms:GenerateDataKey and kms:Decrypt with KMS)")

  struct Output: Sendable, Equatable {
    /// The ETag as the store wrote it, including the quotes; some stores send none.
    var etag: String?
    /// The checksums that the store says it computed, by lower-case header name: only these were verified.
    var checksums: [String: String]
    var encryption: EncryptionInfo
    var requestID: String?
  }

  var address: ObjectAddress
  var uploadID: String
  var partNumber: Int
  var body: RequestBody
  /// The header `x-amz-checksum-crc64nvme` or `Content-MD5`, with its value.
  var checksum: NamedValue?
  var payloadSHA256: String?

  init(
    _ address: ObjectAddress, uploadID: String, partNumber: Int, body: RequestBody, checksum: NamedValue? = nil,
    payloadSHA256: String? = nil
  ) {
    self.address = address
    self.uploadID = uploadID
    self.partNumber = partNumber
    self.body = body
    self.checksum = checksum
    self.payloadSHA256 = payloadSHA256
  }

  var place: Place { address.place(uploadID: uploadID, part: partNumber) }

  func request() throws(Failure) -> S3Request {
    try S3Limits.check(partNumber: partNumber, of: place)
    var headers = S3HeaderBuilder()
    if let checksum { try headers.add(checksum.name, checksum.value) }
    try headers.add(address)
    return try S3Request(
      Self.name, .put, place: place,
      query: [QueryItem("partNumber", String(partNumber)), QueryItem("uploadId", uploadID)], headers: headers.list,
      body: body, payloadSHA256: payloadSHA256)
  }

  func output(from answer: Response) throws(Failure) -> Output {
    try requireSuccess(answer, carriedChecksum: checksum != nil)
    return Output(
      etag: ETag.text(answer.headers.sole("ETag")), checksums: ChecksumHeaders.values(in: answer.headers),
      encryption: EncryptionInfo(answer.headers), requestID: S3ErrorBody.requestID(answer.headers))
  }
}
