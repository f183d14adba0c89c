import MultipartBasics

/// How fast each transfer is, by the bytes acknowledged in the last second or two.
struct Flight: Sendable {
  private struct Look {
    var at: Duration
    var moved: [Slot: Int64]
  }

  private var before: Look?
  private var last: Look?
  private var newest: Look?

  mutating func see(_ moved: [Slot: Int64], at now: Duration) {
    let look = Look(at: now, moved: moved)
    newest = look
    guard last.map({ now - $0.at >= .seconds(1) }) ?? true else { return }
    (before, last) = (last, look)
  }

  /// How long a transfer will still take; nil if unknown.
  func left(of slot: Slot, size: Int64, sentAt: Duration) -> Duration? {
    guard let newest, let out = newest.moved[slot] else { return nil }
    guard out < size else { return .zero }
    guard let base = before ?? last else { return nil }
    let from = max(base.at, sentAt)
    let gone = out - (base.moved[slot] ?? 0)
    let passed = newest.at - from
    guard gone > 0, passed > .milliseconds(100) else { return nil }
    return passed * (Double(size - out) / Double(gone))
  }
}
