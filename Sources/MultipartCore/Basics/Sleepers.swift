/// The sleeping tasks of `TaskThreads`; the time is always passed in.
struct Sleepers: Sendable {
  typealias Waiter = CheckedContinuation<Void, any Error>

  private struct Sleeper: Sendable {
    var identifier: UInt64
    var until: Duration
    var waiter: Waiter
  }

  /// Sorted so that the first to wake is the last element.
  private var sleeping: [Sleeper] = []
  private var identifiers: UInt64 = 0
  /// Announced and not yet asleep: true if it was cancelled in between.
  private var announced: [UInt64: Bool] = [:]

  /// When the next one wakes.
  var next: Duration? { sleeping.last?.until }

  /// Called before a task falls asleep: from then on it can be cancelled.
  mutating func announce() -> UInt64 {
    identifiers += 1
    announced[identifiers] = false
    return identifiers
  }

  /// False if it was cancelled since `announce()`.
  mutating func add(_ identifier: UInt64, until: Duration, _ waiter: Waiter) -> Bool {
    guard announced.removeValue(forKey: identifier) == false else { return false }
    let place = sleeping.firstIndex { $0.until <= until } ?? sleeping.endIndex
    sleeping.insert(Sleeper(identifier: identifier, until: until, waiter: waiter), at: place)
    return true
  }

  /// The waiter to resume with a cancellation, if it sleeps.
  mutating func cancel(_ identifier: UInt64) -> Waiter? {
    if announced[identifier] != nil { announced[identifier] = true }
    guard let place = sleeping.firstIndex(where: { $0.identifier == identifier }) else { return nil }
    return sleeping.remove(at: place).waiter
  }

  /// Those whose time has come, earliest first.
  mutating func wake(at now: Duration) -> [Waiter] {
    var woken: [Waiter] = []
    while let last = sleeping.last, last.until <= now {
      woken.append(last.waiter)
      sleeping.removeLast()
    }
    return woken
  }
}
