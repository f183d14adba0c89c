extension Store {
  /// Begins a multipart upload.
  public func createUpload(
    _ key: String, _ options: UploadOptions = UploadOptions()
  ) async throws(Failure) -> MultipartUpload {
    try await CreationOfUpload(self, key: key, options).run().upload
  }

  /// An upload that was begun elsewhere. Sends no request.
  public func multipartUpload(
    _ key: String, uploadID: String, customerKey: CustomerKey? = nil
  ) throws(Failure) -> MultipartUpload {
    try checkKey(customerKey)
    return MultipartUpload(self, address(key, customerKey: customerKey), uploadID: uploadID)
  }

  /// What a HEAD request returns about an object; nil if it does not exist.
  public func head(_ key: String, customerKey: CustomerKey? = nil) async throws(Failure) -> ObjectInfo? {
    try checkKey(customerKey)
    let head = HeadObject(address(key, customerKey: customerKey))
    guard case .exists(let object) = try await client.perform(head, retrying: retry) else { return nil }
    return object
  }

  /// A URL that anyone can use until it expires: after 7 days at most, and no later than the credentials that sign it.
  public func presign(
    _ method: PresignedURL.Method, _ key: String, for lifetime: Duration, _ options: PresignOptions = PresignOptions()
  ) async throws(Failure) -> PresignedURL {
    var query = options.answerHeaders.map { QueryItem($0.name, $0.value) }
    guard (options.partNumber == nil) == (options.uploadID == nil), options.uploadID?.isEmpty != true else {
      throw Failure(
        .usage,
        "the URL of a part needs both the number of the part and the id of its upload: without one it would replace the whole object",
        remedy: "set both, or neither")
    }
    if let number = options.partNumber, let id = options.uploadID {
      try S3Limits.check(partNumber: number, of: address(key).place)
      query += [QueryItem("partNumber", String(number)), QueryItem("uploadId", id)]
    }
    // Query parameters, so that the user of the URL need not send headers.
    if options.givesChecksums { query.append(QueryItem(HeaderName.checksumMode, "ENABLED")) }
    if let version = options.versionID { query.append(QueryItem("versionId", version)) }
    query += try address.common.list().fields.map { QueryItem($0.name, $0.value) }
    var headers = S3HeaderBuilder()
    try headers.add("Content-Type", options.contentType)
    try headers.add(HeaderName.contentMD5, options.contentMD5)
    let request = try S3Request(
      OperationName("presign", needs: "what its method needs"), method.http, place: address(key).place,
      query: query, headers: headers.list)
    return PresignedURL(try await signer.presigned(request, expiresIn: lifetime), method)
  }
}
