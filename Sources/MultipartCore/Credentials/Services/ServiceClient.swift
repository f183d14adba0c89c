/// Requests to the services that issue credentials (STS, SSO, Cognito, the metadata of machines and containers), over
/// the transport, signer and retry policy that uploads use.
struct ServiceClient: Sendable {
  let transport: any Transport
  let world: World
  var retry = RetryPolicy(tries: 4)

  /// A request before it is signed. `name` is for messages: `AssumeRole of STS`.
  struct Question: Sendable {
    var name: String
    var method: HTTPMethod
    var origin: Origin
    /// The path, encoded once; begins with `/`.
    var path: String
    var query: [QueryItem] = []
    var headers: HeaderList = [:]
    var body: [UInt8] = []
    /// Secrets in the body; those in headers and query are recognized by their names.
    var secrets: [Secret] = []
    /// The limit for each try as a whole.
    var timeLimit: Duration = .seconds(30)
    var bypassesProxy = false
    /// What to do if nothing answers at this address; nil: check the network.
    var unanswered: Wording?
    /// Whether the path is hidden from logs, because anyone who knows it can request keys.
    var hidesPath = false

    init(_ name: String, _ method: HTTPMethod, _ origin: Origin, path: String = "/") {
      self.name = name
      self.method = method
      self.origin = origin
      self.path = path
    }
  }

  typealias Signature = (signer: SigV4Signer, credentials: Credentials)

  /// Asks until `read` accepts an answer or no try is left. The retry policy covers each try as a whole; it is this
  /// client's unless another one is given.
  func ask<Value: Sendable>(
    _ question: Question, retrying policy: RetryPolicy? = nil,
    _ read: @Sendable (Response) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await (policy ?? retry).run(question.name, in: world) { (_) async throws(Failure) in
      try read(try await answer(to: question))
    }
  }

  /// Treats an answer that asks to retry later, or reports a problem of the service itself, as a failed try. For any
  /// other answer the caller decides whether it is a success.
  static func settled(_ answer: Response, to name: String) throws(Failure) -> Response {
    let meaning = meaning(of: answer.status)
    guard meaning != .credentials else { return answer }
    throw Failure(meaning, "\(name) was answered \(answer.status)", status: answer.status)
  }

  /// What the status of a refusal means if its code says nothing else.
  static func meaning(of status: Int) -> Failure.Code {
    switch status {
    case 408: .network
    case 429, 503: .throttled
    case 500...: .server
    default: .credentials
    }
  }

  /// One try, whatever the answer. With `signature` the request is signed with these credentials, at `time`, by default
  /// now.
  func answer(
    to question: Question, signedBy signature: Signature? = nil, at time: Timestamp? = nil
  ) async throws(Failure) -> Response {
    var request = Request(
      method: question.method, origin: question.origin, path: question.path, query: question.query,
      headers: question.headers, body: question.body.isEmpty ? .none : .bytes(question.body))
    if let signature {
      request = try signature.signer.sign(request, credentials: signature.credentials, at: time ?? world.now())
    }
    request.maximumAnswer = 1 << 20
    request.answerHoldsSecrets = true
    for secret in question.secrets { world.secrets.add(secret) }
    if let credentials = signature?.credentials { world.secrets.add(credentials) }
    request.stallTimeout = question.timeLimit
    request.timeLimit = question.timeLimit
    request.bypassesProxy = question.bypassesProxy
    // The query and the body may contain tokens: neither is shown.
    let path = question.hidesPath ? "/…" : question.path
    world.log(2, "> \(question.name): \(question.method.rawValue) \(question.origin)\(path)")
    do throws(Failure) {
      let answer = try await transport.send(request)
      world.log(2, "< \(answer.status) to \(question.name)")
      return answer
    } catch {
      world.log(2, "< \(question.name) failed: \(error.message)")
      throw Self.named(error, question)
    }
  }

  /// Names the service that could not be asked: the general remedies are about the store.
  private static func named(_ error: Failure, _ question: Question) -> Failure {
    var failure = error
    switch error.code {
    case .network, .stalled:
      failure.remedy = question.unanswered ?? "check the network and the proxy, which must lead to \(question.origin)"
    case .tls:
      failure.remedy =
        "name its certificate authority with \(.caBundle), or check that \(question.origin) is the right address"
    default: return error
    }
    failure.message = "no answer to \(question.name) from \(question.origin): \(error.message)"
    return failure
  }
}
