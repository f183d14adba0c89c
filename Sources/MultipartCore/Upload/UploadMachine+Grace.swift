/// An interruption lets parts end that nearly have: a later run need not send them again.
extension UploadMachine {
  /// How fast each part under way goes, by what was acknowledged of it in the last second or two.
  struct Flight: Sendable {
    private struct Look {
      var at: Duration
      var moved: [Int: Int64]
    }

    private var before: Look?
    private var last: Look?
    private var newest: Look?
    /// When parts that were left to end are stopped all the same.
    fileprivate var graceEnds: Duration?

    mutating func see(_ moved: [Int: Int64], at now: Duration) {
      let look = Look(at: now, moved: moved)
      newest = look
      guard last.map({ now - $0.at >= .seconds(1) }) ?? true else { return }
      (before, last) = (last, look)
    }

    /// Nil where it cannot be told.
    func left(of part: Int, size: Int64, sent: Duration?) -> Duration? {
      guard let newest, let out = newest.moved[part] else { return nil }
      guard out < size else { return .zero }
      guard let base = before ?? last else { return nil }
      let from = max(base.at, sent ?? base.at)
      let gone = out - (base.moved[part] ?? 0)
      let passed = newest.at - from
      guard gone > 0, passed > .milliseconds(100) else { return nil }
      return passed * (Double(size - out) / Double(gone))
    }
  }

  private static let grace: Duration = .seconds(2)

  /// Only where the next run has a use for them.
  mutating func windDown(_ failure: Failure) -> [Action] {
    cause = failure
    guard keepsForLater, !isVetting else { return fail(failure) }
    let ending = inFlight.subtracting(takenBack).filter { part in
      let size = settings.plan.range(of: part).length
      return flight.left(of: part, size: size, sent: tail.sentAt[part]).map { $0 < Self.grace } ?? false
    }
    guard !ending.isEmpty else { return fail(failure) }
    waiting = []
    phase = .stopping
    flight.graceEnds = now + Self.grace
    return inFlight.subtracting(ending).sorted().map { .cancelPart($0) } + [.wait(until: now + Self.grace)]
  }

  /// Nil when nothing was left to end, or has time still.
  mutating func graceEnds() -> [Action]? {
    guard phase == .stopping, let end = flight.graceEnds, now >= end else { return nil }
    flight.graceEnds = nil
    return [.cancelTransfers]
  }
}
