import MultipartBasics

/// The credentials that all requests of a run share: found once, renewed before they expire, and read again when the
/// store refuses them. However many requests want new ones at the same time, the sources are asked once.
final class CredentialKeeper: Sendable {
  /// Credentials with their number in this run. When the store refuses some, the number shows whether they have already
  /// been replaced.
  struct Held: Sendable {
    var credentials: Credentials
    var generation: Int
  }

  private struct State: Sendable {
    var held: Held?
    /// When they were found, by the wall clock.
    var found = Timestamp(seconds: 0)
    /// Since when the sources are being asked.
    var askedSince: Duration?
    var isAsking: Bool { askedSince != nil }
    var question: Task<Void, Never>?
    var lastAsked: Duration?
    /// The last time the sources were asked, they had nothing new.
    var wasFruitless = false
    var lastFailure: Failure?
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter = 0
    var lastSaid: Duration?
    /// When waiting for new credentials ends.
    var patienceEnds: Duration?
  }

  private let source: @Sendable () async throws(Failure) -> Credentials
  private let world: World
  private let patience: Duration?
  private let waits = Locked(0)
  private let say: @Sendable (Wording) -> Void
  /// The sleep that ends the wait for a source that does not answer.
  private let alarm: @Sendable (Duration) async throws -> Void
  private let state = Locked(State())

  /// New credentials are requested this many seconds before the current ones expire, or in the last quarter of a short
  /// lifetime.
  private static let ahead: Int64 = 300
  /// After the sources have returned nothing new, they are not asked again for this long.
  private static let echo = Duration.seconds(1)
  private static let pause = Duration.seconds(5)
  /// The longest that the last attempt before the end of the wait may take.
  private static let lastLook = Duration.milliseconds(500)
  /// The longest that a request waits for sources that do not answer.
  private static let longestWait = Duration.seconds(30)

  /// `patience` is how long to wait after a refusal if no source has other credentials; nil: do not wait. All requests
  /// share one wait: a request that is refused after its end does not start another.
  init(
    world: World, patience: Duration? = nil, say: @escaping @Sendable (Wording) -> Void = { _ in },
    alarm: @escaping @Sendable (Duration) async throws -> Void = { try await World.sleep($0) },
    source: @escaping @Sendable () async throws(Failure) -> Credentials
  ) {
    self.world = world
    self.patience = patience
    self.say = say
    self.alarm = alarm
    self.source = source
  }

  /// The credentials to sign with now. Once there are any, this does not fail: only the store decides whether old ones
  /// are still valid, because this machine's clock may be wrong.
  func current() async throws(Failure) -> Held {
    guard let held = state.withLock({ $0.held }) else { return try await first() }
    guard let left = timeLeft(held) else { return held }
    if left.whole > left.ahead { return held }
    if left.whole > 5 {
      // The current ones are still valid, so no request waits for the new ones, and a source that fails is quietly
      // asked again.
      if isDue(pause: .seconds(max(1, min(60, left.whole / 4)))) { Task { [self] in await ask() } }
      return held
    }
    // New ones would have expired too, if it is this machine's clock that is wrong: no request waits for them.
    if left.hadExpired {
      if isDue(pause: .seconds(60)) { Task { [self] in await ask() } }
      return held
    }
    // A source that hangs delays no request beyond the end of the current ones. Once they have expired, the first
    // requests wait for it, and if it has nothing, the others find out whether the store still accepts the old ones.
    let now = world.uptime()
    guard left.whole > 0 || !hasNothing(now) else { return held }
    await ask(until: now + (left.whole > 0 ? .seconds(left.whole) : Self.longestWait))
    return state.withLock { $0.held } ?? held
  }

  /// Where the credentials in use came from, in words.
  var sourceInUse: String? { state.withLock { $0.held?.credentials.source } }

