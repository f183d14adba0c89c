/// How many connections a run of small objects uses. What holds it up is waiting for answers, so there are more of them as
/// long as the rate of objects grows; where this machine or the store is busy, more gain nothing, and it goes back.
///
/// It is told how many objects have arrived, and has no clock of its own.
struct ObjectPace: Sendable {
  private enum Phase: Sendable {
    /// Neither the length of the line nor the rate of the connections is known yet.
    case beginning(isLong: Bool)
    /// Each step is measured against the rate before it.
    case climbing(from: Int, rate: Double)
    case settled(until: Duration)
  }

  private(set) var window: Int
  private let most: Int
  private var phase = Phase.beginning(isLong: false)
  private var epoch: (at: Duration, arrived: Int)?
  private var patience = Self.shortestPatience

  /// A smaller increase may be chance.
  private static let growth = 1.15
  private static let shortestEpoch = Duration.milliseconds(200)
  private static let longestEpoch = Duration.seconds(5)
  /// Arrivals for each connection, so that a rate is one of all of them.
  private static let leastArrivals = 2
  /// On a line this long the time of an answer is mostly the line's. As soon as that is known, before there are any answers,
  /// each connection becomes so many that one may arrive in every `answer`.
  private static let longLine = Duration.milliseconds(5)
  private static let answer = Duration.microseconds(1250)
  private static let shortestPatience = Duration.seconds(10)
  private static let longestPatience = Duration.seconds(80)
  /// If the loops use their cores fully, more connections gain nothing.
  private static let fullLoad = 0.75

  init(start: Int, most: Int) {
    window = start
    self.most = max(start, most)
  }

  /// The store has asked for less, and the caller has halved the window.
  mutating func throttled(to window: Int, at now: Duration) {
    self.window = max(1, window)
    epoch = nil
    settle(now)
  }

  /// `isFull`: all connections had something to send.
  mutating func take(_ sample: LineSample, arrived: Int, isFull: Bool) -> Pace.Change? {
    if isFull, case .beginning(isLong: false) = phase, sample.roundTrip >= Self.longLine { return widen(sample) }
    guard isFull, let begun = epoch else {
      epoch = isFull ? (sample.at, arrived) : nil
      return nil
    }
    let passed = sample.at - begun.at
    let count = arrived - begun.arrived
    let isShown = passed >= max(Self.shortestEpoch, sample.roundTrip * 3) && count >= Self.leastArrivals * window
    guard isShown || passed >= Self.longestEpoch else { return nil }
    epoch = nil
    let rate = Double(count) / passed.seconds
    let isBusy = sample.load >= Self.fullLoad
    switch phase {
    case .beginning:
      return isBusy ? settle(sample.at) : more(rate, sample)
    case .climbing(let from, let before):
      if rate >= before * Self.growth {
        patience = Self.shortestPatience
        return isBusy ? settle(sample.at) : more(rate, sample)
      }
      settle(sample.at)
      window = from
      let why = "\(Int(rate)) objects a second after \(Int(before)): more gain nothing"
      return Pace.Change(connections: from, why: why)
    case .settled(let until):
      guard sample.at >= until, !isBusy else { return nil }
      patience = min(patience * 2, Self.longestPatience)
      return more(rate, sample)
    }
  }

  private mutating func widen(_ sample: LineSample) -> Pace.Change? {
    phase = .beginning(isLong: true)
    epoch = nil
    let wanted = min(most, window * Int(min(sample.roundTrip / Self.answer, 1e6)))
    guard wanted > window else { return nil }
    window = wanted
    return Pace.Change(connections: wanted, why: "a round trip takes \(sample.roundTrip.milliseconds) ms")
  }

  private mutating func more(_ rate: Double, _ sample: LineSample) -> Pace.Change? {
    let wanted = min(most, window * 2)
    guard wanted > window else { return settle(sample.at) }
    phase = .climbing(from: window, rate: rate)
    window = wanted
    return Pace.Change(connections: wanted, why: "\(Int(rate)) objects a second, trying whether more are faster")
  }

  @discardableResult
  private mutating func settle(_ now: Duration) -> Pace.Change? {
    phase = .settled(until: now + patience)
    return nil
  }
}
