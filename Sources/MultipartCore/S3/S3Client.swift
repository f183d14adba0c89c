import MultipartBasics

/// Sends operations to a store and reads the answers.
///
///     let object = try await client.perform(HeadObject(store.address("key")))
struct S3Client: Sendable {
  let signer: any RequestSigner
  let transport: any Transport
  let world: World
  let stallTimeout: Duration
  /// How long an answer may take if the store has to work for it, such as assembling the parts.
  let answerTimeout: Duration
  /// Whether each answer ends its connection.
  var closesConnections = false
  /// How long connecting may take.
  private let connectTimeout: Duration
  private let contact = Locked(Contact())

  private struct Contact {
    /// Whether a store has answered in this run.
    var hasAnswered = false
    /// Whether it has granted a request, so that the credentials are right.
    var hasGranted = false
    /// When the request that waits for the first answer of the run was sent.
    var waitingSince: Duration?
  }

  /// How long a store may be silent by default. Some copy each part during that time; a dead line shows before that, by
  /// the kernel's own probes.
  static let patience = Duration.seconds(600)

  init(
    signer: any RequestSigner, transport: any Transport, world: World, stallTimeout: Duration = .seconds(30),
    answerTimeout: Duration = patience, connectTimeout: Duration = TransportOptions().connectTimeout
  ) {
    self.answerTimeout = answerTimeout
    self.connectTimeout = connectTimeout
    self.signer = signer
    self.transport = transport
    self.world = world
    self.stallTimeout = stallTimeout
  }

  var signsPayload: Bool { signer.signsPayload }

  /// The current activity of a run, including states that its machine does not know.
  func activity(of progress: TransferProgress) -> UploadActivity {
    if signer.waitsForCredentials { return .waitingForCredentials }
    switch progress.activity {
    case .starting, .looking:
      // Most stores answer sooner.
      guard let since = contact.withLock({ $0.waitingSince }), world.uptime() - since >= .seconds(1) else { break }
      return .connecting(until: since + connectTimeout)
    case .sending where progress.awaitsAnswers: return .waitingForAnswers
    default: break
    }
    return progress.activity
  }

  /// Makes one try. What a refusal teaches (a clock that is off, another region, an expired session) is applied, and
  /// the request is sent once more for each kind of lesson. `prepare` can make last changes to the request.
  func perform<Operation: S3Operation>(
    _ operation: Operation, _ prepare: @Sendable (inout Request) -> Void = { _ in }
  ) async throws(Failure) -> Operation.Output {
    let request = try operation.request()
    var learnt: [Int: Int] = [:]
    do throws(Failure) {
      while true {
        var (answer, signed) = try await exchange(request, prepare)
        if let told = try await told(about: answer, to: operation) {
          answer = try operation.settled(answer, by: told)
        }
        guard let lesson = signer.learn(from: answer, to: signed, now: world.now()),
          learnt[lesson.kind, default: 0] < lesson.tries,
          try await heed(lesson, answer, request)
        else {
          let output = try operation.output(from: answer)
          if let note = signer.takeClockNote() { world.log(0, "\(note); corrected for this run") }
          return output
        }
        learnt[lesson.kind, default: 0] += 1
      }
    } catch {
      // A successful answer can also contain an error, and only whole secrets were masked in it.
      throw world.secrets.masked(explained(error)).at(request.place)
    }
  }

  /// The answer to the operation's question about this one; nil if it has none. Once a request has succeeded the
  /// credentials are right, and a 403 is about a permission.
  private func told(about answer: Response, to operation: some S3Operation) async throws(Failure) -> Response? {
    guard signer.signsEverything, var question = operation.question(about: answer),
      answer.status != 403 || !contact.withLock({ $0.hasGranted })
    else { return nil }
    let sink = HeadSink()
    question.sink = sink
    do throws(Failure) {
      return try await exchange(question.request(), { _ in }).answer
    } catch {
      guard answer.isSuccess else { return nil }
      guard let head = sink.head else { throw error }
      return head
    }
  }