  /// Called when the store has refused credentials. Returns whether there are others now, so that the request can be
  /// signed again. Throws the failure of a source that was asked for new ones and failed.
  func renew(after generation: Int, cause: Failure) async throws(Failure) -> Bool {
    if isReplaced(generation) { return true }
    let end = patienceEnd()
    while true {
      if Task.isCancelled { throw Failure.interrupted }
      if isReplaced(generation) { return true }
      await ask(until: end)
      if isReplaced(generation) { return true }
      let failure = state.withLock { $0.lastFailure }
      guard let end, world.uptime() < end else {
        guard let failure else { return false }
        throw failure
      }
      try await wait(because: failure ?? cause, until: end)
    }
  }

  /// When to stop waiting; nil if there is no waiting.
  private func patienceEnd() -> Duration? {
    guard let patience else { return nil }
    let now = world.uptime()
    return state.withLock { state in
      let end = state.patienceEnds ?? now + patience
      state.patienceEnds = end
      return end
    }
  }

  private func first() async throws(Failure) -> Held {
    let end = patienceEnd()
    while true {
      if Task.isCancelled { throw Failure.interrupted }
      // Not finding any credentials is one failure for the whole run: a person is never asked twice for an MFA code.
      if patience == nil, let failure = state.withLock({ $0.held == nil ? $0.lastFailure : nil }) { throw failure }
      await ask(until: end)
      let (held, failure) = state.withLock { ($0.held, $0.lastFailure) }
      if let held { return held }
      if let end, failure == nil, world.uptime() >= end {
        throw Failure(
          .credentials, "the source of the credentials has not answered within the time of \(.waitForCredentials)",
          remedy: "run \(run: .examine) with the bucket's URL: it names the source")
      }
      // All earlier callers gave up, and this call came after them: ask again.
      guard let cause = failure else { continue }
      let isMissing = cause.code == .credentials || cause.code == .credentialsExpired
      guard let end, isMissing || RetryPolicy.isWorthRetrying(cause.code), world.uptime() < end else { throw cause }
      try await wait(because: cause, until: end)
    }
  }

  private func wait(because failure: Failure, until end: Duration) async throws(Failure) {
    let now = world.uptime()
    let isDue = state.withLock { state in
      guard state.lastSaid.map({ now - $0 >= .seconds(60) }) ?? true else { return false }
      state.lastSaid = now
      return true
    }
    if isDue { say("waiting for new credentials: \(failure.message)") }
    waits.withLock { $0 += 1 }
    defer { waits.withLock { $0 -= 1 } }
    // The last attempt is at the end of the wait, and long enough after the previous one that the sources are really
    // asked.
    let left = end - now
    guard (try? await world.sleep(left < Self.pause + Self.echo ? left : Self.pause)) != nil else {
      throw Failure.interrupted
    }
  }

  /// Whether a request is waiting for credentials that no source has.
  var isWaiting: Bool { waits.withLock { $0 > 0 } }

  private func isReplaced(_ generation: Int) -> Bool {
    state.withLock { $0.held.map { $0.generation != generation } ?? false }
  }

  private func isDue(pause: Duration) -> Bool {
    let now = world.uptime()
    return state.withLock { state in !state.isAsking && state.lastAsked.map { now - $0 >= pause } ?? true }
  }

  /// Whether the sources had nothing new a short while ago, or have not answered for a long time.
  private func hasNothing(_ now: Duration) -> Bool {
    state.withLock { state in
      if let since = state.askedSince { return now - since >= Self.longestWait }
      return state.wasFruitless && state.lastAsked.map { now - $0 < .seconds(60) } ?? false
    }
  }

  /// How long the credentials last. `whole` is the number of seconds until they expire; from `ahead` seconds before
  /// that they are renewed. `hadExpired`: already when they came, by this machine's clock. Nil if the expiry is unknown.
  private func timeLeft(_ held: Held) -> (whole: Int64, ahead: Int64, hadExpired: Bool)? {
    guard let end = held.credentials.expiration else { return nil }
    let found = state.withLock { $0.found }
    let life = max(0, end.seconds - found.seconds)
    return (end.seconds - world.now().seconds, min(Self.ahead, life / 4), life == 0)
  }

