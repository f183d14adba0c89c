/// A running transfer.
struct RunningTransfer: Sendable {
  var slot: Slot
  var size: Int64
  var sentAt: Duration
}

/// The end of a run, when everything that is left to transfer is being transferred: how long transfers take, and which
/// of them are made a second time.
struct Tail<Receipt: TransferReceipt>: Sendable {
  /// The durations of the last transfers that arrived, at most sixteen.
  private var times: [Duration] = []
  /// Transfers that have, or had, a second copy.
  private(set) var twice: Set<Slot> = []
  /// How many copies of a transfer are running.
  private var copies: [Slot: Int] = [:]
  /// The copy that arrived first, while the other is still being sent.
  private var winner: [Slot: Receipt] = [:]
  private var nextLook: Duration?
  /// How much of each transfer had been sent at the last sample.
  private var before: (at: Duration, moved: [Slot: Int64])?
  /// The most that any transfer that has since arrived has sent after that sample.
  private var brought: Int64 = 0

  var copiesOut: Int { copies.count }

  private var usual: Duration? { times.count >= 3 ? times.reduce(.zero, +) / times.count : nil }
  /// When a transfer counts as far too slow: after four times the usual duration, and at least ten seconds.
  private var patience: Duration? { usual.map { max(.seconds(10), $0 * 4) } }

  mutating func arrived(_ part: RunningTransfer, at now: Duration) {
    brought = max(brought, part.size - (before?.moved[part.slot] ?? 0))
    if times.count >= 16 { times.removeFirst() }
    times.append(now - part.sentAt)
  }

  // MARK: - Two copies

  /// Marks a transfer that is made twice; the first answer counts.
  mutating func copy(_ slot: Slot) {
    twice.insert(slot)
    copies[slot] = 2
  }

  /// A copy has arrived. Returns whether both have, with receipts that differ: then it is unknown which of them counts.
  mutating func won(_ slot: Slot, _ receipt: Receipt) -> Bool {
    guard twice.contains(slot) else { return false }
    let differ = winner[slot].map { !$0.agrees(with: receipt) } ?? false
    winner[slot] = receipt
    return differ
  }

  /// An answer has arrived; returns whether it is the last one pending. Complete must not be sent while a copy could
  /// still arrive: on some stores that spoils the object.
  mutating func isLast(_ slot: Slot) -> Bool {
    guard let out = copies[slot] else { return true }
    copies[slot] = out > 1 ? out - 1 : nil
    return out <= 1
  }

  mutating func takeWinner(_ slot: Slot) -> Receipt? { winner.removeValue(forKey: slot) }

  /// Forgets a transfer, which is sent again as if for the first time.
  mutating func forget(_ slot: Slot) { twice.remove(slot) }

  mutating func forget(object: Int) {
    twice = twice.filter { $0.object != object }
    copies = copies.filter { $0.key.object != object }
    winner = winner.filter { $0.key.object != object }
  }

  // MARK: - Choosing a transfer

  /// The transfer that an idle connection should send again: its current connection would need longer for the rest than
  /// twice the idle one's time for the whole part, and more than three seconds, which makes up for the bytes that are
  /// sent twice.
  ///
  /// Judged by the last three seconds, or half a part's time if that is longer, because the remaining connections at
  /// the end become faster. The idle connection's time is estimated from the fastest of the others in the same
  /// interval, and only if there were none from earlier parts: when the store pauses for its disk, or the line is slow
  /// for all, a copy would wait too. If losses limit each connection, chance makes one of them the fastest: a copy
  /// would be as fast as they are on average.
  mutating func slowest(
    of parts: [RunningTransfer], _ moved: [Slot: Int64], hasIdleConnection: Bool, isLossy: Bool, at now: Duration
  ) -> Slot? {
    guard let before else {
      (self.before, brought) = ((now, moved), 0)
      return nil
    }
    let passed = now - before.at
    guard let usual, passed >= max(.seconds(3), usual / 2) else { return nil }
    let isAlone = moved.count == 1 && brought == 0
    let steps = moved.map { $0.value - (before.moved[$0.key] ?? 0) }
    let speed = isLossy && !isAlone ? steps.reduce(0, +) / Int64(max(1, steps.count)) : steps.reduce(brought, max)
    (self.before, brought) = ((now, moved), 0)
    guard isAlone || speed > 0, hasIdleConnection else { return nil }
    var slowest: (slot: Slot, left: Duration)?
    for part in parts {
      // If less was sent than before, it is a new try.
      guard let then = before.moved[part.slot], let out = moved[part.slot], out >= then else { continue }
      let anew = isAlone ? usual : max(usual, passed * (Double(part.size) / Double(speed)))
      let left = passed * (Double(part.size - out) / Double(max(1, out - then)))
      if left > max(anew * 2, .seconds(3)), left > slowest?.left ?? .zero { slowest = (part.slot, left) }
    }
    return slowest?.slot
  }

  /// The slowest transfer, if it is far too slow, for when the number of sent bytes is unknown. Checked once per
  /// second; nil until then.
  mutating func overdue(of parts: [RunningTransfer], at now: Duration) -> (slot: Slot?, nextLook: Duration)? {
    if let next = nextLook, now < next { return nil }
    let next = now + .seconds(1)
    nextLook = next
    guard let slowest = parts.min(by: { ($0.sentAt, $0.slot) < ($1.sentAt, $1.slot) }), let patience,
      now - slowest.sentAt > patience
    else { return (nil, next) }
    return (slowest.slot, next)
  }
}
