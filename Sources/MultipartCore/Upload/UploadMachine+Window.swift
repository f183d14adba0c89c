/// How many parts are under way at once.
extension UploadMachine {
  /// As many as there may be when the store does not ask for less.
  private var most: Int { pace?.window ?? settings.concurrency }

  /// One step down in two seconds: the answers to requests that were under way already say the same thing again.
  mutating func narrow(_ now: Duration) {
    if let last = lastNarrowing, now - last < .seconds(2) { return }
    lastNarrowing = now
    window = max(1, window / 2)
    successesAtWindow = 0
    pace?.throttled(to: window, at: now)
  }

  mutating func widen() {
    guard window < most else { return }
    successesAtWindow += 1
    if successesAtWindow >= 4 * window {
      window += 1
      successesAtWindow = 0
    }
  }

  mutating func sampled(_ sample: LineSample, _ moved: [Int: Int64]) -> [Action] {
    guard phase == .sending, !isVetting else { return [] }
    flight.see(moved, at: now)
    let isTail = isTail
    let copies = isTail && !isHeldByLimit ? outrun(moved) : []
    guard window == most, waiting.isEmpty, tail.copies.isEmpty,
      let change = pace?.take(sample, underWay: inFlight.count, isFull: !isTail && inFlight.count >= window)
    else { return copies }
    window = change.connections
    let said = Action.say(.paced(connections: window, why: change.why))
    return [said] + (change.stopsSome ? takeBack(moved) : []) + fill()
  }

  /// No connection is slow then, and none would be faster.
  var isHeldByLimit: Bool { settings.limitRate != nil && pace?.isHeldByLimit != false }

  /// Those that began last, unless a quarter of them has gone out already.
  private mutating func takeBack(_ moved: [Int: Int64]) -> [Action] {
    let young = inFlight.subtracting(tail.twice).filter { (moved[$0] ?? 0) * 4 <= settings.plan.partSize }
    let newest = young.sorted {
      let (a, b) = (tail.sentAt[$0] ?? .zero, tail.sentAt[$1] ?? .zero)
      return a == b ? $0 > $1 : a > b
    }
    let stopped = newest.prefix(max(0, inFlight.count - window))
    takenBack.formUnion(stopped)
    return stopped.map { .cancelPart($0) }
  }

  /// Nothing was wrong with it: the try does not count.
  mutating func sendLater(_ number: Int) -> [Action] {
    attempts[number - 1] -= 1
    queue.add(number)
    return fill()
  }
}
