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

    mutating func arrived(_ part: Int, _ now: Duration) {
      guard let sent = sentAt.removeValue(forKey: part) else { return }
      if times.count >= 16 { times.removeFirst() }
      times.append(now - sent)
    }

    /// Beyond this a part is slow beyond reason: four times what parts take, and ten seconds at least.
    var patience: Duration? {
      guard times.count >= 3 else { return nil }
      return max(.seconds(10), times.reduce(.zero, +) / times.count * 4)
    }
  }

  /// When nothing else is left to send, the slowest part is sent a second time on a connection of its own, and the first
  /// answer wins. Looked at once a second.
  mutating func hedge() -> [Action] {
    guard settings.hedges, phase == .sending, waiting.isEmpty, queue.isExhausted(), !inFlight.isEmpty,
      !settings.isStream || stream.hasEnded
    else { return [] }
    if let next = tail.nextLook, now < next { return [] }
    let next = now + .seconds(1)
    tail.nextLook = next
    let slowest = inFlight.subtracting(tail.twice).subtracting(takenBack).min {
      (tail.sentAt[$0] ?? now) < (tail.sentAt[$1] ?? now)
    }
    guard let slowest, let sent = tail.sentAt[slowest], let patience = tail.patience, now - sent > patience else {
      return [.wait(until: next)]
    }
    tail.twice.insert(slowest)
    tail.copies[slowest] = 2
    return [.sendCopy(part: slowest, form: form), .wait(until: next)]
  }

  /// An answer of a part that was under way twice: true when it is the last one out, and so the part's end. Complete
  /// must not be sent while a copy could still arrive: on some stores that spoils the object.
  mutating func isLastCopy(_ part: Int) -> Bool {
    guard let out = tail.copies[part] else { return true }
    tail.copies[part] = out > 1 ? out - 1 : nil
    return out <= 1
  }
}
