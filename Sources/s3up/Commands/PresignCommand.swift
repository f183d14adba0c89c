import MultipartCore

/// `s3up presign s3://BUCKET/KEY`: URLs for others, one a line. The store is asked for nothing but its region, where nobody names it.
struct PresignCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let url = try S3URL.object(try session.invocation.arguments("s3://BUCKET/KEY")[0])
    let options = try PresignOptions(session.invocation)
    let parts = try PresignedParts(options).parts
    let access = try await session.store(url.bucket)
    let place = Place(bucket: url.bucket, key: url.key)
    if access.endpoint.isAWS, access.settings.sources[.region] == nil {
      // A request would be sent on by a redirect; a URL that is given away is as good as its region.
      session.world.log(
        0, "nothing names the bucket's region, and AWS did not: the URL is for \(access.endpoint.region); give --region"
      )
    }
    for part in parts {
      let signed = try await access.signer.presigned(
        try request(options, part, place), expiresIn: .seconds(options.expires))
      try session.row(signed.url, json: json(signed, part.number))
    }
  }

  private func request(
    _ options: PresignOptions, _ part: PresignedParts.Part, _ place: Place
  ) throws(Failure) -> S3Request {
    var query = options.overrides.map { QueryItem($0.name, $0.value) }
    if let number = part.number, let id = options.uploadID {
      query += [QueryItem("partNumber", String(number)), QueryItem("uploadId", id)]
    }
    if let version = options.versionID { query.append(QueryItem("versionId", version)) }
    var headers = HeaderList()
    headers.add("Content-Type", options.contentType)
    headers.add("Content-MD5", part.md5)
    let connection = try ConnectionOptions(session.invocation)
    headers.add("x-amz-expected-bucket-owner", connection.expectedBucketOwner)
    headers.add("x-amz-request-payer", connection.requestPayer ? "requester" : nil as String?)
    return try S3Request("presign", method(options.method), place: place, query: query, headers: headers)
  }

  private func method(_ choice: PresignMethodChoice) -> HTTPMethod {
    switch choice {
    case .get: .get
    case .put: .put
    case .head: .head
    case .delete: .delete
    }
  }

  private func json(_ signed: SignedRequest, _ part: Int?) -> String {
    JSON.object([
      ("url", .string(signed.url)), ("method", .string(signed.method.rawValue)),
      ("headers", .object(signed.headers.fields.map { ($0.name, .string($0.value)) })),
      ("part", .optional(part)), ("expires", .optional(signed.expires?.iso8601)),
    ]).encoded
  }
}
