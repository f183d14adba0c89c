import MultipartBasics

/// What is shown of an object's retries.
struct Retries: Sendable {
  /// The next try of anything that is waiting for one, and why the last one failed.
  var next: (until: Duration, why: Wording)?
  /// Nil unless the last try got no answer, and nothing has been answered since.
  var silence: Silence?
  var most: Int

  /// Tries without an answer: when the first of them began, and the number of the next one.
  struct Silence: Sendable {
    var since: Duration
    var next: Int?
  }

  /// What an object is doing that transfers; `activity` unless a server leaves it without an answer.
  func activity(_ activity: UploadActivity) -> UploadActivity {
    guard let silence, let next = silence.next else { return activity }
    return .tryingAgain(attempt: min(next, most), of: most, since: silence.since)
  }
}

/// Something that waits for its next try: a transfer, or the single request that an object is waiting for.
enum Waiter: Hashable {
  case transfer(Slot)
  case step(object: Int)

  var object: Int {
    switch self {
    case .transfer(let slot): slot.object
    case .step(let object): object
    }
  }

  fileprivate var holdsPlace: Bool {
    if case .transfer = self { true } else { false }
  }
}

/// A waiter and the time of its next try.
private struct Wait {
  var who: Waiter
  var until: Duration
}

/// Decides for the whole run how many transfers may run at once, which of them are made a second time, and when failed
/// ones are retried. It has no clock of its own.
struct Scheduler<Receipt: TransferReceipt>: Sendable {
  /// What the answer to a transfer means.
  enum Landing {
    /// The other copy is still running.
    case copyIsOut
    case arrived(Receipt)
    /// Both copies arrived, and their receipts differ.
    case arrivedTwice(Receipt)
    /// It was stopped to make room; nothing was wrong with it.
    case takenBack
    case failed
  }

  /// Transfers of less than this on average spend most of their time waiting for answers.
  private static var small: Int64 { 512 << 10 }
  /// How many seconds' worth of the line may be in a buffer before it.
  private static var mostHeld: Double { 2 }

  let settings: RunSettings
  /// The time of the current event.
  var now: Duration = .zero
  /// Started objects without a transfer yet; each reserves one connection.
  var preparing = 0
  /// Everything that any object has left to transfer is being transferred.
  var allIsOut = false
  private var dice: Dice
  private var window: Window
  private var flying: [Slot: RunningTransfer] = [:]
  /// The times at which the run has to be woken.
  private var wakes: [Duration] = []
  private var waiting: [Wait] = []
  /// Why each object's last try failed.
  private var troubles: [Int: Wording] = [:]
  /// The objects of which a transfer got no answer, and no transfer has got one since.
  private var silent: [Int: Retries.Silence] = [:]
  /// When a transfer was last answered.
  private var answered = Duration.zero
  private var takenBack: Set<Slot> = []
  /// Transfers that have succeeded, and the bytes of those that are running.
  private var landed = 0
  private(set) var flyingBytes: Int64 = 0
  private var tail = Tail<Receipt>()
  private var flight = Flight()
  private var handover = Handover()
  private var limit: Int64?

  init(_ settings: RunSettings, partSize: Int64) {
    self.settings = settings
    dice = Dice(seed: settings.seed)
    window = Window(settings, partSize: partSize)
    limit = settings.limitRate
  }

  /// How many transfers may run now; a store that asks for less halves it.
  var width: Int { window.width }

  /// Transfers that wait for their next try count too, so that a failing store does not get a new one for each that it
  /// refused.
  var occupied: Int { flying.count + waitingInPlace + preparing }
  private var waitingInPlace: Int { waiting.count(where: \.who.holdsPlace) }
  var hasRoom: Bool { occupied < window.width }

  mutating func recut(_ partSize: Int64, before: Int64? = nil) {
    guard flying.isEmpty, partSize != window.partSize else { return }
    window.recut(partSize, before: before)
  }

  // MARK: - Transfers

  mutating func begin(_ slot: Slot, size: Int64) {
    flying[slot] = RunningTransfer(slot: slot, size: size, sentAt: now)
    flyingBytes += size
    handover.begin(slot, at: now)
  }

  mutating func arrived(_ slot: Slot, _ receipt: Receipt) -> Landing {
    let differ = tail.won(slot, receipt)
    guard tail.isLast(slot) else { return .copyIsOut }
    let receipt = tail.takeWinner(slot) ?? receipt
    succeeded(slot)
    return differ ? .arrivedTwice(receipt) : .arrived(receipt)
  }

