import MultipartBasics

/// Decides how many connections a run of small objects uses. Such a run is limited by waiting for answers, so
/// connections are added as long as the rate of objects grows; where this machine or the store is busy, more do not
/// help, and it goes back. The number is also limited so that the line needs at most ten seconds for the objects that
/// have begun.
///
/// It receives the number of objects that have arrived, and has no clock of its own.
struct ObjectPace: Sendable {
  private enum Phase: Sendable {
    /// Neither the round-trip time nor the rate of the connections is known yet.
    case beginning
    /// This many are wanted on a long line, and start as soon as acknowledged bytes show that the line can carry them.
    case widening(to: Int)
    /// The rate of the wide window is measured for the first time.
    case wide
    /// Fewer are tried, because most wait for something other than the line. The rate is that of the larger number.
    case thinning(from: Int, rate: Double)
    /// Each step is measured against the rate before it.
    case climbing(from: Int, rate: Double)
    case settled(until: Duration)
  }

  private(set) var window: Int
  private let start: Int
  private let most: Int
  private var limit: Int64?
  private var phase = Phase.beginning
  private var opening = Opening()
  private var epoch: (at: Duration, arrived: Int, delivered: Int64)?
  /// The number has changed since the last rate: new connections were being established, or superfluous ones were
  /// ending.
  private var isFresh = false
  private var patience = Pace.shortestPatience
  /// A store that asked for less does not get more until this time.
  private var quietUntil: Duration = .zero
  /// Since when the objects in flight would have taken too long, and how many there were before their number was
  /// reduced.
  private var slowSince: Duration?
  private var beforeSlow: Int?
  /// The average size of the objects in flight.
  private var size: Int64 = 0

  /// A smaller increase may be chance.
  private static let growth = 1.15
  /// The share of the rate that fewer connections must keep.
  private static let kept = 0.95
  private static let shortestEpoch = Duration.milliseconds(200)
  private static let longestEpoch = Duration.seconds(5)
  /// Arrivals per connection, so that a rate includes all of them.
  private static let leastArrivals = 2
  /// On a line this long the time of an answer is mostly the line's. As soon as that is known, before there are any
  /// answers, each connection is multiplied so that one may arrive in every `answer`.
  static let longLine = Duration.milliseconds(5)
  private static let answer = Duration.microseconds(1250)
  /// The assumed bytes per second of a line that has not shown its speed.
  private static let slowest = 262_144.0
  /// A store that pauses looks like a slow line for a while.
  private static let leastSlowness = Duration.seconds(10)

  init(start: Int, most: Int, limit: Int64? = nil) {
    (window, self.start) = (start, start)
    self.most = max(start, most)
    self.limit = limit
  }

  /// The store has asked for less, and the caller has halved the window.
  mutating func throttled(to window: Int, at now: Duration) {
    self.window = max(1, window)
    quietUntil = now + Pace.shortestPatience
    beforeSlow = nil
    rest()
    settle(now)
  }

  /// Starts measuring afresh.
  mutating func rest() {
    (epoch, slowSince, isFresh) = (nil, nil, false)
  }

  /// Applies the limit, which may depend on the time of day.
  mutating func follow(_ limit: Int64?, at now: Duration) -> Pace.Change? {
    guard limit != self.limit else { return nil }
    self.limit = limit
    rest()
    let isQuiet = now < quietUntil
    if !isQuiet { (phase, opening, beforeSlow, patience) = (.beginning, Opening(), nil, Pace.shortestPatience) }
    return change(to: min(isQuiet ? window : max(window, start), room), RateLimiter.words(limit))
  }

  /// Takes a sample. `size` is the average of the objects in flight; `isFull`: all connections had something to send.
  mutating func take(_ sample: LineSample, arrived: Int, size: Int64, isFull: Bool) -> Pace.Change? {
    self.size = size
    if window > room { return change(to: room, RateLimiter.words(limit)) }
    guard isFull else {
      epoch = nil
      return nil
    }
    if let change = widen(sample) { return change }
    guard let begun = epoch else {
      epoch = (sample.at, arrived, sample.delivered)
      return nil
    }
    let passed = sample.at - begun.at
    let count = arrived - begun.arrived
    let isShown = passed >= max(Self.shortestEpoch, sample.roundTrip * 3) && count >= Self.leastArrivals * window
    guard isShown || passed >= Self.longestEpoch else { return nil }
    epoch = nil
    if let change = keepShort(Double(sample.delivered - begun.delivered) / passed.seconds, begun.at, sample.at) {
      return change
    }
    let wasFresh = isFresh
    isFresh = false
    return judge(Double(count) / passed.seconds, sample, isFresh: wasFresh)
  }

