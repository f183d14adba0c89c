import MultipartBasics

/// Performs a run of any number of objects over one window: passes orders to their performers, and the resulting events
/// to the run; samples the line, wakes the run when a wait is over, and ends it.
final class RunDriver<Object: Performer>: Sendable {
  typealias ObjectResult = Result<Object.Output, Failure>

  enum Event: Sendable {
    case offered(Object, Entrant<Object.Machine>)
    /// Nothing more will be offered.
    case closed
    case run(Run<Object.Machine>.Event)
    /// The work after the object's end is done.
    case settled(Int)
  }

  typealias Ended = @Sendable (Object, ObjectResult) -> Void

  let world: World
  private let settings: RunSettings
  private let transport: any Transport
  private let origin: String
  private let events: AsyncStream<Event>
  private let inbox: AsyncStream<Event>.Continuation
  /// Timers of the run itself.
  private let timers = Tasks()
  private let state = Locked(State())
  let gate: Gate

  private struct State: Sendable {
    /// The first interruption, for code that waits and receives no events.
    var interruption: Failure?
    var onInterruption: @Sendable () -> Void = {}
    var graceAfterDeadline = Duration.milliseconds(250)
    /// When the first part was sent, and when the last one arrived.
    var sending: (from: Duration, to: Duration)?
    var lineIsLossy = false
    var lineBuffers = false
    var bestRate = BestRate()
    /// Objects that have been offered and have not ended, by number.
    var objects: [Int: Object] = [:]
    var offered = 0
    var isWatched = false
  }

  /// `ahead`: how many objects may be offered before there is room for them.
  init(_ settings: RunSettings, transport: any Transport, origin: String, world: World, ahead: Int = 1) {
    self.settings = settings
    self.transport = transport
    self.origin = origin
    self.world = world
    gate = Gate(ahead)
    (events, inbox) = AsyncStream.makeStream()
  }

  // MARK: - For the performers

  @discardableResult
  func post(_ event: Run<Object.Machine>.Event) -> AsyncStream<Event>.Continuation.YieldResult {
    inbox.yield(.run(event))
  }

  var interruption: Failure? { state.withLock { $0.interruption } }

  var isOfOne: Bool { state.withLock { $0.offered == 1 } }

  var sending: (from: Duration, to: Duration)? { state.withLock { $0.sending } }

  /// Whether losses limited each connection when the line was last sampled.
  var lineIsLossy: Bool { state.withLock { $0.lineIsLossy } }

  /// Whether something on the way accepted more than the line carries when it was last sampled.
  var lineBuffers: Bool { state.withLock { $0.lineBuffers } }

  /// Bytes per second that the line has carried for some seconds; zero if it was not sampled for that long.
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

  private func wake(at time: Duration) {
    after(time - world.uptime()) { $0.yield(.run(.tick)) }
  }

  private func after(_ wait: Duration, _ then: @escaping @Sendable (AsyncStream<Event>.Continuation) -> Void) {
    timers.begin { [world, inbox] in
      guard (try? await world.sleep(max(.zero, wait))) != nil else { return }
      then(inbox)
    }
  }

  /// The objects in progress, in the order in which they were offered.
  var objects: [Object] {
    state.withLock { state in state.objects.sorted { $0.key < $1.key }.map(\.value) }
  }

  var pendingTimers: Int { timers.count }

  // MARK: - Stopping

  /// Stops the run: running transfers are cancelled, and each object is kept for a later run or cleaned up. Can be
  /// called from anywhere, at any time.
  func interrupt(_ failure: Failure = .interrupted) {
    let (running, onInterruption) = state.withLock { state in
      state.interruption = state.interruption ?? failure
      return (state.objects, state.onInterruption)
    }
    inbox.yield(.run(.interrupted(failure)))
    // After the event, so that the event is the cause of what this ends.
    for object in running.values { object.stop() }
    gate.close()
    onInterruption()
  }

  /// Calls `then` once the run is interrupted, or at once if it has been.
  func onInterruption(_ then: @escaping @Sendable () -> Void) {
    let isStopping = state.withLock { state in
      state.onInterruption = then
      return state.interruption != nil
    }
    if isStopping { then() }
  }

