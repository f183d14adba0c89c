import MultipartBasics

/// Decides how many connections an upload uses, by trial: more while the rate grows with them, and back if it does not;
/// and never so many that the line needs more than ten seconds for the parts that have begun.
///
/// An interruption loses the parts that have begun and are not confirmed. On a line that was slow a few parts are
/// started, and the others within the first round trips, as the acknowledged bytes show that the line can carry them;
/// on other lines all are started, and after a second the superfluous ones are stopped. Fewer than the line needs would
/// only be slower: if each connection has its own rate, regardless of the others, there are as many as increase the
/// rate.
///
/// Where packets are lost at random, losses set each connection's rate, and new connections are faster until their
/// first losses, so that rates mislead for seconds. But random losses stay as frequent with twice as many connections,
/// while those of a queue that overflows become four times as frequent: so the losses are compared first, and the rates
/// at the end.
///
/// It receives samples of the line and the number of parts being sent: if that was lower than the number of
/// connections, a rate shows only whether the line is slow. It has no clock of its own. `Pace+Losses.swift` handles
/// lost packets, and `Slowness` measures how long the line has been too slow.
struct Pace: Sendable {
  private(set) var window: Int
  /// The bounds without the limit, and with it.
  private var unlimited: Bounds
  var bounds: Bounds
  private let partSize: Int64
  var phase: Phase
  private var opening = Opening()
  private var epoch: LineSample?
  private var underWayInEpoch = 0
  /// The number has just changed: new connections are established first and find their speed.
  private var isFresh = false
  /// A store that asked for less does not get more until this time.
  private var quietUntil: Duration = .zero
  var patience = Self.shortestPatience
  var evidence = LossEvidence()
  /// Until this time, at most this share of the packets was lost before connections were added.
  var lossesBefore: (share: Double, until: Duration)?
  var now: Duration = .zero
  /// The share of packets that are lost at random, so that losses limit each connection; nil if they do not.
  private var lossShare: Double?
  var isLossy: Bool { lossShare != nil }
  /// The number of connections that is known to be needed: with fewer the line was slower, or would be because losses
  /// limit each.
  private var measuredNeed = 1
  var lossyNeed = 1
  private var needed: Int { max(measuredNeed, lossyNeed) }
  /// More connections increased the losses; they are not tried again until this time.
  var crowdedUntil: Duration = .zero
  /// More connections do not help until this time, unless so many packets are lost that the first rates meant little.
  var enoughUntil: Duration = .zero
  /// The number of connections before the line became too slow for them; nil if it is not.
  var beforeSlow: Int?
  /// The rate when the number was reduced.
  private var slowRate = 0.0
  /// The limit determines the rate, not the line or the store.
  private(set) var isHeldByLimit: Bool
  private var slowness = Slowness()

  /// A smaller increase may be chance.
  private static let growth = 1.1
  /// The increase that justifies what more parts in flight would cost an interruption.
  private static let neededGrowth = 1.25
  /// Fewer connections that have less than this share of the former rate may be too few.
  private static let missing = 0.8
  /// The largest factor for adding connections again: one that has just lost packets is slow for a while, so fewer
  /// others are needed than it seems.
  private static let mostAgain = 3
  private static let shortestEpoch: Duration = .milliseconds(300)
  /// On a slow line: until this much has arrived, for at most `longestEpoch`.
  static let leastMoved: Int64 = 256 << 10
  private static let longestEpoch: Duration = .seconds(5)
  /// A margin, because a rate that is barely enough for one more may be chance.
  static let margin = 1.25
  /// The time between two trials, doubled after each that did not help.
  static let shortestPatience: Duration = .seconds(10)
  static let longestPatience: Duration = .seconds(80)
  /// Seconds that the line may need for the parts that have begun: that much is lost if it breaks.
  static let longestFlight = 10.0
  /// Seconds that it may need while more connections are tried.
  static let longestTrial = 15.0
  /// The share of the limit above which it determines the rate; the rest is lost in gaps of the connections.
  private static let heldByLimit = 0.8
  /// If the loops use their cores fully, more connections do not help.
  static let fullLoad = 0.75
  /// The share of the connections' time above which the line is full.
  private static let fullLine = 0.7
  /// If this many losses were expected and almost none occurred, the line has changed.
  private static let tellingLosses = 24.0

