/// Reads an object or a range of it: `GET /key`. The bytes go into the sink if there is one, else into the output.
struct GetObject: S3Operation {
  static let name = OperationName("GetObject", needs: "s3:GetObject (kms:Decrypt with KMS)")

  struct Output: Sendable, Equatable {
    var object: ObjectInfo
    /// The range that the store sends; nil for the whole object.
    var contentRange: String?
    var body: [UInt8]
  }

  var address: ObjectAddress
  var range: ClosedRange<Int64>?
  var ifMatch: String?
  var versionID: String?
  var wantsChecksums: Bool
  var sink: (any BodySink)?
  /// The longest body accepted; with a sink, that of an error.
  var maximumAnswer: Int

  init(
    _ address: ObjectAddress, range: ClosedRange<Int64>? = nil, ifMatch: String? = nil,
    versionID: String? = nil, wantsChecksums: Bool = true, sink: (any BodySink)? = nil, maximumAnswer: Int = 8 << 20
  ) {
    self.address = address
    self.range = range
    self.ifMatch = ifMatch
    self.versionID = versionID
    self.wantsChecksums = wantsChecksums
    self.sink = sink
    self.maximumAnswer = maximumAnswer
  }

  var place: Place { address.place }
  var operation: OperationName {
    versionID == nil ? Self.name : OperationName("GetObject", needs: "s3:GetObjectVersion (kms:Decrypt with KMS)")
  }

  func request() throws(Failure) -> S3Request {
    var query: [QueryItem] = []
    if let versionID { query.append(QueryItem("versionId", versionID)) }
    var headers = S3HeaderBuilder()
    if let range {
      guard range.lowerBound >= 0 else {
        throw Failure(.usage, "a range begins at 0 or later").at(place)
      }
      let end = range.upperBound == .max ? "" : String(range.upperBound)
      try headers.add("Range", "bytes=\(range.lowerBound)-\(end)")
    }
    try headers.add(HeaderName.ifMatch, ifMatch.map(WriteConditions.quoted))
    try headers.add(HeaderName.checksumMode, wantsChecksums ? "ENABLED" : nil)
    try headers.add(address)
    return try S3Request(
      operation, .get, place: place, query: query, headers: headers.list, sink: sink, maximumAnswer: maximumAnswer)
  }

  func output(from answer: Response) throws(Failure) -> Output {
    // The body of a success is the object, so it is not searched for an error.
    guard answer.status == 200 || answer.status == 206 else {
      throw Failure(answer: answer, operation: operation, place: place)
    }
    return Output(
      object: ObjectInfo(answer), contentRange: answer.headers["Content-Range"],
      body: sink == nil ? answer.body : [])
  }
}
