/// Whether the body's SHA-256 is part of a request's signature.
package enum PayloadSigning: String, Sendable, CaseIterable {
  /// Over plain HTTP, where nothing else guards the body.
  case auto, always, never
}

/// Speaks to one bucket: puts an operation at its URL, signs it at the moment it is sent, and reads the answer.
///
///     let object = try await client.perform(HeadObject(bucket: "b", key: "k"))
package struct S3Client: Sendable {
  package let bucket: BucketEndpoint
  package let payloadSigning: PayloadSigning
  package let stallTimeout: Duration
  let transport: any Transport
  let world: World
  private let signer: SigV4Signer
  /// Nil: nothing is signed.
  private let credentials: (@Sendable () async throws(Failure) -> Credentials)?
  private let clock: ClockOffset

  package init(
    bucket: BucketEndpoint, transport: any Transport, world: World, payloadSigning: PayloadSigning = .auto,
    stallTimeout: Duration = .seconds(30), credentials: (@Sendable () async throws(Failure) -> Credentials)?
  ) {
    self.bucket = bucket
    self.payloadSigning = payloadSigning
    self.stallTimeout = stallTimeout
    self.transport = transport
    self.world = world
    self.credentials = credentials
    signer = SigV4Signer(region: bucket.region, service: bucket.signingName)
    clock = ClockOffset()
  }

  /// Whether large bodies need their SHA-256 computed before they are sent.
  package var signsPayload: Bool {
    guard credentials != nil else { return false }
    return switch payloadSigning {
    case .always: true
    case .never: false
    case .auto: bucket.origin.scheme == .http
    }
  }

  package struct Call: Sendable {
    package var freshConnection = false
    package var onSent: (@Sendable (Int64) -> Void)?

    package init(freshConnection: Bool = false, onSent: (@Sendable (Int64) -> Void)? = nil) {
      self.freshConnection = freshConnection
      self.onSent = onSent
    }
  }

  /// One try. A clock that the store finds wrong is corrected from its answer and the request sent once more.
  package func perform<Operation: S3Operation>(
    _ operation: Operation, _ call: Call = Call()
  ) async throws(Failure) -> Operation.Output {
    let request = try operation.request()
    do throws(Failure) {
      let answer = try await exchange(request, call)
      guard clock.learn(from: answer, now: world.now()) else { return try operation.output(from: answer) }
      world.log(1, "the clock here is \(clock.offset) s off the store's; corrected for this run")
      return try operation.output(from: try await exchange(request, call))
    } catch {
      throw error.at(request.place)
    }
  }

  /// Tries as often as the policy says: for the single steps, where no engine decides.
  package func perform<Operation: S3Operation>(
    _ operation: Operation, retrying policy: RetryPolicy
  ) async throws(Failure) -> Operation.Output {
    var attempt = 1
    while true {
      do throws(Failure) {
        return try await perform(operation, Call(freshConnection: false))
      } catch {
        guard let wait = policy.wait(after: error, attempt: attempt, dice: world.random()) else { throw error }
        world.log(1, "\(Operation.name), try \(attempt + 1) of \(policy.tries) in \(wait): \(error.message)")
        guard (try? await world.sleep(wait)) != nil else { throw error }
        attempt += 1
      }
    }
  }

  /// A request of this client as one value, in the header form.
  package func signed(_ request: S3Request) async throws(Failure) -> SignedRequest {
    let unsigned = try unsigned(request)
    guard let credentials else { return try .unsigned(unsigned) }
    return try signer.sign(unsigned, credentials: try await credentials(), at: clock.corrected(world.now()))
  }

  /// The query form: a URL that anybody can use until it ends.
  package func presigned(_ request: S3Request, expiresIn lifetime: Duration) async throws(Failure) -> SignedRequest {
    guard let credentials else {
      throw Failure(.usage, "a URL cannot be presigned without credentials", hint: "leave --no-sign-request out")
    }
    var unsigned = try unsigned(request)
    unsigned.payload = .unsigned
    return try signer.presign(
      unsigned, credentials: try await credentials(), at: clock.corrected(world.now()), expiresIn: lifetime)
  }

  private func exchange(_ request: S3Request, _ call: Call) async throws(Failure) -> Response {
    try await exchange(try await signed(request), of: request, call)
  }

  /// Sends what was signed, here or elsewhere: nothing from here on knows which form it has.
  package func exchange(
    _ signed: SignedRequest, of request: S3Request, _ call: Call = Call()
  ) async throws(Failure) -> Response {
    var wire = Request(
      method: signed.method, url: signed.url, headers: signed.headers, body: request.body, sink: request.sink,
      // An answer that takes its time may stay silent for minutes while the store assembles.
      stallTimeout: request.answerMayTakeLong ? max(stallTimeout, .seconds(600)) : stallTimeout,
      maximumAnswer: request.maximumAnswer, onSent: call.onSent)
    wire.freshConnection = call.freshConnection
    world.log(2, "> \(request.operation) \(signed)" + Self.shown(signed.redactedHeaders))
    do throws(Failure) {
      let answer = try await transport.send(wire)
      world.log(2, "< \(answer.status) to \(request.operation)" + Self.shown(answer.headers))
      return answer
    } catch {
      world.log(2, "< \(request.operation) failed: \(error.message)")
      throw error
    }
  }

  private func unsigned(_ request: S3Request) throws(Failure) -> UnsignedRequest {
    UnsignedRequest(
      method: request.method, origin: bucket.origin,
      path: request.key.map { bucket.path(forKey: $0) } ?? bucket.pathForBucket,
      query: request.query.map { QueryItem($0.name, $0.value) }, headers: request.headers,
      payload: try payload(request))
  }

  /// Small bodies are always hashed; of a large one the caller knows the hash, or it is left to TLS.
  private func payload(_ request: S3Request) throws(Failure) -> PayloadHash {
    switch request.body {
    case .none: .empty
    case .bytes(let bytes): .sha256(try sha256(bytes, known: request.payloadSHA256))
    case .source: request.payloadSHA256.map { .sha256($0) } ?? .unsigned
    }
  }

  private func sha256(_ bytes: [UInt8], known: String?) throws(Failure) -> String {
    if let known { return known }
    return Hex.encode(try Digest.sha256(bytes))
  }

  private static func shown(_ headers: HeaderList) -> String {
    headers.fields.map { "\n    " + SecretHeaders.shown($0) }.joined()
  }
}
