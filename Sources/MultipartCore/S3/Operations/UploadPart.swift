/// Sends one part: `PUT /key?partNumber=3&uploadId=…`.
package struct UploadPart: S3Operation {
  package static let name = "UploadPart"

  package struct Output: Sendable, Equatable {
    /// As the store wrote it, quotes included; some stores give none.
    package var etag: String?
    /// What the store says it computed, by lower-case header name: only what is here was verified.
    package var checksums: [String: String]
    package var encryption: EncryptionInfo
    package var requestID: String?
  }

  package var bucket: String
  package var key: String
  package var uploadID: String
  package var partNumber: Int
  package var body: RequestBody
  /// `x-amz-checksum-crc64nvme` or `Content-MD5`, with its value.
  package var checksum: NamedValue?
  package var payloadSHA256: String?
  package var customerKey: CustomerKey?
  package var common: CommonHeaders

  package init(
    bucket: String, key: String, uploadID: String, partNumber: Int, body: RequestBody, checksum: NamedValue? = nil,
    payloadSHA256: String? = nil, customerKey: CustomerKey? = nil, common: CommonHeaders = CommonHeaders()
  ) {
    self.bucket = bucket
    self.key = key
    self.uploadID = uploadID
    self.partNumber = partNumber
    self.body = body
    self.checksum = checksum
    self.payloadSHA256 = payloadSHA256
    self.customerKey = customerKey
    self.common = common
  }

  package var place: Place { Place(bucket: bucket, key: key, uploadID: uploadID, part: partNumber) }

  package func request() throws(Failure) -> S3Request {
    guard (1...10_000).contains(partNumber) else {
      throw Failure(.usage, "there is no part \(partNumber)", remedy: "parts are numbered from 1 to 10000").at(place)
    }
    var headers = S3HeaderBuilder()
    if let checksum { try headers.add(checksum.name, checksum.value) }
    try customerKey?.add(to: &headers)
    try common.add(to: &headers)
    return try S3Request(
      Self.name, .put, place: place,
      query: [S3Query("partNumber", String(partNumber)), S3Query("uploadId", uploadID)], headers: headers.list,
      body: body, payloadSHA256: payloadSHA256)
  }

  package func output(from answer: Response) throws(Failure) -> Output {
    try requireSuccess(answer, carriedChecksum: checksum != nil)
    return Output(
      etag: answer.headers["ETag"], checksums: ChecksumHeaders.values(in: answer.headers),
      encryption: EncryptionInfo(answer.headers), requestID: S3ErrorBody.requestID(answer.headers))
  }
}
