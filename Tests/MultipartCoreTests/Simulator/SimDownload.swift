@testable import MultipartCore

/// A machine for one object on its way down, as small as it can be: HEAD, ranges, proof. Only the simulator has it; it shows
/// that a run does not know which way its objects go.
struct RangeMachine: ObjectMachine {
  struct Receipt: TransferReceipt, Equatable {
    var range: Int
    var version: Int

    func agrees(with other: Receipt) -> Bool { self == other }
  }

  enum Event: Sendable {
    case headDone(version: Int)
    case headFailed(Failure)
    case rangeDone(Receipt)
    case rangeFailed(Int, Failure)
  }

  enum Action: Sendable, Equatable {
    case head
    case get(Int, isCopy: Bool = false)
    case cancel(Int)
    case finish(Failure.Code?)
  }

  enum State: Sendable {
    case idle, ranging
    case asking(attempt: Int)
    case stopping(Failure)
    case done
  }

  var object = 0
  private(set) var state = State.idle
  let ranges: Int
  private let size: Int64
  private var version = 0
  private var queue: PartQueue
  private var attempts: [Int: Int] = [:]
  private var underWay: Set<Int> = []
  private(set) var received: Set<Int> = []

  init(ranges: Int, size: Int64) {
    (self.ranges, self.size) = (ranges, size)
    queue = PartQueue(count: ranges)
  }

  var standing: Standing {
    mutating get {
      var now = Standing()
      switch state {
      case .idle, .asking: (now.isPreparing, now.allIsOut) = (true, false)
      case .ranging:
        now.isTransferring = true
        now.allIsOut = queue.isExhausted()
        now.mayFill = !now.allIsOut
      case .stopping: break
      case .done: now.isDone = true
      }
      return now
    }
  }

  mutating func start(_ scheduler: inout Scheduler<Receipt>) -> [Action] {
    state = .asking(attempt: 1)
    return [.head]
  }

  mutating func tick(_ scheduler: inout Scheduler<Receipt>) -> [Action] { [] }

  mutating func again(_ part: Int?, _ scheduler: inout Scheduler<Receipt>) -> [Action] {
    guard let part else { return [.head] }
    if case .ranging = state { return [get(part, &scheduler)] }
    return []
  }

  mutating func interrupted(_ failure: Failure, _ scheduler: inout Scheduler<Receipt>) -> [Action] {
    if case .asking = state, !scheduler.isWaiting(object) { return stopLater(failure) }
    return fail(failure, &scheduler)
  }

  mutating func fill(_ scheduler: inout Scheduler<Receipt>) -> [Action] {
    guard case .ranging = state else { return [] }
    var actions: [Action] = []
    while scheduler.hasRoom, let range = queue.next() { actions.append(get(range, &scheduler)) }
    return actions
  }

  func copy(_ part: Int, freshConnection: Bool) -> Action { .get(part, isCopy: true) }
  func cancel(_ part: Int) -> Action { .cancel(part) }

  mutating func handle(_ event: Event, _ scheduler: inout Scheduler<Receipt>) -> [Action] {
    switch event {
    case .headDone(let version):
      if case .stopping(let failure) = state { return finish(failure) }
      self.version = version
      state = .ranging
      return []
    case .headFailed(let failure):
      guard case .asking(let attempt) = state else {
        if case .stopping(let reason) = state { return finish(reason) }
        return []
      }
      state = .asking(attempt: attempt + 1)
      return scheduler.retry(.step(object: object), after: failure, attempt: attempt) == nil ? finish(failure) : []
    case .rangeDone(let receipt):
      return arrived(scheduler.arrived(slot(receipt.range), receipt), receipt.range, &scheduler)
    case .rangeFailed(let range, let failure):
      let landing = scheduler.failed(slot(range), failure)
      guard case .failed = landing else { return arrived(landing, range, &scheduler) }
      underWay.remove(range)
      if case .stopping(let reason) = state { return underWay.isEmpty ? finish(reason) : [] }
      let retry = scheduler.retry(.transfer(slot(range)), after: failure, attempt: attempts[range] ?? 1)
      return retry == nil ? fail(failure, &scheduler) : []
    }
  }

  private func slot(_ range: Int) -> Slot { Slot(object: object, part: range) }

  private mutating func get(_ range: Int, _ scheduler: inout Scheduler<Receipt>) -> Action {
    scheduler.begin(slot(range), size: size)
    underWay.insert(range)
    attempts[range, default: 0] += 1
    return .get(range)
  }

  private mutating func arrived(
    _ landing: Scheduler<Receipt>.Landing, _ range: Int, _ scheduler: inout Scheduler<Receipt>
  ) -> [Action] {
    switch landing {
    case .copyIsOut: return [.cancel(range)]
    case .takenBack:
      underWay.remove(range)
      queue.add(range)
    case .arrived(let receipt), .arrivedTwice(let receipt):
      underWay.remove(range)
      if receipt.version == version { received.insert(range) }
      if case .ranging = state, receipt.version != version {
        return fail(Failure(.sourceChanged, "the object was replaced"), &scheduler)
      }
    case .failed: break
    }
    if case .stopping(let reason) = state { return underWay.isEmpty ? finish(reason) : [] }
    return received.count == ranges ? finish(nil) : []
  }

  private mutating func fail(_ failure: Failure, _ scheduler: inout Scheduler<Receipt>) -> [Action] {
    if case .done = state { return [] }
    scheduler.stopWaiting(object)
    guard !underWay.isEmpty else { return finish(failure) }
    return stopLater(failure)
  }

  private mutating func stopLater(_ failure: Failure) -> [Action] {
    if case .stopping = state { return [] }
    state = .stopping(failure)
    return underWay.sorted().map { .cancel($0) }
  }

  private mutating func finish(_ failure: Failure?) -> [Action] {
    state = .done
    return [.finish(failure?.code)]
  }
}
