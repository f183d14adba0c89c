import MultipartBasics

/// Measures since when a line has been too slow for the parts in flight.
///
/// A store that pauses for a while looks like a slow line, and stopping parts then would waste what was sent. Only time
/// distinguishes the two; if almost nothing moves, waiting longer loses almost nothing.
struct Slowness: Sendable {
  enum Stage { case begun, lasting }

  /// Since this sample, each sample has found the rate too low for the number of connections.
  private var slowFrom: LineSample?
  /// Since this sample it has been too slow all the time, and never stood still.
  private var steadyFrom: LineSample?
  /// The last sample found that almost nothing had moved.
  private var isAtRest = false

  /// When no more parts are started, before any are stopped.
  private static let soon: Duration = .seconds(3)
  private static let long: Duration = .seconds(10)
  private static let longAtRest: Duration = .seconds(20)
  private static let longBehindBuffer: Duration = .seconds(5)
  /// The share of the connections' time below which the line is not what holds them back.
  private static let idleLine = 0.3

  mutating func take(isTooSlow: Bool, isAtRest: Bool, from begun: LineSample, to sample: LineSample) {
    self.isAtRest = isAtRest
    slowFrom = isTooSlow ? slowFrom ?? begun : nil
    steadyFrom = isTooSlow && !isAtRest ? steadyFrom ?? sample : nil
  }

  /// What to do; nil if the line is not too slow, or not for long enough.
  func stage(at now: Duration) -> Stage? {
    guard let slowFrom else { return nil }
    let passed = now - slowFrom.at
    if passed >= (isAtRest ? Self.longAtRest : Self.long) { return .lasting }
    return !isAtRest && passed >= Self.soon ? .begun : nil
  }

  /// Parts have been stopped: the measurement starts afresh.
  mutating func isActedUpon() { slowFrom = nil }

  /// Bytes per second since then, if they have been too few for a while although the line did not hold the connections
  /// back.
  func rateBehindBuffer(until last: LineSample, underWay: Int) -> (bytes: Double, since: Duration)? {
    guard let from = steadyFrom else { return nil }
    let passed = last.at - from.at
    guard passed >= Self.longBehindBuffer, (last.held - from.held) / (passed * underWay) < Self.idleLine else {
      return nil
    }
    return (Double(last.delivered - from.delivered) / passed.seconds, from.at)
  }
}
