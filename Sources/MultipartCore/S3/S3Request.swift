/// An operation's name at AWS, and what a policy must grant for it.
struct OperationName: Sendable, Equatable, CustomStringConvertible {
  /// The name, such as `UploadPart`.
  let description: String
  /// The permission, such as `s3:PutObject (kms:Decrypt with KMS)`.
  let needs: String

  init(_ name: String, needs: String) {
    (description, self.needs) = (name, needs)
  }

  /// Compares names only, because the operation on a version needs more.
  static func == (left: Self, right: Self) -> Bool {
    left.description.utf8.elementsEqual(right.description.utf8)
  }
}

/// The request of an operation, before the store's address and the credentials are known: no URL, nothing encoded,
/// nothing signed.
struct S3Request: Sendable {
  /// The operation, for logs and messages.
  var operation: OperationName
  var method: HTTPMethod
  var query: [QueryItem]
  var headers: HeaderList
  var body: RequestBody
  /// Where the body of a 2xx answer goes.
  var sink: (any BodySink)?
  var place: Place
  /// The payload's SHA-256 in hex, if the caller has computed it. Nil for small bodies, which the client hashes itself.
  var payloadSHA256: String?
  /// The most bytes that the answer's body may have.
  var maximumAnswer: Int
  /// Whether the store may work for minutes before or during its answer: then silence is not a stall.
  var answerMayTakeLong: Bool
  /// Whether the store gives the same answer if the request arrives twice; otherwise a lost answer must be known as
  /// such.
  var mayBeResent = true
  /// Whether the body of a success contains keys.
  var answerHoldsSecrets = false

  init(
    _ operation: OperationName, _ method: HTTPMethod, place: Place, query: [QueryItem] = [], headers: HeaderList = [:],
    body: RequestBody = .none, sink: (any BodySink)? = nil, payloadSHA256: String? = nil,
    maximumAnswer: Int = 1 << 20, answerMayTakeLong: Bool = false, isAboutService: Bool = false
  ) throws(Failure) {
    if place.bucket?.isEmpty ?? !isAboutService {
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

  /// The request as it is sent, still without a signature.
  func wire(to bucket: BucketEndpoint) -> Request {
    let ofBucket = place.bucket == nil ? bucket.pathForService : bucket.pathForBucket
    let path = place.key.map { bucket.path(forKey: $0) } ?? ofBucket
    return wire(CanonicalURL(bucket.origin, path: path, query: query).text)
  }

  func wire(_ url: String) -> Request {
    var wire = Request(
      method: method, url: url, headers: headers, body: body, sink: sink, maximumAnswer: maximumAnswer)
    wire.mayBeResent = mayBeResent
    wire.answerHoldsSecrets = answerHoldsSecrets
    return wire
  }

  /// Whether a store without checksum support could fail on this request.
  var carriesChecksum: Bool {
    headers.fields.contains { ChecksumHeaders.isChecksum($0.name) }
  }
}

/// One call of the S3 API: what it sends, and what the answer means.
///
///     let object = try await client.perform(HeadObject(store.address("key")))
protocol S3Operation: Sendable {
  associatedtype Output: Sendable

  static var name: OperationName { get }
  /// The name of this request in logs and messages, and the permission that it needs.
  var operation: OperationName { get }
  var place: Place { get }

  func request() throws(Failure) -> S3Request
  /// Reads any answer, whatever its status; one that is not a success is thrown as a `Failure`.
  func output(from answer: Response) throws(Failure) -> Output
  /// A request whose headers show what this answer leaves open; nil if it leaves nothing open.
  func question(about answer: Response) -> GetObject?
  /// The answer together with what the question's answer has shown.
  func settled(_ answer: Response, by told: Response) throws(Failure) -> Response
}

extension S3Operation {
  var operation: OperationName { Self.name }
  func question(about answer: Response) -> GetObject? { nil }
  func settled(_ answer: Response, by told: Response) throws(Failure) -> Response { answer }

  /// Throws unless the answer is a success in status and in body: a `200 OK` can contain an `<Error>`.
  func requireSuccess(_ answer: Response, carriedChecksum: Bool = false) throws(Failure) {
    guard answer.isSuccess, !S3ErrorBody.isError(answer.body) else {
      throw Failure(answer: answer, operation: operation, place: place, carriedChecksum: carriedChecksum)
    }
  }

  /// The document of a successful answer.
  func document(_ answer: Response, carriedChecksum: Bool = false) throws(Failure) -> XMLTree {
    try requireSuccess(answer, carriedChecksum: carriedChecksum)
    do {
      return try XMLReader.read(answer.body)
    } catch {
      // Stores repeat a key with control characters, which XML cannot contain. The rest of the answer is needed: it may
      // have the only copy of the upload's id.
      if error == .malformed, place.key != nil, let tree = try? XMLReader.read(XMLReader.withoutControls(answer.body)) {
        return tree
      }
      throw unreadable(answer, error)
    }
  }

  /// The rules of a bucket's configuration; empty if it has none, which is the error `none`. S3 allows at most 1,000.
  func rules(
    _ answer: Response, _ name: String, of configuration: String, none: String
  ) throws(Failure) -> [XMLElement] {
    let tree: XMLTree
    do throws(Failure) {
      tree = try document(answer)
    } catch {
      if error.s3Code == none { return [] }
      throw error
    }
    guard let root = tree.root, root.isNamed(configuration) || root.first(name) != nil else {
      throw nonsense(answer, "the answer to \(operation) is not a list of rules")
    }
    return Array(root.children.lazy.filter { $0.isNamed(name) }.prefix(1000))
  }

  func unreadable(_ answer: Response, _ fault: XMLFault) -> Failure {
    switch fault {
    case .outOfMemory: Failure(.local, "no memory to read the answer to \(operation)").at(place)
    case .cutOff: nonsense(answer, "the answer to \(operation) is empty or cut off")
    case .malformed, .documentType: nonsense(answer, "the answer to \(operation) is not S3's XML")
    case .tooLarge: nonsense(answer, "the answer to \(operation) is larger than it can be")
    }
  }

  /// A success without usable content: nothing in it is believed, and a retry may help.
  func nonsense(_ answer: Response, _ message: String) -> Failure {
    Failure(.server, message, status: answer.status, requestID: S3ErrorBody.requestID(answer.headers)).at(place)
  }
}

/// One pair of a query, not encoded yet. Unlike a ``NamedValue`` it can lack a value: that is `?uploads`, and an empty
/// value is `?uploads=`; both are signed the same way.
struct QueryItem: Sendable, Equatable {
  var name: String
  var value: String?

  init(_ name: String, _ value: String? = nil) {
    self.name = name
    self.value = value
  }
}
