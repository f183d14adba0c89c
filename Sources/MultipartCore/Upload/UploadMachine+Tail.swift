extension UploadMachine {
  /// How long parts take, and which are under way twice.
  struct Tail: Sendable {
    var sentAt: [Int: Duration] = [:]
    /// Of the last parts that arrived, at most sixteen.
    var times: [Duration] = []
    /// Parts of which a second copy is under way, or was.
    var twice: Set<Int> = []
    /// Transfers that are out for a part that is under way twice.
    var copies: [Int: Int] = [:]
    /// The copy that arrived first, while the other is still out.
    var winner: [Int: PartReceipt] = [:]
    var nextLook: Duration?
    /// How much of each part had gone out when that was looked at last.
    var before: (at: Duration, moved: [Int: Int64])?
    /// The most that has gone out since then of a part that has arrived.
    var brought: Int64 = 0

    mutating func arrived(_ part: Int, _ size: Int64, _ now: Duration) {
      brought = max(brought, size - (before?.moved[part] ?? 0))
      guard let sent = sentAt.removeValue(forKey: part) else { return }
      if times.count >= 16 { times.removeFirst() }
      times.append(now - sent)
    }

    /// What a part takes.
    var usual: Duration? { times.count >= 3 ? times.reduce(.zero, +) / times.count : nil }

    /// Beyond this a part is slow beyond reason: four times what parts take, and ten seconds at least.
    var patience: Duration? { usual.map { max(.seconds(10), $0 * 4) } }
  }

  /// Nothing is left to send but what is under way.
  var isTail: Bool {
    mutating get {
      settings.hedges && phase == .sending && waiting.isEmpty && queue.isExhausted() && !inFlight.isEmpty
        && (!settings.isStream || stream.hasEnded)
    }
  }

  /// Of one part a second copy is sent, and the first answer wins.
  private mutating func copy(_ part: Int, fresh: Bool) -> Action {
    tail.twice.insert(part)
    tail.copies[part] = 2
    return .sendCopy(part: part, form: form, freshConnection: fresh)
  }

  private var mayBeCopied: Set<Int> { inFlight.subtracting(tail.twice).subtracting(takenBack) }

  /// A connection that has nothing to do takes over what another one would need longer for than it would itself for the
  /// whole part. As long again, and three seconds, are the price of the bytes that go out twice.
  ///
  /// Judged by what the last three seconds have brought, or half a part's time: the connections that are left at the end
  /// get faster by that. What the idle one would need is told by the fastest of the others in the same time, and only
  /// where there were none by the parts before: when the store pauses for its disk, or the line for all, a copy would
  /// wait too.
  mutating func outrun(_ moved: [Int: Int64]) -> [Action] {
    guard let before = tail.before else {
      (tail.before, tail.brought) = ((now, moved), 0)
      return []
    }
    let passed = now - before.at
    guard let usual = tail.usual, passed >= max(.seconds(3), usual / 2) else { return [] }
    let isAlone = moved.count == 1 && tail.brought == 0
    let fastest = moved.reduce(tail.brought) { max($0, $1.value - (before.moved[$1.key] ?? 0)) }
    (tail.before, tail.brought) = ((now, moved), 0)
    guard isAlone || fastest > 0, window > inFlight.count + tail.copies.count else { return [] }
    var slowest: (part: Int, left: Duration)?
    for part in mayBeCopied.sorted() {
      // With less than before it is another try.
      guard let then = before.moved[part], let out = moved[part], out >= then else { continue }
      let size = settings.isStream ? stream.sizes[part - 1] : settings.plan.range(of: part).length
      let anew = isAlone ? usual : max(usual, passed * (Double(size) / Double(fastest)))
      let left = passed * (Double(size - out) / Double(max(1, out - then)))
      if left > max(anew * 2, .seconds(3)), left > slowest?.left ?? .zero { slowest = (part, left) }
    }
    // A connection that has just done its part is warm.
    return slowest.map { [copy($0.part, fresh: false)] } ?? []
  }

  /// Where nobody tells how much of a part has gone out: the slowest one, when it is slow beyond reason. Looked at once a
  /// second.
  mutating func hedge() -> [Action] {
    guard isTail, !isHeldByLimit else { return [] }
    if let next = tail.nextLook, now < next { return [] }
    let next = now + .seconds(1)
    tail.nextLook = next
    let slowest = mayBeCopied.min { (tail.sentAt[$0] ?? now) < (tail.sentAt[$1] ?? now) }
    guard let slowest, let sent = tail.sentAt[slowest], let patience = tail.patience, now - sent > patience else {
      return [.wait(until: next)]
    }
    return [copy(slowest, fresh: true), .wait(until: next)]
  }

  /// An answer of a part that was under way twice: true when it is the last one out, and so the part's end. Complete
  /// must not be sent while a copy could still arrive: on some stores that spoils the object.
  mutating func isLastCopy(_ part: Int) -> Bool {
    guard let out = tail.copies[part] else { return true }
    tail.copies[part] = out > 1 ? out - 1 : nil
    return out <= 1
  }
}
