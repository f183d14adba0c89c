/// Performs a run of any number of objects over one window: passes orders to their uploaders, and what came of them to
/// the run; looks at the line, wakes the run when a wait is over, and ends it.
package final class RunDriver: Sendable {
  enum Event: Sendable {
    case offered(Uploader, UploadMachine.Settings)
    /// Nothing more will be offered.
    case closed
    case run(UploadRun.Event)
    /// What had to be done after the object's end was done.
    case settled(Uploader, Result<UploadResult, Failure>)
  }

  typealias Ended = @Sendable (Uploader, Result<UploadResult, Failure>) -> Void

  let world: World
  private let scheduling: Scheduler.Settings
  private let transport: any Transport
  private let origin: String
  private let events: AsyncStream<Event>
  private let inbox: AsyncStream<Event>.Continuation
  /// Those of the run itself: they wait for a time.
  private let timers = Uploader.Tasks()
  private let state = Locked(State())
  let gate: Gate

  private struct State: Sendable {
    /// The first one, for code that waits and receives no events.
    var interruption: Failure?
    var graceAfterDeadline = Duration.milliseconds(250)
    /// When the first part was sent, and when the last one arrived.
    var sending: (from: Duration, to: Duration)?
    var lineIsLossy = false
    var bestRate = BestRate()
    /// Those that have been offered and have not ended, by their numbers.
    var uploaders: [Int: Uploader] = [:]
    var offered = 0
    var isWatched = false
  }

  /// `ahead`: how many uploads may be offered before there is room for them.
  package init(
    _ scheduling: Scheduler.Settings, transport: any Transport, origin: String, world: World, ahead: Int = 1
  ) {
    self.scheduling = scheduling
    self.transport = transport
    self.origin = origin
    self.world = world
    gate = Gate(ahead)
    (events, inbox) = AsyncStream.makeStream()
  }

  // MARK: - For the uploaders

  @discardableResult
  func post(_ event: UploadRun.Event) -> AsyncStream<Event>.Continuation.YieldResult { inbox.yield(.run(event)) }

  var interruption: Failure? { state.withLock { $0.interruption } }

  var isOfOne: Bool { state.withLock { $0.offered == 1 } }

  var sending: (from: Duration, to: Duration)? { state.withLock { $0.sending } }

  /// Losses limited each connection when the line was last seen.
  var lineIsLossy: Bool { state.withLock { $0.lineIsLossy } }

  /// Bytes a second that the line has carried for some seconds; zero if nobody has looked for so long.
  var bestRate: Double { state.withLock { $0.bestRate.rate } }

  /// A part is being sent.
  func sends() {
    let now = world.uptime()
    state.withLock { $0.sending = $0.sending ?? (now, now) }
  }

  /// A part has arrived.
  func arrived() {
    let now = world.uptime()
    state.withLock { $0.sending?.to = now }
  }

  func wake(at time: Duration) {
    after(time - world.uptime()) { $0.yield(.run(.tick)) }
  }

  private func after(_ wait: Duration, _ then: @escaping @Sendable (AsyncStream<Event>.Continuation) -> Void) {
    timers.begin { [world, inbox] in
      guard (try? await world.sleep(max(.zero, wait))) != nil else { return }
      then(inbox)
    }
  }

  /// The uploads that are under way, in the order in which they were offered.
  package var uploaders: [Uploader] {
    state.withLock { state in state.uploaders.sorted { $0.key < $1.key }.map(\.value) }
  }

  var pendingTimers: Int { timers.count }

  // MARK: - Stopping

  /// Stops the run: running transfers are cancelled, and each upload is kept for a later run or aborted. May be called
  /// from anywhere, at any time.
  package func interrupt(_ failure: Failure = Failure(.interrupted, "interrupted")) {
    let running = state.withLock { state in
      state.interruption = state.interruption ?? failure
      return state.uploaders
    }
    inbox.yield(.run(.interrupted(failure)))
    // After the event, so that the event is the cause of what this ends.
    for uploader in running.values { uploader.progress.stop() }
    gate.close()
  }

  /// Ends the run so that everything is finished `limit` after `start`, by the uptime. Parts at the store are kept for
  /// the next run, which needs no request; the upload of a stream has to be aborted before.
  package func interrupt(after limit: Duration, since start: Duration, aborts: Bool) -> Task<Void, Never> {
    let (wait, grace) = Self.split(max(.zero, start + limit - world.uptime()), aborts: aborts)
    state.withLock { $0.graceAfterDeadline = grace }
    return Task { [self] in
      guard (try? await world.sleep(wait)) != nil else { return }
      interrupt(Failure(.deadline, "the time given by \(.deadline) is over"))
    }
  }

  /// The remaining time: until the run is stopped, and from then on for aborting the upload at the store.
  static func split(_ left: Duration, aborts: Bool) -> (wait: Duration, grace: Duration) {
    // Time for the answers of cancelled transfers.
    guard aborts else { return (left, .milliseconds(250)) }
    let grace = min(.seconds(4), left / 4)
    return (left - grace, grace)
  }

  /// How long the work after an interruption may take: after a signal, 4 s to abort the uploads at the store. Then the
  /// run ends, whatever is still pending.
  private func grace(after failure: Failure) -> Duration {
    failure.code == .deadline ? state.withLock { $0.graceAfterDeadline } : .seconds(4)
  }

  // MARK: - Running

  /// What a feeder offers uploads to.
  package struct Door: Sendable {
    let driver: RunDriver
    let ended: Ended

    /// Returns once there is room for an upload; false if the run is being stopped.
    package func enter() async -> Bool { await driver.gate.enter() }

    /// There is no upload for the room after all.
    package func leave() { driver.gate.leave() }

    /// Whoever has entered offers one upload, which begins by itself.
    package func offer(_ uploader: Uploader) async {
      do throws(Failure) {
        driver.inbox.yield(.offered(uploader, try await uploader.prepare()))
      } catch {
        leave()
        ended(uploader, .failure(error))
      }
    }
  }

  /// Runs what `feed` offers, and returns when all of it has ended, and `feed` too. Call it once. `ended` is called for
  /// each upload that was offered.
  package func run(
    _ feed: @escaping @Sendable (Door) async -> Void,
    ended: @escaping @Sendable (Uploader, Result<UploadResult, Failure>) -> Void
  ) async {
    let feeder = Task { [inbox] in
      await feed(Door(driver: self, ended: ended))
      inbox.yield(.closed)
    }
    var loop = Loop(driver: self, run: UploadRun(scheduling), ended: ended)
    var events = events.makeAsyncIterator()
    while !loop.isOver {
      guard let event = await events.next() else {
        loop.endUnfinished()
        break
      }
      loop.handle(event)
    }
    inbox.finish()
    timers.cancelAll()
    gate.close()
    await feeder.value
  }

  /// The run, and what is known of its objects. Events are handled one after another.
  private struct Loop {
    let driver: RunDriver
    var run: UploadRun
    let ended: Ended
    private var isClosed = false
    /// Objects that have ended, and after which something is still done.
    private var settling = 0

    init(driver: RunDriver, run: UploadRun, ended: @escaping Ended) {
      (self.driver, self.run, self.ended) = (driver, run, ended)
    }

    var isOver: Bool { isClosed && run.isOver && settling == 0 }

    mutating func handle(_ event: Event) {
      let now = driver.world.uptime()
      switch event {
      case .offered(let uploader, let settings):
        let number = driver.add(uploader)
        run.add(number, settings)
        driver.watch(settings.plan.isSingle && !settings.isStream)
        carryOut(run.begin(at: now), about: number)
      case .closed:
        isClosed = true
        run.close()
        carryOut(run.begin(at: now))
      case .run(let event):
        var number: Int?
        if case .of(let object, let own) = event {
          number = object
          driver.uploader(object)?.note(own)
        }
        driver.note(event)
        carryOut(run.handle(event, at: now), about: number)
        if case .sampled(let sample, _) = event {
          let isLossy = run.scheduler.lineIsLossy
          driver.state.withLock { state in
            state.lineIsLossy = isLossy
            state.bestRate.take(sample)
          }
        }
      case .settled(let uploader, let result):
        settling -= 1
        ended(uploader, result)
      }
    }

    private mutating func carryOut(_ orders: [UploadRun.Order], about object: Int? = nil) {
      var (orders, done) = (orders, 0)
      if let object, let uploader = driver.uploader(object) { show(object, uploader) }
      while done < orders.count {
        let (object, action) = (orders[done].object, orders[done].action)
        done += 1
        if case .wait(let until) = action { driver.wake(at: until) }
        guard let uploader = driver.uploader(object) else { continue }
        switch action {
        case .finish(let outcome): end(object, uploader, outcome)
        case .adopt(let id):
          uploader.started(id)
          guard let isRecorded = run.withMachine(object, { uploader.adopt(id, $0) }) else { continue }
          orders += run.handle(.of(object, .recorded(isRecorded)), at: driver.world.uptime())
        default:
          show(object, uploader)
          run.withMachine(object) { uploader.perform(action, $0) }
        }
      }
      for _ in 0..<run.takeBegun() { driver.gate.leave() }
    }

    private mutating func show(_ object: Int, _ uploader: Uploader) {
      let nextTry = run.scheduler.nextTry(of: object)
      run.withMachine(object) { uploader.show($0, nextTry) }
    }

    private mutating func end(_ object: Int, _ uploader: Uploader, _ outcome: UploadMachine.Outcome) {
      guard let result = run.withMachine(object, { uploader.end(outcome, $0) }) else { return }
      driver.remove(object)
      run.remove(object)
      guard uploader.mustSettle else { return ended(uploader, result) }
      settling += 1
      Task { [driver] in
        await uploader.settle(result)
        driver.inbox.yield(.settled(uploader, result))
      }
    }

    mutating func endUnfinished() {
      for (object, uploader) in driver.state.withLock({ $0.uploaders }) {
        driver.remove(object)
        guard let failure = run.withMachine(object, { uploader.endUnfinished($0) }) else { continue }
        ended(uploader, .failure(failure))
      }
    }
  }

  private func add(_ uploader: Uploader) -> Int {
    let (number, isStopping) = state.withLock { state in
      defer { state.offered += 1 }
      state.uploaders[state.offered] = uploader
      return (state.offered, state.interruption != nil)
    }
    uploader.begin(as: number)
    if isStopping { uploader.progress.stop() }
    return number
  }

  private func remove(_ object: Int) {
    state.withLock { $0.uploaders[object] = nil }
  }

  private func uploader(_ object: Int) -> Uploader? { state.withLock { $0.uploaders[object] } }

  // MARK: - The line

  private func note(_ event: UploadRun.Event) {
    if case .interrupted(let failure) = event { after(grace(after: failure)) { $0.finish() } }
    if case .sampled = event { look() }
  }

  /// One request alone needs no look at the line.
  private func watch(_ isOneRequest: Bool) {
    let begins = state.withLock { state in
      guard !state.isWatched, !isOneRequest || state.offered > 1 else { return false }
      state.isWatched = true
      return true
    }
    guard begins else { return }
    transport.prepare(for: origin)
    look()
  }

  /// Samples the line ten times a second, and more often while its speed is unknown. The next sample begins once this
  /// one was handled, so that none queue up behind a disk that is slow to write the record.
  private func look() {
    timers.begin { [self] in
      guard (try? await world.sleep(isYoung ? LoopBody.firstLook : LoopBody.look)) != nil,
        let sample = transport.look()
      else { return }
      var moved: [Slot: Int64] = [:]
      for (object, uploader) in state.withLock({ $0.uploaders }) {
        for (part, bytes) in uploader.progress.moved { moved[Slot(object: object, part: part)] = bytes }
      }
      inbox.yield(.run(.sampled(sample, moved: moved)))
    }
  }

  private var isYoung: Bool { sending.map { world.uptime() - $0.from < .seconds(1) } ?? true }
}
