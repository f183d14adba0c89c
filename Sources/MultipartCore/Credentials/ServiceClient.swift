/// Asks the services that hand out credentials (STS, SSO, Cognito, the metadata of machines and containers) over the
/// transport, signer and retry policy that uploads have.
package struct ServiceClient: Sendable {
  package let transport: any Transport
  package let world: World
  package var retry = RetryPolicy(tries: 4)

  package init(transport: any Transport, world: World) {
    self.transport = transport
    self.world = world
  }

  /// What is asked, before it is signed. `name` is how messages call it: `AssumeRole of STS`.
  package struct Question: Sendable {
    package var name: String
    package var method: HTTPMethod
    package var origin: Origin
    /// Encoded once, begins with `/`.
    package var path: String
    package var query: [QueryItem] = []
    package var headers: HeaderList = [:]
    package var body: [UInt8] = []
    /// Those in the body; those in headers and query are known by their names.
    package var secrets: [Secret] = []
    /// For each try as a whole.
    package var timeLimit: Duration = .seconds(30)
    package var bypassesProxy = false
    /// Who knows the path may ask too: it is in no log.
    package var hidesPath = false

    package init(_ name: String, _ method: HTTPMethod, _ origin: Origin, path: String = "/") {
      self.name = name
      self.method = method
      self.origin = origin
      self.path = path
    }
  }

  /// Asks until there is an answer below 500 that does not ask to come back later, or the tries are over. Whether it is
  /// a yes is for the caller to read. With `signedBy` the request carries a signature of these credentials.
  package func ask(
    _ question: Question, signedBy signature: (signer: SigV4Signer, credentials: Credentials)? = nil
  ) async throws(Failure) -> Response {
    try await retry.run(question.name, in: world) { (_) async throws(Failure) in
      let answer = try await askOnce(question, signedBy: signature)
      if answer.status >= 500 || answer.status == 429 {
        throw Failure(
          answer.status == 429 || answer.status == 503 ? .throttled : .server,
          "\(question.name) was answered \(answer.status)", status: answer.status)
      }
      return answer
    }
  }

  /// One try, whatever the answer: for those who judge by more than its status.
  func askOnce(
    _ question: Question, signedBy signature: (signer: SigV4Signer, credentials: Credentials)? = nil
  ) async throws(Failure) -> Response {
    let unsigned = UnsignedRequest(
      method: question.method, origin: question.origin, path: question.path, query: question.query,
      headers: question.headers, payload: .sha256(Hex.encode(try Digest.sha256(question.body))))
    let signed: SignedRequest =
      if let signature {
        try signature.signer.sign(unsigned, credentials: signature.credentials, at: world.now())
      } else {
        try .unsigned(unsigned)
      }
    var request = Request(
      method: signed.method, url: signed.url, headers: signed.headers,
      body: question.body.isEmpty ? .none : .bytes(question.body), stallTimeout: question.timeLimit,
      maximumAnswer: 1 << 20)
    // Left out of what is not signed; here it is the caller's own token.
    if signature == nil { request.headers.add("Authorization", question.headers["Authorization"]) }
    request.answerHoldsSecrets = true
    for secret in question.secrets { world.secrets.add(secret) }
    if let credentials = signature?.credentials { world.secrets.add(credentials) }
    request.timeLimit = question.timeLimit
    request.bypassesProxy = question.bypassesProxy
    // The query and the body may hold tokens: neither is shown.
    let path = question.hidesPath ? "/…" : question.path
    world.log(2, "> \(question.name): \(question.method.rawValue) \(question.origin)\(path)")
    do throws(Failure) {
      let answer = try await transport.send(request)
      world.log(2, "< \(answer.status) to \(question.name)")
      return answer
    } catch {
      world.log(2, "< \(question.name) failed: \(error.message)")
      throw error
    }
  }
}