  private mutating func judge(_ rate: Double, _ sample: LineSample, isFresh: Bool) -> Pace.Change? {
    let isBusy = sample.load >= Pace.fullLoad
    switch phase {
    case .widening: return nil
    case .wide where isFresh && isIdle(rate, sample), .thinning where isFresh: return nil
    case .beginning: return isBusy ? settle(sample.at) : more(rate, sample)
    case .wide: return thin(rate, rate, sample) ?? (isBusy ? settle(sample.at) : more(rate, sample))
    case .thinning(let from, let before):
      if rate >= before * Self.kept { return thin(before, rate, sample) ?? settle(sample.at) }
      settle(sample.at)
      return change(to: from, "\(Int(rate)) objects a second after \(Int(before)): they are needed")
    case .climbing(let from, let before):
      if rate >= before * Self.growth {
        patience = Pace.shortestPatience
        return isBusy ? settle(sample.at) : more(rate, sample)
      }
      settle(sample.at)
      return change(to: from, "\(Int(rate)) objects a second after \(Int(before)): more gain nothing")
    case .settled(let until):
      guard sample.at >= until, !isBusy else { return nil }
      patience = min(patience * 2, Pace.longestPatience)
      return more(rate, sample)
    }
  }

  // MARK: - A long line

  private mutating func widen(_ sample: LineSample) -> Pace.Change? {
    if case .beginning = phase, sample.leastTrip >= Self.longLine {
      phase = .widening(to: min(most, max(window, start * Int(min(sample.leastTrip / Self.answer, 1e6)))))
    }
    guard case .widening(let wanted) = phase else { return nil }
    let why = "a round trip takes \(sample.leastTrip.milliseconds) ms"
    var shown = Self.slowest
    switch opening.look(sample) {
    case .nothing: break
    case .growing(_, let soon): shown = max(shown, soon)
    case .settled(let rate):
      phase = .wide
      let enough = enough(rate)
      if enough < wanted {
        beforeSlow = wanted
        return change(to: enough, "\(Human.rate(rate)), so that no object takes too long")
      }
      return change(to: min(wanted, room), why)
    }
    let now = min(wanted, room, max(window, enough(shown)))
    if now == wanted { phase = .wide }
    return change(to: now, why)
  }

  /// Whether more than half of the connections wait for something other than the line: by Little's law the number of
  /// objects on the way is the number that arrives in a round trip.
  private func isIdle(_ rate: Double, _ sample: LineSample) -> Bool {
    rate * sample.leastTrip.seconds * 2 < Double(window)
  }

  /// Tries half as many, if half would be enough for the line.
  private mutating func thin(_ best: Double, _ rate: Double, _ sample: LineSample) -> Pace.Change? {
    let wanted = max(start, window / 2)
    guard wanted < window, isIdle(rate, sample) else { return nil }
    phase = .thinning(from: window, rate: best)
    return change(to: wanted, "\(Int(rate)) objects a second, trying whether fewer are as fast")
  }

  // MARK: - A slow line

  private func enough(_ rate: Double) -> Int { Pace.enough(rate, of: size) }

  /// How many objects the limit allows in ten seconds.
  private var room: Int { limit.map { enough(Double($0)) } ?? .max }

  /// Reduces the number if the line has needed more than ten seconds for the objects in flight for long enough, and
  /// raises it again as soon as the line allows.
  private mutating func keepShort(_ rate: Double, _ begun: Duration, _ now: Duration) -> Pace.Change? {
    if let before = beforeSlow, min(before, room, enough(rate / Pace.margin)) > window {
      let wanted = min(before, room, enough(rate / Pace.margin))
      if wanted == before { beforeSlow = nil }
      settle(now)
      return change(to: wanted, "\(Human.rate(rate)): the line takes more")
    }
    guard enough(rate) < window else {
      slowSince = nil
      return nil
    }
    let since = slowSince ?? begun
    slowSince = since
    guard now - since >= Self.leastSlowness else { return nil }
    slowSince = nil
    beforeSlow = max(window, beforeSlow ?? 0)
    settle(now)
    return change(to: enough(rate), "\(Human.rate(rate)): the objects in flight would take too long")
  }

  // MARK: - Changes

  private mutating func more(_ rate: Double, _ sample: LineSample) -> Pace.Change? {
    let wanted = min(most, window * 2, room, beforeSlow == nil ? .max : window)
    guard wanted > window else { return settle(sample.at) }
    let before = window
    let change = change(to: wanted, "\(Int(rate)) objects a second, trying whether more are faster")
    phase = .climbing(from: before, rate: rate)
    return change
  }

  private mutating func change(to connections: Int, _ why: String) -> Pace.Change? {
    guard connections != window else { return nil }
    window = connections
    (epoch, isFresh) = (nil, true)
    return Pace.Change(connections: connections, why: why)
  }

  @discardableResult
  private mutating func settle(_ now: Duration) -> Pace.Change? {
    phase = .settled(until: now + patience)
    return nil
  }
}