  init(_ bounds: Bounds, partSize: Int64) {
    unlimited = bounds
    let bounds = bounds.bounded(partSize: partSize)
    self.bounds = bounds
    self.partSize = partSize
    window = bounds.opening ?? bounds.start
    phase = bounds.opening == nil ? .beginning(rate: nil) : .opening
    isHeldByLimit = bounds.limit != nil
  }

  /// The store has asked for less, and the caller has halved the window.
  mutating func throttled(to window: Int, at now: Duration) {
    self.window = max(1, window)
    rest()
    beforeSlow = nil
    quietUntil = now + Self.shortestPatience
    settle(now)
  }

  mutating func take(_ sample: LineSample, underWay: Int, isFull: Bool) -> Change? {
    now = sample.at
    let losses = evidence.take(sample)
    if phase == .opening { return open(sample, isFull) }
    switch losses {
    case .random(let share): lossShare = share
    // If few packets are sent, such as those of the last part, few are lost on any line.
    case .few: if Double(evidence.sent) * (lossShare ?? 0) > Self.tellingLosses { lossShare = nil }
    case .crowded: (lossShare, lossyNeed) = (nil, 1)
    case nil: break
    }
    if isFull, sample.at >= quietUntil, let losses, let change = spread(losses, sample) { return change }
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
    isHeldByLimit = bounds.limit.map { rate >= Double($0) * Self.heldByLimit } ?? false
    let isTooSlow = isTooSlow(rate, underWay) && !isHeldByLosses(rate, lossShare, sample.roundTrip)
    slowness.take(isTooSlow: isTooSlow, isAtRest: moved < Self.leastMoved, from: begun, to: sample)
    return judge(rate, sample, underWay: underWay, isFull: isFull, mayBringMore: mayBringMore(begun, sample))
  }

  /// Applies the limit, which may depend on the time of day; earlier measurements say nothing about the rate with a new
  /// one.
  mutating func follow(_ limit: Int64?, at now: Duration) -> Change? {
    guard limit != bounds.limit else { return nil }
    unlimited.limit = limit
    bounds = unlimited.bounded(partSize: partSize)
    isHeldByLimit = limit != nil
    phase = .beginning(rate: nil)
    (slowness, beforeSlow, measuredNeed, lossyNeed) = (Slowness(), nil, 1, 1)
    (patience, crowdedUntil, enoughUntil, lossesBefore) = (Self.shortestPatience, .zero, .zero, nil)
    rest()
    let least = now < quietUntil ? window : max(window, bounds.start)
    return change(to: min(least, bounds.most), RateLimiter.words(limit))
  }

  /// Starts measuring afresh.
  mutating func rest() {
    epoch = nil
    evidence.reset()
  }

  /// Whether more connections may increase the rate: the connections wait neither for this side's cores nor, most of
  /// the time, for the line. If these are already full, new connections only make others lose packets. A few
  /// connections say little about the line: after a store has asked for less they are added again nevertheless.
  private func mayBringMore(_ begun: LineSample, _ sample: LineSample) -> Bool {
    guard sample.load < Self.fullLoad, !isHeldByLimit else { return false }
    let time = (sample.at - begun.at) * window
    let wereEnough = window < bounds.start && beforeSlow == nil
    return wereEnough || (needed > 1 && needed >= window) || (sample.held - begun.held) / time < Self.fullLine
  }

