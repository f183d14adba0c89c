/// The credentials of a run, which all its requests share: found once, renewed ahead of their end, and read anew when
/// the store refuses them. However many requests want new ones at the same moment, the sources are asked once.
package final class CredentialKeeper: Sendable {
  /// Credentials and which ones of this run they are: what is refused may have been replaced meanwhile.
  package struct Held: Sendable {
    package var credentials: Credentials
    package var turn: Int
  }

  private struct State: Sendable {
    var held: Held?
    /// When they were found, by the wall clock.
    var found = Timestamp(seconds: 0)
    var isAsking = false
    var question: Task<Void, Never>?
    var lastAsked: Duration?
    /// The last question brought nothing new.
    var wasFruitless = false
    var lastFailure: Failure?
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter = 0
    var lastSaid: Duration?
    /// Until when the present want of credentials is waited out.
    var patienceEnds: Duration?
  }

  private let source: @Sendable () async throws(Failure) -> Credentials
  private let world: World
  private let patience: Duration?
  private let waits = Locked(0)
  private let say: @Sendable (Wording) -> Void
  /// Ends the wait for a source that does not answer.
  private let alarm: @Sendable (Duration) async throws -> Void
  private let state = Locked(State())

  /// New ones are asked for so long before the end of those that are held, or a quarter of their life.
  private static let ahead: Int64 = 300
  /// That there is nothing new is known for so long to those who come with the same wish.
  private static let echo = Duration.seconds(1)
  private static let pause = Duration.seconds(5)
  /// What the last look takes at most.
  private static let lastLook = Duration.milliseconds(500)

  /// `patience` is how long a refusal is waited out when no source has other credentials; nil: not at all. It holds for
  /// all requests together: those that come when it is over do not begin it anew.
  package init(
    world: World, patience: Duration? = nil, say: @escaping @Sendable (Wording) -> Void = { _ in },
    alarm: @escaping @Sendable (Duration) async throws -> Void = { try await TaskThreads.shared.sleep(for: $0) },
    source: @escaping @Sendable () async throws(Failure) -> Credentials
  ) {
    self.world = world
    self.patience = patience
    self.say = say
    self.alarm = alarm
    self.source = source
  }

  /// What to sign with now. Once there are credentials this does not fail: whether old ones still hold is the store's
  /// to say, and this machine's clock may be wrong.
  package func current() async throws(Failure) -> Held {
    guard let held = state.withLock({ $0.held }) else { return try await first() }
    guard let left = timeLeft(held) else { return held }
    if left.whole > left.ahead { return held }
    if left.whole > 5 {
      // Those that are held still do: nobody waits for the new ones, and a source that fails is asked again quietly.
      if isDue(pause: .seconds(max(1, min(60, left.whole / 4)))) { Task.begin { [self] in await ask() } }
      return held
    }
    await ask()
    return state.withLock { $0.held } ?? held
  }

  /// The store has refused credentials. True when there are others now, and the same request may be signed with them.
  /// A failure is that of the source that should have had them.
  package func renew(after turn: Int, cause: Failure) async throws(Failure) -> Bool {
    if isReplaced(turn) { return true }
    let end = patienceEnd()
    while true {
      if Task.isCancelled { throw Failure(.interrupted, "interrupted") }
      if isReplaced(turn) { return true }
      await ask(until: end)
      if isReplaced(turn) { return true }
      let failure = state.withLock { $0.lastFailure }
      guard let end, world.uptime() < end else {
        guard let failure else { return false }
        throw failure
      }
      try await wait(because: failure ?? cause, until: end)
    }
  }

  /// Nil when nothing is waited for.
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
      if Task.isCancelled { throw Failure(.interrupted, "interrupted") }
      // A failure to find any is one for the whole run: a person is not asked for a second code.
      if patience == nil, let failure = state.withLock({ $0.held == nil ? $0.lastFailure : nil }) { throw failure }
      await ask(until: end)
      let (held, failure) = state.withLock { ($0.held, $0.lastFailure) }
      if let held { return held }
      if let end, failure == nil, world.uptime() >= end {
        throw Failure(
          .credentials, "the source of the credentials has not answered within the time of \(.credentialPatience)",
          remedy: "run \(run: .examine) with the bucket's URL: it names the source")
      }
      // The question was given up by all who had asked it, and this one came after them.
      guard let cause = failure else { continue }
      guard let end, cause.code == .credentials || cause.code == .credentialsExpired, world.uptime() < end
      else { throw cause }
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
    if isDue { say("waits for new credentials: \(failure.message)") }
    waits.withLock { $0 += 1 }
    defer { waits.withLock { $0 -= 1 } }
    // The last look is at the end, and not so soon after the one before that nothing would be asked.
    let left = end - now
    guard (try? await world.sleep(left < Self.pause + Self.echo ? left : Self.pause)) != nil else {
      throw Failure(.interrupted, "interrupted")
    }
  }

  /// Somebody waits for credentials that no source has.
  package var isWaiting: Bool { waits.withLock { $0 > 0 } }

  private func isReplaced(_ turn: Int) -> Bool { state.withLock { $0.held.map { $0.turn != turn } ?? false } }

  private func isDue(pause: Duration) -> Bool {
    let now = world.uptime()
    return state.withLock { state in !state.isAsking && state.lastAsked.map { now - $0 >= pause } ?? true }
  }

  /// Seconds to their end, and how many of those are time to renew them; nil when no end is known.
  private func timeLeft(_ held: Held) -> (whole: Int64, ahead: Int64)? {
    guard let end = held.credentials.expiration else { return nil }
    let found = state.withLock { $0.found }
    let life = max(0, end.seconds - found.seconds)
    return (end.seconds - world.now().seconds, min(Self.ahead, life / 4))
  }

  // MARK: - Asking

  /// The same for no longer than to the end of patience: a source may need minutes to say that it has nothing.
  private func ask(until end: Duration?) async {
    guard let end else { return await ask() }
    let left = max(end - world.uptime(), Self.lastLook)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.ask() }
      group.addTask { try? await self.alarm(left) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Returns when the sources have been asked: by this call, by another that was under way, or a moment ago. A caller
  /// that is cancelled does not wait.
  private func ask() async {
    let now = world.uptime()
    enum Part { case asks, waits, done }
    let part = state.withLock { state -> Part in
      if state.isAsking { return .waits }
      if state.wasFruitless, let last = state.lastAsked, now - last < Self.echo { return .done }
      state.isAsking = true
      return .asks
    }
    switch part {
    case .done: return
    case .waits: await answer()
    case .asks:
      // In a task of its own: who asks may be cancelled, and the others still want the answer.
      let question = Task.begin { [self] in await put(source) }
      state.withLock { if $0.isAsking { $0.question = question } }
      await answer()
    }
  }

  private func put(_ question: @Sendable () async throws(Failure) -> Credentials) async {
    do throws(Failure) {
      end(try await question(), nil)
    } catch {
      end(nil, error)
    }
  }

  private func end(_ credentials: Credentials?, _ failure: Failure?) {
    if let credentials { world.secrets.add(credentials) }
    // A service may refuse in a success, which is not searched for secrets, as keys are meant to be in it.
    let failure = failure.map { world.secrets.masked($0) }
    let (now, moment) = (world.uptime(), world.now())
    let waiters = state.withLock { state in
      state.wasFruitless = true
      if let credentials {
        let isNew = state.held.map { !$0.credentials.signsLike(credentials) } ?? true
        state.held = Held(credentials: credentials, turn: (state.held?.turn ?? 0) + (isNew ? 1 : 0))
        if isNew { (state.found, state.patienceEnds) = (moment, nil) }
        state.wasFruitless = !isNew
      }
      var failure = failure
      // A request that cannot be signed is not worth tries of its own.
      if state.held == nil || !RetryPolicy.isWorthRetrying(failure?.code ?? .local) { failure?.isSettled = true }
      if failure?.code != .interrupted {
        state.lastFailure = failure
        state.lastAsked = now
      }
      state.isAsking = false
      state.question = nil
      defer { state.waiters = [:] }
      return state.waiters
    }
    if let failure { world.log(1, "credentials: \(failure.message)") }
    for waiter in waiters.values { waiter.resume() }
  }

  private func answer() async {
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
        (state.waiters.removeValue(forKey: number), state.waiters.isEmpty ? state.question : nil)
      }
      // A person who is asked for a code has pressed Ctrl-C.
      question?.cancel()
      waiter?.resume()
    }
  }
}

extension Credentials {
  /// The same keys, whenever they end and wherever they were found.
  func signsLike(_ other: Credentials) -> Bool {
    accessKeyID.utf8.elementsEqual(other.accessKeyID.utf8) && secretAccessKey == other.secretAccessKey
      && sessionToken == other.sessionToken
  }
}