  // MARK: - Asking

  /// Asks, but waits no longer than until `end`: a source may need minutes to find that it has nothing.
  private func ask(until end: Duration?) async {
    guard let end else { return await ask() }
    let left = max(end - world.uptime(), Self.lastLook)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.ask(outlivesWait: true) }
      group.addTask { try? await self.alarm(left) }
      await group.next()
      group.cancelAll()
    }
    // The question goes on after the wait for it, unless the caller itself has ended.
    if Task.isCancelled { state.withLock { $0.waiters.isEmpty ? $0.question : nil }?.cancel() }
  }

  /// Returns when the sources have been asked: by this call, by another one in progress, or a moment ago. A cancelled
  /// caller does not wait.
  private func ask(outlivesWait: Bool = false) async {
    let now = world.uptime()
    enum Part { case asks, waits, done }
    let part = state.withLock { state -> Part in
      if state.isAsking { return .waits }
      if state.wasFruitless, let last = state.lastAsked, now - last < Self.echo { return .done }
      state.askedSince = now
      return .asks
    }
    switch part {
    case .done: return
    case .waits: await answer(endsQuestion: !outlivesWait)
    case .asks:
      // A task of its own: this caller may be cancelled while others still wait for the answer.
      let question = Task { [self] in await put(source) }
      state.withLock { if $0.isAsking { $0.question = question } }
      await answer(endsQuestion: !outlivesWait)
    }
  }

  private func put(_ question: @Sendable () async throws(Failure) -> Credentials) async {
    // A file that another program is rewriting is missing, empty or incomplete for a moment.
    var looksAgain = state.withLock { $0.held == nil } ? 0 : 4
    while true {
      do throws(Failure) {
        return end(try await question(), nil)
      } catch {
        guard error.mayAppear, looksAgain > 0, (try? await world.sleep(.milliseconds(500))) != nil else {
          return end(nil, error)
        }
        looksAgain -= 1
      }
    }
  }

  private func end(_ credentials: Credentials?, _ failure: Failure?) {
    if let credentials { world.secrets.add(credentials) }
    // A service may put its refusal into a 200, which was not searched for secrets, because it is expected to contain
    // keys.
    let failure = failure.map { world.secrets.masked($0) }
    let (now, moment) = (world.uptime(), world.now())
    let waiters = state.withLock { state in
      state.wasFruitless = true
      if let credentials {
        let isNew = state.held.map { !$0.credentials.signsLike(credentials) } ?? true
        state.held = Held(credentials: credentials, generation: (state.held?.generation ?? 0) + (isNew ? 1 : 0))
        if isNew { (state.found, state.patienceEnds) = (moment, nil) }
        state.wasFruitless = !isNew
      }
      var failure = failure
      // Requests do not retry what could not be signed.
      if state.held == nil || !RetryPolicy.isWorthRetrying(failure?.code ?? .local) { failure?.isSettled = true }
      if failure?.code != .interrupted {
        state.lastFailure = failure
        state.lastAsked = now
      }
      state.askedSince = nil
      state.question = nil
      defer { state.waiters = [:] }
      return state.waiters
    }
    if let failure { world.log(1, "credentials: \(failure.message)") }
    for waiter in waiters.values { waiter.resume() }
  }

  private func answer(endsQuestion: Bool) async {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          guard state.isAsking, !Task.isCancelled else { return true }
          state.waiters[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let (waiter, question) = state.withLock { state in
        (state.waiters.removeValue(forKey: number), endsQuestion && state.waiters.isEmpty ? state.question : nil)
      }
      // No other caller waits for the answer, so a prompt for an MFA code ends too.
      question?.cancel()
      waiter?.resume()
    }
  }
}

extension Credentials {
  /// Whether the keys are the same, regardless of expiry and source.
  func signsLike(_ other: Credentials) -> Bool {
    accessKeyID.utf8.elementsEqual(other.accessKeyID.utf8) && secretAccessKey == other.secretAccessKey
      && sessionToken == other.sessionToken
  }
}