  /// Starts as many parts as the acknowledged bytes show that the line can carry.
  private mutating func open(_ sample: LineSample, _ isFull: Bool) -> Change? {
    switch opening.look(sample) {
    case .nothing: return nil
    case .growing(let rate, let soon):
      let why = "the line takes \(Human.rate(soon))"
      if enough(rate) >= bounds.start { return opened(to: bounds.start, why) }
      return enough(soon) > window ? change(to: min(enough(soon), bounds.start), why) : nil
    case .settled(let rate):
      // If each connection has its own rate, the line would only be slower with fewer. But if the line is slow, fewer
      // show that.
      if enough(rate) >= bounds.start, case .random(let share)? = evidence.last, isFull,
        let change = spread(.random(share), sample)
      {
        lossShare = share
        return change
      }
      let enough = min(enough(rate), bounds.start)
      let before = window
      var change = opened(to: enough, "\(Human.rate(rate)), so that no part takes too long")
      beforeSlow = enough < bounds.start ? bounds.start : nil
      // Little has been sent of the parts that started last.
      if enough < before {
        change?.stopsSome = true
        (phase, slowRate) = (.fewer(from: before), rate)
      }
      return change
    }
  }

  private mutating func opened(to connections: Int, _ why: String) -> Change? {
    phase = .beginning(rate: nil)
    return change(to: connections, why)
  }

  /// Judges the rate. If fewer parts are being sent than possible, it shows only whether the line is slow.
  private mutating func judge(
    _ rate: Double, _ sample: LineSample, underWay: Int, isFull: Bool, mayBringMore: Bool
  ) -> Change? {
    let now = sample.at
    switch phase {
    case .opening, .spreading: return nil
    case .climbing where !isFull, .fewer where !isFull, .again where !isFull: return nil
    case .fewer where underWay > window: return wider(rate) ?? slower(rate, now, underWay)
    case .beginning(let before):
      guard let before, rate < before * Self.growth else {
        phase = .beginning(rate: rate)
        return nil
      }
      if let slow = slower(rate, now, underWay) { return slow }
      guard isFull else { return nil }
      guard mayBringMore else { return settle(now) }
      return more(rate, now, "\(Human.rate(rate)) with \(window), trying whether more are faster")
    case .climbing(let from, let before):
      let isLong = takes(rate, window) > Self.longestFlight
      if rate > before, rate >= before * (isLong ? neededGrowth(from: from) : Self.growth) {
        if isLong { measuredNeed = window }
        guard mayBringMore || isLong else { return settle(now) }
        patience = Self.shortestPatience
        return more(rate, now, "\(Human.rate(rate)) after \(Human.rate(before))")
      }
      settle(now)
      if let slow = slower(rate, now, underWay) { return slow }
      guard from < window else { return nil }
      return change(to: from, "\(Human.rate(rate)) after \(Human.rate(before)): more gain nothing")
    case .settled(let until):
      if let wider = wider(rate) { return wider }
      if let slow = slower(rate, now, underWay) { return slow }
      guard isFull, now >= until else { return nil }
      if let before = beforeSlow {
        if rate < slowRate * Self.missing { return again(rate, from: before) }
        // The line carries no more, and an interruption would cost more.
        if takes(rate, window + 1) > Self.longestFlight { return nil }
      }
      guard mayBringMore else { return nil }
      patience = min(patience * 2, Self.longestPatience)
      return more(rate, now, "\(Human.rate(rate)), trying whether more are faster")
    case .fewer(let from, let last):
      if let wider = wider(rate) {
        settle(now)
        return wider
      }
      guard rate < last * Self.growth else {
        phase = .fewer(from: from, rate: rate)
        return nil
      }
      settle(now)
      return rate < slowRate * Self.missing ? again(rate, from: from) : nil
    case .again(let fewer, let before):
      settle(now)
      guard rate >= before * Self.neededGrowth else {
        slowRate = rate
        return change(to: min(window, max(fewer, enough(rate))), "\(Human.rate(rate)): the line does not need them")
      }
      measuredNeed = window
      if rate < slowRate * Self.missing {
        phase = .beginning(rate: rate)
      } else {
        // As fast as with all of them.
        enoughUntil = now + Self.longestPatience
      }
      return nil
    }
  }

  /// Adds as many connections as may restore the rate that more of them had.
  private mutating func again(_ rate: Double, from most: Int) -> Change? {
    phase = .again(fewer: window, rate: rate)
    let enough = Int(min((Double(window) * slowRate / max(1, rate)).rounded(.up), 1e6))
    let why = "\(Human.rate(rate)) after \(Human.rate(slowRate)): trying whether the line needs them"
    return change(to: min(most, max(window + 1, min(enough, window * Self.mostAgain))), why)
  }

