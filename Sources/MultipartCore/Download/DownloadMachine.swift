/// Downloads one object: HEAD, opening the target, its ranges, the proof, and only then its name. It has no clock, file
/// or network.
struct DownloadMachine: ObjectMachine {
  struct Receipt: TransferReceipt, Equatable {
    var range: Int
    /// The checksum of the bytes that were received.
    var sum: Checksum?

    init(range: Int, sum: Checksum? = nil) { (self.range, self.sum) = (range, sum) }

    func agrees(with other: Receipt) -> Bool { self == other }
  }

  enum Event: Sendable {
    case found
    case headFailed(Failure)
    /// The target is open; it already has these ranges.
    /// `rangeSize` is nil if it is the one of the settings.
    case opened(ranges: Int, size: Int64, have: Set<Int>, rangeSize: Int64? = nil)
    /// There is nothing to do: the target is already identical to the object.
    case unchanged
    case openFailed(Failure)
    /// The reader of a pipe is gone.
    case outputFailed(Failure)
    case rangeDone(Receipt)
    /// `kept`: how many bytes the next try need not request.
    case rangeFailed(Int, Failure, kept: Int64 = 0)
    /// The reader of a pipe has received this range.
    case passedOn(Int)
    case proven
    case refuted(Failure)
    case proofFailed(Failure)
    case published
    case publishFailed(Failure)
  }

  enum Action: Sendable, Equatable {
    case head, open
    case get(Int, fresh: Bool, isCopy: Bool = false)
    case cancel(Int)
    case prove, publish
    case say(DownloadEvent)
    case finish(Outcome)
  }

  enum Outcome: Sendable, Equatable {
    case done, unchanged
    case failed(Failure.Code)
  }

  struct Loading: Sendable {
    var ranges: Int
    var size: Int64
    var queue: PartQueue
    var attempts: [Int: Int] = [:]
    /// How many bytes from the beginning of a range need not be requested again.
    var kept: [Int: Int64] = [:]
    var arrived: Set<Int> = []
    /// Ranges to request on another connection.
    var fresh: Set<Int> = []
    var handedOut = 0
    var passedOn = 0
    var isSecond = false
  }

  enum State: Sendable {
    case idle
    case asking(attempt: Int)
    case opening
    case loading(Loading)
    case proving(Loading)
    case publishing
    /// Waits for what is still running.
    case stopping
    case done
  }

  struct Settings: Sendable {
    /// How many ranges may be started ahead of what a pipe's reader has taken; nil: they go into a file, in any order.
    var ahead: Int?
    var rangeSize: Int64
    /// Whether a list has already provided everything that a HEAD would: the object is small, and comes in one request.
    var isListed: Bool

    init(rangeSize: Int64, ahead: Int? = nil, isListed: Bool = false) {
      (self.rangeSize, self.ahead, self.isListed) = (rangeSize, ahead, isListed)
    }
  }

  var object = 0
  private(set) var settings: Settings
  private(set) var state = State.idle
  private var underWay: Set<Int> = []
  /// Whether the only request or step that is not a transfer is running.
  private var isBusy = false
  /// The first failure, which is kept.
  private(set) var failure: Failure?
  private(set) var retries = 0
  /// Whether everything known about the object comes from a list.
  private var trustsList: Bool

  init(_ settings: Settings) { (self.settings, trustsList) = (settings, settings.isListed) }

  var standing: Standing {
    mutating get {
      var now = Standing()
      switch state {
      case .idle, .asking, .opening: (now.isPreparing, now.allIsOut) = (true, false)
      case .loading(var loading):
        now.isTransferring = true
        now.allIsOut = loading.queue.isExhausted()
        now.mayFill = !now.allIsOut && hasLead(loading)
      case .proving, .publishing, .stopping: break
      case .done: now.isDone = true
      }
      return now
    }
  }

  mutating func start(_ scheduler: inout Scheduler<Receipt>) -> [Action] {
    isBusy = true
    guard !trustsList else {
      state = .opening
      return [.open]
    }
    return ask()
  }

  private mutating func ask() -> [Action] {
    (trustsList, isBusy, state) = (false, true, .asking(attempt: 1))
    return [.head]
  }

