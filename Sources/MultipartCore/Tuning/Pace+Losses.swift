/// How many connections lost packets call for: each has the rate that losses allow it, so that more are faster, as long as
/// they do not cause the losses.
extension Pace {
  /// Real connections have a little less: the kernel needs round trips to repair a loss.
  private static let nearlyAllowed = 0.7
  /// Between losses that stay as they are and those that become four times as frequent with twice as many connections.
  private static let crowding = 2.2
  /// With so many losses a connection soon has a fraction of its first rate, on a line of any length.
  private static let heavyLosses = 0.008
  /// More is hardly ever lost at random.
  private static let mostRandom = 0.05
  /// Spans of a trial on a slow line: each second costs what has begun.
  private static let slowTrial = 6
  /// At least twice as many connections have at least so much of the rate before.
  private static let spreadGrowth = 1.3

  /// As many connections as random losses make useful.
  mutating func spread(_ losses: LossEvidence.Verdict, _ sample: LineSample) -> Change? {
    if case .spreading(let from) = phase {
      var (sameLosses, before): (Double?, Double) = (nil, from.rate)
      if case .random(let share) = losses, share <= from.losses * Self.crowding { sameLosses = share }
      // The rate before may have been a burst, which these losses would not have allowed for long. On a slow line it may have
      // been all that the line carries.
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
      // What was sent of them is less than what an interruption of all of them would cost.
      change?.stopsSome = true
      return change
    }
    guard case .random(let share) = losses, now >= crowdedUntil, now >= enoughUntil || share >= Self.heavyLosses,
      sample.load < Self.fullLoad, !isHeldByLimit,
      share <= Self.mostRandom, !isMore(share), mayNeedMore(share, sample)
    else { return nil }
    let connections = min(bounds.mostWhenLossy, window * (beforeSlow == nil ? 3 : 2))
    guard connections > window else { return nil }
    // Bursts of new connections, or a line that was better before, do not count. CUBIC's connections get up to twice as
    // much as Reno's.
    let most = 2 * LossEvidence.allowed(window, share, sample.roundTrip)
    // On a slow line a trial that should not have begun costs more than one that does not begin.
    let rate = beforeSlow == nil ? min(evidence.leastRate, most) : evidence.rate
    phase = .spreading(from: Spread(connections: window, losses: share, rate: rate))
    return change(to: connections, Self.why(share))
  }

  /// On a slow line, where a trial costs a part of each connection, only if losses hold these back and not the line.
  func mayNeedMore(_ share: Double, _ sample: LineSample) -> Bool {
    beforeSlow == nil || isHeldByLosses(evidence.rate, share, sample.roundTrip)
  }

  /// More connections have caused it.
  func isMore(_ share: Double) -> Bool {
    guard let before = lossesBefore, now < before.until else { return false }
    return share > before.share * Self.crowding
  }

  private static func why(_ share: Double) -> String {
    "\(percent(share)) of the packets are lost, which limits each connection"
  }

  /// The connections have nearly the rate that losses allow them: with fewer, each part would take as long.
  func isHeldByLosses(_ rate: Double, _ share: Double?, _ roundTrip: Duration) -> Bool {
    guard let share, !isHeldByLimit else { return false }
    return rate >= LossEvidence.allowed(window, share, roundTrip) * Self.nearlyAllowed
  }
}