  /// Seconds for a part if all connections share the rate.
  private func takes(_ rate: Double, _ connections: Int) -> Double {
    Double(partSize) * Double(connections) / max(1, rate)
  }

  private func enough(_ rate: Double) -> Int { Self.enough(rate, of: partSize) }

  /// How many transfers of this size together take the line ten seconds.
  static func enough(_ rate: Double, of size: Int64) -> Int {
    max(1, Int(min(rate * longestFlight / Double(max(1, size)), 1e6)))
  }

  /// The growth to require: at least half of the increase that the added connections would bring if each had its own
  /// rate.
  private func neededGrowth(from fewer: Int) -> Double {
    min(Self.neededGrowth, 1 + (Double(window) / Double(max(1, fewer)) - 1) / 2)
  }

  private func isTooSlow(_ rate: Double, _ underWay: Int) -> Bool {
    underWay > needed && takes(rate, underWay) > Self.longestFlight
  }

  /// Reduces the number. First nothing more is started; if the slowness lasts, the parts that started last are stopped.
  private mutating func slower(_ rate: Double, _ now: Duration, _ underWay: Int) -> Change? {
    guard let stage = slowness.stage(at: now) else { return nil }
    let lasts = stage == .lasting
    let enough = min(window, max(needed, enough(rate)))
    guard lasts || enough < window else { return nil }
    if lasts { slowness.isActedUpon() }
    if enough < window {
      (phase, slowRate) = (.fewer(from: window), rate)
      beforeSlow = max(window, beforeSlow ?? 0)
    }
    var change = Change(
      connections: enough, why: "\(Human.rate(rate)): the parts in flight would take \(Int(takes(rate, underWay))) s")
    change.stopsSome = lasts
    if enough < window {
      isFresh = true
      evidence.reset()
    }
    window = enough
    return change
  }

  /// The backlog; nil if it has not lasted.
  var backlog: Backlog? {
    guard let last = epoch, !isHeldByLimit else { return nil }
    guard let rate = slowness.rateBehindBuffer(until: last, underWay: underWayInEpoch) else { return nil }
    return Backlog(since: rate.since, rate: rate.bytes, enough: enough(rate.bytes))
  }

  /// The number of connections if the line were not slow.
  var usual: Int { max(window, beforeSlow ?? 0, bounds.start) }

  /// Continues after a time in which only answers counted. `most` is the number before that.
  mutating func goOn(with window: Int, of most: Int, areNeeded: Bool) {
    self.window = window
    phase = .beginning(rate: nil)
    slowness = Slowness()
    beforeSlow = window < most ? most : nil
    if areNeeded { measuredNeed = window }
    isFresh = true
    rest()
  }

  /// As many as the line can carry, up to the number before it was slow.
  private mutating func wider(_ rate: Double) -> Change? {
    guard let before = beforeSlow else { return nil }
    let connections = min(before, enough(rate / Self.margin))
    guard connections > window else { return nil }
    if connections == before { beforeSlow = nil }
    return change(to: connections, "\(Human.rate(rate)): the line takes more")
  }

  private mutating func more(_ rate: Double, _ now: Duration, _ why: String) -> Change? {
    let connections = min(bounds.most, window + max(window < 3 ? 1 : 2, window / 2))
    let isShort = takes(rate, connections) <= Self.longestTrial
    guard connections > window, isShort || needed >= window else { return settle(now) }
    phase = .climbing(from: window, rate: rate)
    return change(to: connections, why)
  }

  mutating func change(to connections: Int, _ why: String) -> Change? {
    guard connections != window else { return nil }
    if connections > window, evidence.isLong { lossesBefore = (evidence.mostShare, now + Self.shortestPatience) }
    window = connections
    isFresh = true
    evidence.reset()
    return Change(connections: connections, why: why)
  }

  @discardableResult
  mutating func settle(_ now: Duration) -> Change? {
    phase = .settled(until: now + patience)
    return nil
  }
}