  mutating func tick(_ scheduler: inout Scheduler<Receipt>) -> [Action] { [] }

  mutating func again(_ part: Int?, _ scheduler: inout Scheduler<Receipt>) -> [Action] {
    switch (state, part) {
    case (.asking, nil):
      isBusy = true
      return [.head]
    case (.loading(var loading), let range?):
      let action = get(range, &loading, &scheduler)
      state = .loading(loading)
      return [action]
    default: return []
    }
  }

  mutating func interrupted(_ failure: Failure, _ scheduler: inout Scheduler<Receipt>) -> [Action] {
    switch state {
    // A proven object is published: that takes only a moment, after all the work was done for it.
    case .publishing, .stopping, .done: []
    case .idle, .asking, .opening, .loading, .proving: fail(failure, &scheduler)
    }
  }

  mutating func fill(_ scheduler: inout Scheduler<Receipt>) -> [Action] {
    guard case .loading(var loading) = state else { return [] }
    state = .opening  // Prevents a copy of the queue while it is changed.
    var actions: [Action] = []
    while scheduler.hasRoom, hasLead(loading), let range = loading.queue.next() {
      actions.append(get(range, &loading, &scheduler))
    }
    state = .loading(loading)
    return actions
  }

  func copy(_ part: Int, freshConnection: Bool) -> Action { .get(part, fresh: freshConnection, isCopy: true) }
  func cancel(_ part: Int) -> Action { .cancel(part) }

  /// Whether new ranges may start. They start in order, so that the number of those handed out is that of the furthest
  /// one.
  private func hasLead(_ loading: Loading) -> Bool {
    guard let ahead = settings.ahead, loading.queue.waitingPieces == 0 else { return true }
    return loading.handedOut - loading.passedOn < ahead
  }

  private func slot(_ range: Int) -> Slot { Slot(object: object, part: range) }

  private mutating func get(
    _ range: Int, _ loading: inout Loading, _ scheduler: inout Scheduler<Receipt>
  ) -> Action {
    let length = RangePlan(size: loading.size, rangeSize: settings.rangeSize).range(of: range).length
    scheduler.begin(slot(range), size: length - loading.kept[range, default: 0])
    underWay.insert(range)
    loading.handedOut = max(loading.handedOut, range)
    return .get(range, fresh: loading.fresh.contains(range))
  }

  // MARK: - Events

  mutating func handle(_ event: Event, _ scheduler: inout Scheduler<Receipt>) -> [Action] {
    switch event {
    case .rangeDone(let receipt):
      return arrived(scheduler.arrived(slot(receipt.range), receipt), receipt.range, nil, &scheduler)
    case .rangeFailed(let range, let failure, let kept):
      keep(kept, of: range)
      return arrived(scheduler.failed(slot(range), failure), range, failure, &scheduler)
    case .passedOn(let range):
      guard case .loading(var loading) = state else { return [] }
      loading.passedOn = max(loading.passedOn, range)
      state = .loading(loading)
      return []
    // A later failure shows in what the proof or the end is waiting for.
    case .outputFailed(let failure): return isLoading ? fail(failure, &scheduler) : []
    default:
      isBusy = false
      return stepEnded(event, &scheduler)
    }
  }

  private mutating func keep(_ bytes: Int64, of range: Int) {
    guard bytes > 0, case .loading(var loading) = state else { return }
    loading.kept[range, default: 0] += bytes
    if bytes >= Self.leastProgress { loading.attempts[range] = nil }
    state = .loading(loading)
  }

  /// A try that got so far does not count: on a line that often breaks, a large range may need many.
  private static let leastProgress: Int64 = 64 << 10

  private var isLoading: Bool { if case .loading = state { true } else { false } }