  mutating func succeeded(_ slot: Slot) {
    takenBack.remove(slot)
    silent[slot.object] = nil
    answered = now
    if let part = flying.removeValue(forKey: slot) {
      tail.arrived(part, at: now)
      handover.answered(slot, size: part.size, at: now)
      flyingBytes -= part.size
      landed += 1
    }
    window.widen()
  }

  mutating func failed(_ slot: Slot, _ failure: Failure) -> Landing {
    guard tail.isLast(slot) else { return .copyIsOut }
    if let receipt = tail.takeWinner(slot) {
      succeeded(slot)
      return .arrived(receipt)
    }
    tail.forget(slot)
    let part = flying.removeValue(forKey: slot)
    if let part { flyingBytes -= part.size }
    handover.ended(slot, at: now)
    if takenBack.remove(slot) != nil, failure.code == .interrupted { return .takenBack }
    if failure.code == .throttled { window.narrow(at: now) }
    if failure.code == .stalled || failure.code == .network {
      let began = max(part?.sentAt ?? now, answered)
      let since = min(began, silent[slot.object]?.since ?? began)
      silent[slot.object] = Retries.Silence(since: since, next: silent[slot.object]?.next)
    } else {
      silent[slot.object] = nil
    }
    return .failed
  }

  /// The object's transfers that would finish within this time.
  func arriving(of object: Int, within time: Duration) -> Set<Int> {
    let soon = flying.values.filter { part in
      part.slot.object == object && !takenBack.contains(part.slot)
        && flight.left(of: part.slot, size: part.size, sentAt: part.sentAt).map { $0 < time } ?? false
    }
    return Set(soon.map(\.slot.part))
  }

  // MARK: - Retries

  /// How long something waits, before which try, and what went wrong with the last one.
  struct Pause {
    var who: Waiter
    var wait: Duration
    var attempt: Int
    var cause: Failure
  }

  /// How long to wait after this number of tries; nil if none is left.
  mutating func pause(after failure: Failure, attempt: Int, by policy: RetryPolicy? = nil) -> Duration? {
    (policy ?? settings.retry).wait(after: failure, attempt: attempt, dice: dice.next())
  }

  /// A random number in 0..<1.
  mutating func roll() -> Double { dice.next() }

  /// Schedules the next try; nil if none is left.
  mutating func retry(_ who: Waiter, after failure: Failure, attempt: Int) -> Pause? {
    pause(after: failure, attempt: attempt).map { wait(who, $0, after: failure, attempt: attempt) }
  }

  mutating func wait(_ who: Waiter, _ wait: Duration, after failure: Failure, attempt: Int) -> Pause {
    troubles[who.object] = failure.s3Code.map { "the store says \($0)" } ?? failure.message
    if let known = silent[who.object] { silent[who.object]?.next = max(attempt + 1, known.next ?? 0) }
    self.wait(who, wait)
    return Pause(who: who, wait: wait, attempt: attempt + 1, cause: failure)
  }

  mutating func wait(_ who: Waiter, _ wait: Duration) {
    waiting.append(Wait(who: who, until: now + wait))
    wake(at: now + wait)
  }

  mutating func wake(at time: Duration) { wakes.append(time) }

  mutating func takeWakes() -> [Duration] {
    defer { wakes = [] }
    return wakes
  }

  mutating func takeDue() -> [Waiter] {
    let due = waiting.filter { $0.until <= now }
    waiting.removeAll { $0.until <= now }
    return due.map(\.who)
  }

  /// Stops waiting for the object's next tries.
  mutating func stopWaiting(_ object: Int) {
    waiting.removeAll { $0.who.object == object }
  }

  func isWaiting(_ object: Int) -> Bool { waiting.contains { $0.who.object == object } }

  /// The object's retries, if it has any.
  func retries(of object: Int) -> Retries {
    Retries(next: nextTry(of: object), silence: silent[object], most: settings.retry.tries)
  }

  /// The object's next retry and the failure behind it; nil if it is not waiting for one.
  func nextTry(of object: Int) -> (until: Duration, why: Wording)? {
    guard let until = waiting.lazy.filter({ $0.who.object == object }).map(\.until).min() else { return nil }
    return (until, troubles[object] ?? "")
  }

  /// Forgets an object that has nothing running, and never will again.
  mutating func forget(_ object: Int) {
    stopWaiting(object)
    troubles[object] = nil
    silent[object] = nil
    tail.forget(object: object)
  }

  // MARK: - The line

