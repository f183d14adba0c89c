/// How many connections an upload uses, found out by trying: more while the rate grows with them, and back where it does
/// not.
///
/// It is told what the line did and how many parts were under way meanwhile: with fewer than there are connections a
/// rate says only whether the line is slow. It has no clock of its own.
package struct Pace: Sendable {
  package struct Bounds: Sendable, Equatable {
    package var start: Int
    package var most: Int
    /// On a line that loses packets the rate of each connection is bounded by the losses.
    package var leastWhenLossy = 16

    package init(start: Int, most: Int) {
      self.start = max(1, start)
      self.most = max(1, start, most)
    }
  }

  package struct Change: Sendable, Equatable {
    package var connections: Int
    package var why: String
    /// What the connections too many have begun is to be stopped: it would take minutes.
    package var stopsSome = false
  }

  private enum Phase: Equatable {
    /// The first connections are still finding their speed.
    case beginning(rate: Double?)
    /// Each step is measured against the rate before it.
    case climbing(from: Int, rate: Double)
    case settled(until: Duration)
    /// Fewer connections for a slow line; `rate` is what more of them had.
    case fewer(from: Int, rate: Double)
  }

  package private(set) var window: Int
  private let bounds: Bounds
  private let partSize: Int64
  private var phase = Phase.beginning(rate: nil)
  private var epoch: LineSample?
  private var underWayInEpoch = 0
  /// After a change the new connections are made and find their speed first.
  private var isFresh = false
  /// A store that asked for less is left in peace until then.
  private var quietUntil: Duration = .zero
  private var patience = Self.shortestPatience
  /// Fewer connections were slower here.
  private var needsMany = false
  /// How many connections there were before the line was too slow for them, and slower still.
  private var beforeSlow: Int?
  /// Since when each look has found the rate too low for so many connections, and the last one hardly any at all.
  private var slowSince: Duration?
  private var isAtRest = false

  /// A rate that is higher by less may be chance.
  private static let growth = 1.1
  private static let shortestEpoch: Duration = .milliseconds(300)
  /// For a slow line: until so much has arrived, and no longer than this.
  private static let leastMoved: Int64 = 256 << 10
  private static let longestEpoch: Duration = .seconds(5)
  /// A store that stands still for a while looks like a slow line, and what is stopped then is sent for nothing. Only time
  /// tells them apart; where next to nothing moves, next to nothing is lost by waiting longer.
  private static let leastSlowness: Duration = .seconds(10)
  private static let leastRest: Duration = .seconds(20)
  /// Between two trials; twice as long after each that brought nothing.
  private static let shortestPatience: Duration = .seconds(10)
  private static let longestPatience: Duration = .seconds(80)
  /// A part that takes longer loses too much when the line drops.
  private static let longestPart = 60.0
  /// Where the loops have no more of their cores to give, connections bring nothing.
  private static let fullLoad = 0.75
  /// Of the connections' time.
  private static let fullLine = 0.7

  package init(_ bounds: Bounds, partSize: Int64) {
    self.bounds = bounds
    self.partSize = partSize
    window = bounds.start
  }

  /// The store has asked for less, and gets it: half, by who tells.
  package mutating func throttled(to window: Int, at now: Duration) {
    self.window = max(1, window)
    epoch = nil
    beforeSlow = nil
    quietUntil = now + Self.shortestPatience
    settle(now)
  }

  package mutating func take(_ sample: LineSample, underWay: Int, isFull: Bool) -> Change? {
    guard let begun = epoch, underWay == underWayInEpoch else {
      (epoch, underWayInEpoch) = (sample, underWay)
      return nil
    }
    let passed = sample.at - begun.at
    if isFresh {
      guard passed >= max(Self.shortestEpoch / 3, sample.roundTrip * 3) else { return nil }
      isFresh = false
      epoch = sample
      return nil
    }
    let moved = sample.delivered - begun.delivered
    guard passed >= max(Self.shortestEpoch, sample.roundTrip * 4) else { return nil }
    guard moved >= Self.leastMoved || passed >= Self.longestEpoch else { return nil }
    epoch = sample
    guard sample.at >= quietUntil else { return nil }
    let rate = Double(moved) / passed.seconds
    slowSince = isTooSlow(rate, sample, underWay) ? slowSince ?? begun.at : nil
    isAtRest = moved < Self.leastMoved
    return judge(rate, sample, underWay: underWay, isFull: isFull, mayBringMore: mayBringMore(begun, sample))
  }

  /// Neither this side's cores nor, for most of the time, the line are what the connections wait for. Where they are
  /// full already, new ones only make others lose packets. A few connections say little of the line: after a store that
  /// asked for less they come back all the same.
  private func mayBringMore(_ begun: LineSample, _ sample: LineSample) -> Bool {
    guard sample.load < Self.fullLoad else { return false }
    let time = (sample.at - begun.at) * window
    return window < bounds.start || sample.isLossy || (sample.held - begun.held) / time < Self.fullLine
  }

  /// With fewer parts under way than there could be a rate says only whether the line is slow.
  private mutating func judge(
    _ rate: Double, _ sample: LineSample, underWay: Int, isFull: Bool, mayBringMore: Bool
  ) -> Change? {
    let now = sample.at
    if isFull, sample.isLossy, window < floor {
      phase = .climbing(from: window, rate: rate)
      return change(to: floor, "the line loses packets, and each connection is slow by that")
    }
    switch phase {
    case .climbing where !isFull, .fewer where !isFull: return nil
    case .beginning(let before):
      guard let before, rate < before * Self.growth else {
        phase = .beginning(rate: rate)
        return nil
      }
      if let slow = slower(rate, now, underWay) { return slow }
      guard isFull else { return nil }
      guard mayBringMore else { return settle(now) }
      return more(rate, now, "\(Self.mega(rate)) with \(window), and whether more bring more")
    case .climbing(let from, let before):
      if rate > before, rate >= before * Self.growth {
        guard mayBringMore else { return settle(now) }
        patience = Self.shortestPatience
        return more(rate, now, "\(Self.mega(rate)) after \(Self.mega(before))")
      }
      settle(now)
      if let slow = slower(rate, now, underWay) { return slow }
      guard from < window, !sample.isLossy || from >= floor else { return nil }
      return change(to: from, "\(Self.mega(rate)) after \(Self.mega(before)): more of them bring nothing")
    case .settled(let until):
      if let wider = wider(rate) { return wider }
      if let slow = slower(rate, now, underWay) { return slow }
      guard isFull, now >= until, mayBringMore else { return nil }
      patience = min(patience * 2, Self.longestPatience)
      return more(rate, now, "\(Self.mega(rate)), and whether more bring more")
    case .fewer(let from, let before):
      settle(now)
      if let wider = wider(rate) { return wider }
      guard rate < before * 0.8 else { return nil }
      needsMany = true
      return change(to: from, "\(Self.mega(rate)) after \(Self.mega(before)): the line needs them")
    }
  }

  private var floor: Int { min(bounds.leastWhenLossy, bounds.most) }

  /// Seconds for a part when all connections share the rate.
  private func takes(_ rate: Double, _ connections: Int) -> Double {
    Double(partSize) * Double(connections) / max(1, rate)
  }

  private func isTooSlow(_ rate: Double, _ sample: LineSample, _ underWay: Int) -> Bool {
    let connections = min(window, underWay)
    return connections > 1 && !needsMany && !sample.isLossy && takes(rate, connections) > Self.longestPart
  }

  private mutating func slower(_ rate: Double, _ now: Duration, _ underWay: Int) -> Change? {
    guard let slowSince, now - slowSince >= (isAtRest ? Self.leastRest : Self.leastSlowness) else { return nil }
    self.slowSince = nil
    let connections = min(window, underWay)
    let enough = max(1, Int(rate * Self.longestPart / Double(partSize)))
    phase = .fewer(from: window, rate: rate)
    beforeSlow = max(window, beforeSlow ?? 0)
    var change = change(to: enough, "\(Self.mega(rate)): a part would take \(Int(takes(rate, connections))) s")
    change?.stopsSome = true
    return change
  }

  /// All that there were before the line was slow.
  private mutating func wider(_ rate: Double) -> Change? {
    guard let connections = beforeSlow, connections > window, takes(rate, connections) <= Self.longestPart else {
      return nil
    }
    beforeSlow = nil
    return change(to: connections, "\(Self.mega(rate)): the line is not slow any more")
  }

  private mutating func more(_ rate: Double, _ now: Duration, _ why: String) -> Change? {
    let connections = min(bounds.most, window + max(2, window / 2))
    guard connections > window, takes(rate, connections) <= Self.longestPart else { return settle(now) }
    phase = .climbing(from: window, rate: rate)
    return change(to: connections, why)
  }

  private mutating func change(to connections: Int, _ why: String) -> Change? {
    guard connections != window else { return nil }
    window = connections
    isFresh = true
    return Change(connections: connections, why: why)
  }

  @discardableResult
  private mutating func settle(_ now: Duration) -> Change? {
    phase = .settled(until: now + patience)
    return nil
  }

  private static func mega(_ rate: Double) -> String {
    let tenths = Int(rate / 104_857.6)
    return "\(tenths / 10).\(tenths % 10) MiB/s"
  }
}