  /// Does the work of the run, which ends by the deadline, or when the calling task is cancelled. `aborts`: parts at the
  /// store are not kept for a next run, but have to be aborted before the deadline.
  func perform<Output: Sendable>(
    deadline: Duration?, aborts: Bool = false, _ work: @escaping @Sendable () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    // The handler below runs beside the work, which could begin an upload before it.
    if Task.isCancelled { interrupt() }
    let alarm = deadline.map { interrupt(after: $0, aborts: aborts) }
    defer { alarm?.cancel() }
    // A task of its own: a cancelled task could not send the requests that abort or keep the uploads.
    let task = Task { () async -> Result<Output, Failure> in
      do throws(Failure) {
        return .success(try await work())
      } catch {
        return .failure(error)
      }
    }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: { [self] in
      interrupt()
    }
    return try result.get()
  }

  private func interrupt(after limit: Duration, aborts: Bool) -> Task<Void, Never> {
    let (wait, grace) = Self.split(max(.zero, limit.bounded), aborts: aborts)
    state.withLock { $0.graceAfterDeadline = grace }
    return Task { [self] in
      guard (try? await world.sleep(wait)) != nil else { return }
      interrupt(.timeIsOver)
    }
  }

  /// Splits the remaining time: until the run is stopped, and from then on for aborting the upload at the store.
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

  /// The interface for a feeder that offers objects.
  struct Door: Sendable {
    let driver: RunDriver
    let ended: Ended

    /// Waits for room for another object; false if the run is being stopped.
    func enter() async -> Bool { await driver.gate.enter() }

    /// Gives back the room, because there is nothing for it.
    func leave() { driver.gate.leave() }

    /// Offers one object after `enter`; it starts by itself.
    func offer(_ object: Object) async {
      do throws(Failure) {
        driver.inbox.yield(.offered(object, try await object.prepare()))
      } catch {
        leave()
        ended(object, .failure(error))
      }
    }
  }

