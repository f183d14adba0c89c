/// What an operation asks of a store, before it is known where the store is and who asks: no URL, nothing encoded,
/// nothing signed.
package struct S3Request: Sendable {
  /// As AWS names it, `UploadPart`: for logs and messages.
  package var operation: String
  package var method: HTTPMethod
  package var query: [QueryItem]
  package var headers: HeaderList
  package var body: RequestBody
  /// Where the body of a 2xx answer goes.
  package var sink: (any BodySink)?
  package var place: Place
  /// Hex, when the caller has computed it. Nil for the small bodies that the client can hash itself.
  package var payloadSHA256: String?
  /// What the body of the answer may be at most.
  package var maximumAnswer: Int
  /// The store may work for minutes before, or while, it answers: silence is not a stall.
  package var answerMayTakeLong: Bool
  /// The store answers the same when it comes twice; else a lost answer must be known as such.
  package var mayBeResent = true
  /// The body of a success is keys.
  package var answerHoldsSecrets = false

  package init(
    _ operation: String, _ method: HTTPMethod, place: Place, query: [QueryItem] = [], headers: HeaderList = [:],
    body: RequestBody = .none, sink: (any BodySink)? = nil, payloadSHA256: String? = nil,
    maximumAnswer: Int = 1 << 20, answerMayTakeLong: Bool = false
  ) throws(Failure) {
    if place.bucket?.isEmpty ?? true {
      throw Failure(.usage, "\(operation) needs the name of a bucket").at(place)
    }
    if let key = place.key, key.isEmpty { throw Failure(.usage, "\(operation) needs a key").at(place) }
    if let id = place.uploadID, id.isEmpty { throw Failure(.usage, "\(operation) needs an upload id").at(place) }
    self.operation = operation
    self.method = method
    self.query = query
    self.headers = headers
    self.body = body
    self.sink = sink
    self.place = place
    self.payloadSHA256 = payloadSHA256
    self.maximumAnswer = maximumAnswer
    self.answerMayTakeLong = answerMayTakeLong
  }

  /// What goes on the wire, still without a signature.
  func wire(to bucket: BucketEndpoint) -> Request {
    let path = place.key.map { bucket.path(forKey: $0) } ?? bucket.pathForBucket
    return wire(CanonicalURL(bucket.origin, path: path, query: query).text)
  }

  func wire(_ url: String) -> Request {
    var wire = Request(
      method: method, url: url, headers: headers, body: body, sink: sink, maximumAnswer: maximumAnswer)
    wire.mayBeResent = mayBeResent
    wire.answerHoldsSecrets = answerHoldsSecrets
    return wire
  }

  /// Whether a store that knows no checksums could stumble over this request.
  package var carriesChecksum: Bool {
    headers.fields.contains { ChecksumHeaders.isChecksum($0.name) }
  }
}

/// One call of the S3 API: what it sends, and what the answer means.
///
///     let operation = HeadObject(bucket: "b", key: "k")
///     let answer = try await client.send(operation.request())
///     let object = try operation.output(from: answer)
package protocol S3Operation: Sendable {
  associatedtype Output: Sendable

  static var name: String { get }
  var place: Place { get }

  func request() throws(Failure) -> S3Request
  /// Reads any answer, whatever its status; one that is not a success is thrown as the `Failure` it means.
  func output(from answer: Response) throws(Failure) -> Output
}

extension S3Operation {
  /// Throws unless the answer is a success in status and in body: a `200 OK` can hold an `<Error>`.
  func requireSuccess(_ answer: Response, carriedChecksum: Bool = false) throws(Failure) {
    guard (200..<300).contains(answer.status), !S3ErrorBody.isError(answer.body) else {
      throw Failure(answer: answer, operation: Self.name, place: place, carriedChecksum: carriedChecksum)
    }
  }

  /// The document of a successful answer.
  func document(_ answer: Response, carriedChecksum: Bool = false) throws(Failure) -> XMLTree {
    try requireSuccess(answer, carriedChecksum: carriedChecksum)
    do {
      return try XMLReader.read(answer.body)
    } catch {
      throw unreadable(answer, error)
    }
  }

  func unreadable(_ answer: Response, _ fault: XMLFault) -> Failure {
    switch fault {
    case .outOfMemory: Failure(.local, "no memory to read the answer to \(Self.name)").at(place)
    case .cutOff: nonsense(answer, "the answer to \(Self.name) is empty or cut off")
    case .malformed, .documentType: nonsense(answer, "the answer to \(Self.name) is not S3's XML")
    case .tooLarge: nonsense(answer, "the answer to \(Self.name) is larger than it can be")
    }
  }

  /// A success that says nothing usable: nothing is believed, and a try more may help.
  func nonsense(_ answer: Response, _ message: String) -> Failure {
    Failure(.server, message, status: answer.status, requestID: S3ErrorBody.requestID(answer.headers)).at(place)
  }
}