  private func explained(_ failure: Failure) -> Failure {
    if failure.code == .credentials, failure.status != nil, signer.isAnonymous {
      var failure = failure
      failure.remedy = "the request was not signed, and not everybody may do this: leave \(off: .signsRequests) out"
      return failure
    }
    var failure = failure
    // What is settled was explained where it was decided.
    if signer.knowsOneRequest, !failure.isSettled, let remedy = S3Hints.remedy(forURL: failure) {
      failure.remedy = remedy
      return failure
    }
    // A source that was asked for new ones has said what to do.
    if failure.code == .credentialsExpired, failure.status != nil, !failure.isSettled,
      let source = signer.credentialSource
    {
      failure.remedy = "get new credentials; the expired ones came from: \(source)"
    }
    guard [.credentials, .credentialsExpired, .clockSkew].contains(failure.code), failure.status != nil,
      let note = signer.clockNote
    else { return failure }
    failure.message += "; \(note)"
    return failure
  }

  /// Applies a lesson; false if the request would fail in the same way again.
  private func heed(_ lesson: Lesson, _ answer: Response, _ request: S3Request) async throws(Failure) -> Bool {
    guard case .credentials(let generation) = lesson else {
      try tell(lesson)
      return true
    }
    return try await signer.renew(after: generation, cause: Failure(answer: answer, to: request))
  }

  private func tell(_ lesson: Lesson) throws(Failure) {
    switch lesson {
    // The clock is reported once its correction has helped.
    case .credentials, .clock: break
    case .region(let sentence): if let sentence { world.log(0, sentence) }
    case .session: world.log(1, "the session at the directory bucket ended; starting a new one")
    case .refusal(var failure):
      failure.isSettled = true
      throw failure
    }
  }

  /// Tries as often as the policy says: for the single steps, which run without an engine.
  func perform<Operation: S3Operation>(
    _ operation: Operation, retrying policy: RetryPolicy
  ) async throws(Failure) -> Operation.Output {
    try await policy.run(operation.operation.description, in: world) { (attempt) async throws(Failure) in
      try await perform(operation)
    }
  }

  private func exchange(
    _ request: S3Request, _ prepare: (inout Request) -> Void
  ) async throws(Failure) -> (answer: Response, signed: Request) {
    let traced = world.timeline.map { (timeline: $0, began: $0.time) }
    var wire = try await signer.signed(request)
    traced?.timeline.worked("credentials and signature", since: traced?.began ?? .zero, request.place)
    let trace = traced?.timeline.request(request.operation, request.place)
    wire.trace = trace
    wire.stallTimeout = request.answerMayTakeLong ? answerTimeout : stallTimeout
    wire.closesConnection = closesConnections
    prepare(&wire)
    world.log(2, "> \(request.operation) \(wire)\(Self.shown(wire.redactedHeaders))")
    let sent = world.uptime()
    contact.withLock { if !$0.hasAnswered, $0.waitingSince == nil { $0.waitingSince = sent } }
    do throws(Failure) {
      let answer = try await transport.send(wire)
      trace?.end(answer.status)
      world.log(2, "< \(answer.status) to \(request.operation)\(Self.shown(answer.headers))")
      if var page = WebPage.failure(answer, to: request.operation) {
        // During a run a laptop may have moved to another network; before the first answer, a wrong endpoint stays
        // wrong.
        page.isSettled = contact.withLock { !$0.hasAnswered }
        throw page
      }
      contact.withLock { contact in
        (contact.hasAnswered, contact.waitingSince) = (true, nil)
        if answer.isSuccess { contact.hasGranted = true }
      }
      return (answer, wire)
    } catch {
      contact.withLock { $0.waitingSince = nil }
      trace?.end(error)
      world.log(2, "< \(request.operation) failed: \(error.message)")
      throw error
    }
  }

  private static func shown(_ headers: HeaderList) -> String {
    headers.fields.map { "\n    " + Redaction.shown($0) }.joined()
  }
}
