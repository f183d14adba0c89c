import MultipartBasics

/// Begins a session at a directory bucket: `GET /?session`, signed with the ordinary credentials. Its keys sign the
/// requests that follow.
struct CreateSession: S3Operation {
  static let name = OperationName("CreateSession", needs: "s3express:CreateSession on the directory bucket")

  struct Output: Sendable {
    var credentials: Credentials
    /// How long the session is valid, by the store's clock.
    var lifetime: Duration
  }

  var bucket: String
  /// The encryption of the objects to be written: requests of the session cannot choose another.
  var encryption: ServerSideEncryption?

  /// The lifetime that AWS documents.
  private static let standardLifetime = Duration.seconds(300)

  var place: Place { Place(bucket: bucket) }

  func request() throws(Failure) -> S3Request {
    var headers = S3HeaderBuilder()
    try headers.add("x-amz-create-session-mode", "ReadWrite")
    try encryption?.add(to: &headers)
    var request = try S3Request(
      Self.name, .get, place: place, query: [QueryItem("session")], headers: headers.list, maximumAnswer: 64 << 10)
    request.answerHoldsSecrets = true
    return request
  }

  func output(from answer: Response) throws(Failure) -> Output {
    let tree = try document(answer)
    func text(_ name: String) throws(Failure) -> String {
      guard let text = tree.first(name).map({ ASCII.trimmed($0.text) }), !text.isEmpty, text.utf8.count <= 16 << 10,
        text.utf8.allSatisfy(ASCII.isVisible)
      else { throw nonsense(answer, "the answer to \(operation) has no \(name)") }
      return text
    }
    let credentials = Credentials(
      accessKeyID: try text("AccessKeyId"), secretAccessKey: Secret(try text("SecretAccessKey")),
      sessionToken: Secret(try text("SessionToken")),
      expiration: tree.first("Expiration").flatMap { DateText.iso8601($0.text) },
      source: "session at the directory bucket")
    return Output(credentials: credentials, lifetime: Self.lifetime(answer, tree))
  }

  /// The expiry minus the answer's own `Date`, because this machine's clock may be wrong. At most an hour is accepted.
  private static func lifetime(_ answer: Response, _ tree: XMLTree) -> Duration {
    guard let end = tree.first("Expiration").flatMap({ DateText.iso8601($0.text) }),
      let now = answer.headers["Date"].flatMap(DateText.http), end > now
    else { return standardLifetime }
    return .seconds(min(end.seconds - now.seconds, 3600))
  }
}