  struct Look {
    var change: Pace.Change?
    /// Transfers to stop now and send again when fewer are running.
    var takenBack: [Slot] = []
    var copied: Slot?
  }

  mutating func look(_ sample: LineSample, _ moved: [Slot: Int64]) -> Look {
    flight.see(moved, at: now)
    limit = sample.limit
    var look = Look()
    look.change = window.follow(limit, at: now)
    if isTail, !isHeldByLimit {
      let hasIdleConnection = window.width > flying.count + tail.copiesOut
      look.copied = tail.slowest(
        of: mayBeCopied, moved, hasIdleConnection: hasIdleConnection, isLossy: window.lineIsLossy, at: now)
      look.copied.map { tail.copy($0) }
    }
    let isFull = !isTail && flying.count >= window.width
    let size = flyingBytes / Int64(max(1, flying.count))
    handover.see(flying.values, moved, at: now)
    let answers = handover.takeAnswers()
    window.carries(small: !flying.isEmpty && size < Self.small)
    guard look.change == nil, !window.isNarrowed, waitingInPlace == 0, tail.copiesOut == 0 else {
      return look
    }
    look.change = window.take(sample, answers, underWay: flying.count, size: size, arrived: landed, isFull: isFull)
    var carried = moved
    if let change = unload(moved, &carried) { look.change = change }
    if look.change?.stopsSome == true { look.takenBack = takeBack(carried) }
    return look
  }

  /// Reduces the number of parts if the line would take too long for what is in a buffer on the way; from then on only
  /// answers count. `carried` is how much of each part can have been passed on. Only done before the first answer:
  /// later, a store that needs seconds for each part would look the same.
  private mutating func unload(_ moved: [Slot: Int64], _ carried: inout [Slot: Int64]) -> Pace.Change? {
    guard settings.buffers != .none, landed == 0, let backlog = window.backlog else { return nil }
    let share = backlog.rate / Double(flying.count)
    var held = -(now - backlog.since).seconds * backlog.rate
    for part in flying.values {
      let moved = moved[part.slot] ?? 0
      // A part that was handed over completely may be at the store, which has just not answered.
      guard moved < part.size else { continue }
      carried[part.slot] = min(moved, Int64((now - part.sentAt).seconds * share))
      held += Double(moved) - max(.zero, backlog.since - part.sentAt).seconds * share
    }
    guard held > backlog.rate * Self.mostHeld else {
      carried = moved
      return nil
    }
    window.countOnlyAnswers(backlog.enough)
    let why = "\(Human.rate(backlog.rate)), and \(Int64(held) >> 20) MiB wait on the way"
    return Pace.Change(connections: backlog.enough, why: why, stopsSome: true)
  }

  /// Stops the transfers that started last, unless a quarter of them has already been sent. One that was sent
  /// completely needs nothing more of the line, so it does not count.
  private mutating func takeBack(_ moved: [Slot: Int64]) -> [Slot] {
    let sending = flying.values.filter { (moved[$0.slot] ?? 0) < $0.size }
    let young = sending.filter { mayBeStopped($0.slot) && (moved[$0.slot] ?? 0) * 4 <= $0.size }
    let newest = young.sorted { ($0.sentAt, $0.slot) > ($1.sentAt, $1.slot) }
    let stopped = newest.prefix(max(0, sending.count - window.width)).map(\.slot)
    takenBack.formUnion(stopped)
    return stopped
  }

  /// A transfer that is far too slow, and is made again; at most one per second.
  mutating func hedge() -> Slot? {
    guard isTail, !isHeldByLimit, let overdue = tail.overdue(of: mayBeCopied, at: now) else { return nil }
    wake(at: overdue.nextLook)
    overdue.slot.map { tail.copy($0) }
    return overdue.slot
  }

  /// The transfers that may be copied. An object in a single request is published by it, which may happen only once.
  private var mayBeCopied: [RunningTransfer] {
    flying.values.filter { mayBeStopped($0.slot) && !takenBack.contains($0.slot) }.sorted { $0.slot < $1.slot }
  }

  private func mayBeStopped(_ slot: Slot) -> Bool { !slot.isWholeObject && !tail.twice.contains(slot) }

  private var isTail: Bool {
    settings.hedges && allIsOut && !flying.isEmpty && waitingInPlace == 0
  }

  var lineIsLossy: Bool { window.lineIsLossy }
  var lineBuffers: Bool { window.countsOnlyAnswers }

  /// Whether the limit determines the rate: then no connection is slow, and none would be faster.
  private var isHeldByLimit: Bool { limit != nil && window.mayBeHeldByLimit }
}