  private mutating func stepEnded(_ event: Event, _ scheduler: inout Scheduler<Receipt>) -> [Action] {
    switch (state, event) {
    case (.stopping, _): return endIfQuiet()
    case (.asking, .found):
      state = .opening
      isBusy = true
      return [.open]
    case (.asking(let attempt), .headFailed(let failure)):
      guard let pause = scheduler.retry(.step(object: object), after: failure, attempt: attempt) else {
        return fail(failure, &scheduler)
      }
      state = .asking(attempt: attempt + 1)
      return [note(pause, nil)]
    case (.opening, .opened(let ranges, let size, let have, let rangeSize)):
      if let rangeSize {
        scheduler.recut(rangeSize, before: settings.rangeSize)
        settings.rangeSize = rangeSize
      }
      var loading = Loading(ranges: ranges, size: size, queue: PartQueue(count: ranges))
      loading.queue.leaveOut(have)
      loading.arrived = have
      return load(loading)
    case (.opening, .unchanged): return finish(.unchanged)
    case (.proving, .proven):
      state = .publishing
      isBusy = true
      return [.publish]
    case (.proving(let loading), .refuted(let failure)):
      guard !loading.isSecond, settings.ahead == nil, loading.ranges > 0 else { return fail(failure, &scheduler) }
      var second = Loading(ranges: loading.ranges, size: loading.size, queue: PartQueue(count: loading.ranges))
      second.fresh = Set(1...loading.ranges)
      second.isSecond = true
      state = .loading(second)
      return [.say(.reloads)]
    case (.publishing, .published): return finish(.done)
    case (_, .openFailed(let failure)), (_, .proofFailed(let failure)), (_, .publishFailed(let failure)):
      return fail(failure, &scheduler)
    default: return []
    }
  }

  /// Finishes loading if all ranges have arrived.
  private mutating func load(_ loading: Loading) -> [Action] {
    guard loading.arrived.count == loading.ranges else {
      state = .loading(loading)
      return []
    }
    state = .proving(loading)
    isBusy = true
    return [.prove]
  }

  private mutating func arrived(
    _ landing: Scheduler<Receipt>.Landing, _ range: Int, _ failure: Failure?, _ scheduler: inout Scheduler<Receipt>
  ) -> [Action] {
    // Once one copy has arrived the other one is not needed; if one has failed, the other one decides.
    if case .copyIsOut = landing { return failure == nil ? [.cancel(range)] : [] }
    underWay.remove(range)
    guard case .loading(var loading) = state else { return endIfQuiet() }
    state = .opening  // Prevents a copy while it is changed.
    switch landing {
    case .copyIsOut: break
    case .takenBack: loading.queue.add(range)
    case .arrived: loading.arrived.insert(range)
    case .arrivedTwice:
      // There is no telling which of them is right.
      loading.kept[range] = nil
      loading.fresh.insert(range)
      loading.queue.add(range)
    case .failed:
      let failure = failure ?? Failure(.network, "the range did not arrive")
      // The object has changed since it was listed, which is not a failure.
      if trustsList, failure.code == .sourceChanged { return ask() }
      let attempt = loading.attempts[range, default: 0] + 1
      guard let pause = scheduler.retry(.transfer(slot(range)), after: failure, attempt: attempt) else {
        state = .loading(loading)
        return fail(failure, &scheduler)
      }
      loading.attempts[range] = attempt
      loading.fresh.insert(range)
      state = .loading(loading)
      return [note(pause, range)]
    }
    return load(loading)
  }

  private mutating func note(_ pause: Scheduler<Receipt>.Pause, _ range: Int?) -> Action {
    retries += 1
    return .say(
      .retry(
        range: range, attempt: pause.attempt, wait: pause.wait, cause: pause.cause.code, message: pause.cause.message))
  }

  // MARK: - The end

  private mutating func fail(_ reason: Failure, _ scheduler: inout Scheduler<Receipt>) -> [Action] {
    failure = failure ?? reason
    scheduler.stopWaiting(object)
    state = .stopping
    let stops = underWay.sorted().map { Action.cancel($0) }
    return stops + endIfQuiet()
  }

  private mutating func endIfQuiet() -> [Action] {
    guard case .stopping = state, underWay.isEmpty, !isBusy else { return [] }
    return finish(.failed(failure?.code ?? .interrupted))
  }

  private mutating func finish(_ outcome: Outcome) -> [Action] {
    state = .done
    return [.finish(outcome)]
  }
}
