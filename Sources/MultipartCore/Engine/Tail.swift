/// The end of a run, when nothing is left to send but what is under way: how long transfers take, and which of them go
/// out a second time.
struct Tail: Sendable {
  /// A transfer that could go out twice.
  struct Part {
    var slot: Slot
    var size: Int64
    var sentAt: Duration
  }

  /// Of the last transfers that arrived, at most sixteen.
  private var times: [Duration] = []
  /// Of which a second copy is under way, or was.
  private(set) var twice: Set<Slot> = []
  /// How many of its transfers are out.
  private var copies: [Slot: Int] = [:]
  /// The copy that arrived first, while the other is still out.
  private var winner: [Slot: PartReceipt] = [:]
  private var nextLook: Duration?
  /// How much of each transfer had gone out when that was looked at last.
  private var before: (at: Duration, moved: [Slot: Int64])?
  /// The most that has gone out since then of a transfer that has arrived.
  private var brought: Int64 = 0

  var copiesOut: Int { copies.count }

  private var usual: Duration? { times.count >= 3 ? times.reduce(.zero, +) / times.count : nil }
  /// Beyond this a transfer is slow beyond reason: four times what they take, and ten seconds at least.
  private var patience: Duration? { usual.map { max(.seconds(10), $0 * 4) } }

  mutating func arrived(_ part: Part, at now: Duration) {
    brought = max(brought, part.size - (before?.moved[part.slot] ?? 0))
    if times.count >= 16 { times.removeFirst() }
    times.append(now - part.sentAt)
  }

  // MARK: - Two copies

  /// The first answer of two wins.
  mutating func copy(_ slot: Slot) {
    twice.insert(slot)
    copies[slot] = 2
  }

  /// A copy has arrived. True when both have, under two names: which of them the store keeps nobody knows then.
  mutating func won(_ slot: Slot, _ receipt: PartReceipt) -> Bool {
    guard twice.contains(slot) else { return false }
    let differ = winner[slot].map { $0.etag != receipt.etag } ?? false
    winner[slot] = receipt
    return differ
  }

  /// An answer has come: true when it is the last one that is out. Complete must not be sent while a copy could still
  /// arrive: on some stores that spoils the object.
  mutating func isLast(_ slot: Slot) -> Bool {
    guard let out = copies[slot] else { return true }
    copies[slot] = out > 1 ? out - 1 : nil
    return out <= 1
  }

  mutating func takeWinner(_ slot: Slot) -> PartReceipt? { winner.removeValue(forKey: slot) }

  /// It is sent again as if for the first time.
  mutating func forget(_ slot: Slot) { twice.remove(slot) }

  mutating func forget(object: Int) {
    twice = twice.filter { $0.object != object }
    copies = copies.filter { $0.key.object != object }
    winner = winner.filter { $0.key.object != object }
  }

  // MARK: - Which one

  /// A connection that has nothing to do takes over what another one would need longer for than it would itself for the
  /// whole part. As long again, and three seconds, are the price of the bytes that go out twice.
  ///
  /// Judged by what the last three seconds have brought, or half a part's time: the connections that are left at the end
  /// get faster by that. What the idle one would need is told by the fastest of the others in the same time, and only
  /// where there were none by the parts before: when the store pauses for its disk, or the line for all, a copy would
  /// wait too.
  mutating func slowest(
    of parts: [Part], _ moved: [Slot: Int64], hasIdleConnection: Bool, at now: Duration
  ) -> Slot? {
    guard let before else {
      (self.before, brought) = ((now, moved), 0)
      return nil
    }
    let passed = now - before.at
    guard let usual, passed >= max(.seconds(3), usual / 2) else { return nil }
    let isAlone = moved.count == 1 && brought == 0
    let fastest = moved.reduce(brought) { max($0, $1.value - (before.moved[$1.key] ?? 0)) }
    (self.before, brought) = ((now, moved), 0)
    guard isAlone || fastest > 0, hasIdleConnection else { return nil }
    var slowest: (slot: Slot, left: Duration)?
    for part in parts {
      // With less than before it is another try.
      guard let then = before.moved[part.slot], let out = moved[part.slot], out >= then else { continue }
      let anew = isAlone ? usual : max(usual, passed * (Double(part.size) / Double(fastest)))
      let left = passed * (Double(part.size - out) / Double(max(1, out - then)))
      if left > max(anew * 2, .seconds(3)), left > slowest?.left ?? .zero { slowest = (part.slot, left) }
    }
    return slowest?.slot
  }

  /// Where nobody tells how much of a part has gone out: the slowest one, when it is slow beyond reason. Looked at once a
  /// second; nil until then.
  mutating func overdue(of parts: [Part], at now: Duration) -> (slot: Slot?, nextLook: Duration)? {
    if let next = nextLook, now < next { return nil }
    let next = now + .seconds(1)
    nextLook = next
    guard let slowest = parts.min(by: { ($0.sentAt, $0.slot) < ($1.sentAt, $1.slot) }), let patience,
      now - slowest.sentAt > patience
    else { return (nil, next) }
    return (slowest.slot, next)
  }
}