  /// Runs what `feed` offers, and returns when all of it and `feed` have ended. Call it once. `ended` is called for
  /// each object that was offered.
  func run(_ feed: @escaping @Sendable (Door) async -> Void, ended: @escaping Ended) async {
    let feeder = Task { [inbox] in
      await feed(Door(driver: self, ended: ended))
      inbox.yield(.closed)
    }
    var loop = Loop(driver: self, run: Run(settings), ended: ended)
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

  /// The run, and what is known about its objects. Events are handled one after another.
  private struct Loop {
    let driver: RunDriver
    var run: Run<Object.Machine>
    let ended: Ended
    private var isClosed = false
    /// The objects that have ended, but still have work to finish.
    private var settling: [Int: (object: Object, result: ObjectResult)] = [:]
    private var traces: [Int: ObjectTrace] = [:]

    init(driver: RunDriver, run: Run<Object.Machine>, ended: @escaping Ended) {
      (self.driver, self.run, self.ended) = (driver, run, ended)
    }

    var isOver: Bool { isClosed && run.isOver && settling.isEmpty }

    mutating func handle(_ event: Event) {
      let now = driver.world.uptime()
      switch event {
      case .offered(let object, let entrant):
        let number = driver.add(object)
        run.add(number, entrant.machine, partSize: entrant.partSize)
        driver.watch(entrant.isOneRequest)
        carryOut(run.begin(at: now), about: number)
      case .closed:
        isClosed = true
        run.close()
        carryOut(run.begin(at: now))
      case .run(let event):
        var number: Int?
        if case .of(let object, let own) = event {
          number = object
          driver.object(object)?.note(own)
        }
        driver.note(event)
        carryOut(run.handle(event, at: now), about: number)
        if case .sampled(let sample, _) = event {
          driver.world.timeline?.look(sample, width: run.scheduler.width)
          let (isLossy, buffers) = (run.scheduler.lineIsLossy, run.scheduler.lineBuffers)
          driver.state.withLock { state in
            (state.lineIsLossy, state.lineBuffers) = (isLossy, buffers)
            state.bestRate.take(sample)
          }
        }
      case .settled(let number):
        if let (object, result) = settling.removeValue(forKey: number) { ended(object, result) }
      }
    }

    private mutating func carryOut(_ orders: [Run<Object.Machine>.Order], about number: Int? = nil) {
      var (orders, done) = (orders, 0)
      if let number { show(number) }
      while done < orders.count {
        switch orders[done] {
        case .act(let number, let action): orders += act(number, action)
        case .wake(let time): driver.wake(at: time)
        case .paced(let number, let change): driver.object(number)?.paced(change)
        }
        done += 1
      }
      for _ in 0..<run.takeBegun() { driver.gate.leave() }
    }

    /// Performs an action; returns orders that follow immediately.
    private mutating func act(_ number: Int, _ action: Object.Machine.Action) -> [Run<Object.Machine>.Order] {
      guard let object = driver.object(number) else { return [] }
      if let timeline = driver.world.timeline, traces[number] == nil { traces[number] = timeline.object(object.place) }
      show(number)
      switch run.withMachine(number, { object.perform(action, for: $0) }) {
      case .begun, nil: return []
      case .answered(let event): return run.handle(.of(number, event), at: driver.world.uptime())
      case .ended(let result):
        end(number, object, result)
        return []
      }
    }

    private mutating func show(_ number: Int) {
      guard let object = driver.object(number) else { return }
      let retries = run.scheduler.retries(of: number)
      run.withMachine(number) { object.show($0, retries) }
      traces[number]?.enter(object.activity)
    }

    private mutating func end(_ number: Int, _ object: Object, _ result: ObjectResult) {
      driver.remove(number)
      run.remove(number)
      traces.removeValue(forKey: number)?.end(result.map { object.totals(of: $0) })
      guard object.mustSettle else { return ended(object, result) }
      settling[number] = (object, result)
      Task { [driver] in
        await object.settle(result)
        driver.inbox.yield(.settled(number))
      }
    }

    /// The time after an interruption is over. What has ended keeps its result: the object may be published.
    mutating func endUnfinished() {
      for (object, result) in settling.values { ended(object, result) }
      settling = [:]
      for (number, object) in driver.state.withLock({ $0.objects }) {
        driver.remove(number)
        guard let failure = run.withMachine(number, { object.endUnfinished($0) }) else { continue }
        traces.removeValue(forKey: number)?.end(.failure(failure))
        ended(object, .failure(failure))
      }
    }
  }

  private func add(_ object: Object) -> Int {
    let (number, isStopping) = state.withLock { state in
      defer { state.offered += 1 }
      state.objects[state.offered] = object
      return (state.offered, state.interruption != nil)
    }
    object.begin(as: number)
    if isStopping { object.stop() }
    return number
  }

  private func remove(_ number: Int) {
    state.withLock { $0.objects[number] = nil }
  }

  private func object(_ number: Int) -> Object? { state.withLock { $0.objects[number] } }

  // MARK: - The line

  private func note(_ event: Run<Object.Machine>.Event) {
    if case .interrupted(let failure) = event { after(grace(after: failure)) { $0.finish() } }
    if case .sampled = event { look() }
  }

  /// Starts sampling the line, unless there is only a single request.
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

  /// Samples the line ten times per second, and more often while its speed is unknown. The next sample starts once this
  /// one was handled, so that none queue up behind a disk that is slow to write the record.
  private func look() {
    timers.begin { [self] in
      guard (try? await world.sleep(isYoung ? LoopBody.firstLook : LoopBody.look)) != nil,
        let sample = transport.look()
      else { return }
      var moved: [Slot: Int64] = [:]
      for (number, object) in state.withLock({ $0.objects }) {
        for (part, bytes) in object.moved { moved[Slot(object: number, part: part)] = bytes }
      }
      inbox.yield(.run(.sampled(sample, moved: moved)))
    }
  }

  private var isYoung: Bool { sending.map { world.uptime() - $0.from < .seconds(1) } ?? true }
}
