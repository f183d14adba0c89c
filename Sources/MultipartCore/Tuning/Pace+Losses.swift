/// How many connections to use when packets are lost: each has the rate that its losses allow, so more connections are
/// faster, as long as they do not cause the losses.
extension Pace {
  /// Real connections reach a little less: the kernel needs round trips to repair a loss.
  private static let nearlyAllowed = 0.7
  /// Between losses that stay constant and those that become four times as frequent with twice as many connections.
  private static let crowding = 2.2
  /// With this many losses a connection soon has a fraction of its first rate, on a line of any length.
  private static let heavyLosses = 0.008
  /// Random losses rarely exceed this.
  private static let mostRandom = 0.05
  /// Spans of a trial on a slow line, where each second costs the parts that have begun.
  private static let slowTrial = 6
  /// At least twice as many connections must reach this multiple of the former rate.
  private static let spreadGrowth = 1.3

  /// Uses as many connections as random losses make useful.
  mutating func spread(_ losses: LossEvidence.Verdict, _ sample: LineSample) -> Change? {
    if case .spreading(let from) = phase {
      var (sameLosses, before): (Double?, Double) = (nil, from.rate)
      if case .random(let share) = losses, share <= from.losses * Self.crowding { sameLosses = share }
      // The former rate may have been a burst, which these losses would not have allowed for long. On a slow line it
      // may have been all that the line carries.
      if sameLosses != nil, beforeSlow == nil {
        before = min(before, LossEvidence.allowed(from.connections, from.losses, sample.roundTrip))
      }
      let isFaster = evidence.rate >= before * Self.spreadGrowth
      if let share = sameLosses, isFaster || beforeSlow == nil {
        lossyNeed = window
        let connections = min(bounds.mostWhenLossy, window * 2)
        if connections > window, mayNeedMore(share, sample) { return change(to: connections, Self.why(share)) }
      }
      guard evidence.isLong || (beforeSlow != nil && evidence.count >= Self.slowTrial) else { return nil }
      settle(now)
      guard losses == .few || !isFaster else { return nil }
      lossyNeed = 1
      // On a slow line a trial costs a part of each connection.
      if beforeSlow != nil { patience = Self.longestPatience }
      crowdedUntil = now + patience
      patience = min(patience * 2, Self.longestPatience)
      var change = change(to: from.connections, "\(window) are hardly faster")
      // Less was sent of these parts than an interruption of all connections would cost.
      change?.stopsSome = true
      return change
    }
    guard case .random(let share) = losses, now >= crowdedUntil, now >= enoughUntil || share >= Self.heavyLosses,
      sample.load < Self.fullLoad, !isHeldByLimit,
      share <= Self.mostRandom, !isMore(share), mayNeedMore(share, sample)
    else { return nil }
    let connections = min(bounds.mostWhenLossy, window * (beforeSlow == nil ? 3 : 2))
    guard connections > window else { return nil }
    // Ignores bursts of new connections, and a line that was better before. CUBIC's connections get up to twice as much
    // as Reno's.
    let most = 2 * LossEvidence.allowed(window, share, sample.roundTrip)
    // On a slow line a needless trial costs more than a missed one.
    let rate = beforeSlow == nil ? min(evidence.leastRate, most) : evidence.rate
    phase = .spreading(from: Spread(connections: window, losses: share, rate: rate))
    return change(to: connections, Self.why(share))
  }

  /// Whether a slow line may need more connections. A trial costs a part of each connection there, so losses rather
  /// than the line must be holding them back.
  func mayNeedMore(_ share: Double, _ sample: LineSample) -> Bool {
    beforeSlow == nil || isHeldByLosses(evidence.rate, share, sample.roundTrip)
  }

  /// Whether more connections have increased the losses.
  func isMore(_ share: Double) -> Bool {
    guard let before = lossesBefore, now < before.until else { return false }
    return share > before.share * Self.crowding
  }

  private static func why(_ share: Double) -> String {
    "\(percent(share)) of the packets are lost, which limits each connection"
  }

  /// Whether the connections have nearly the rate that losses allow: with fewer, each part would take as long.
  func isHeldByLosses(_ rate: Double, _ share: Double?, _ roundTrip: Duration) -> Bool {
    guard let share, !isHeldByLimit else { return false }
    return rate >= LossEvidence.allowed(window, share, roundTrip) * Self.nearlyAllowed
  }
}
