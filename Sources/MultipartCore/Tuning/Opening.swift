import MultipartBasics

/// Estimates the speed of an unknown line as early as possible, while the first parts find their speed.
///
/// Rates are of acknowledged bytes: those in a socket's buffer have not been sent.
struct Opening: Sendable {
  enum View: Equatable {
    case nothing
    /// The current rate, and the rate soon: higher if it still doubles with each round trip.
    case growing(rate: Double, soon: Double)
    /// The rate no longer grows by itself.
    case settled(Double)
  }

  private var looks: [(at: Duration, delivered: Int64)] = []
  /// When the first bytes of a part arrived: before that connections are established, and parts are read for their
  /// checksums.
  private var began: (at: Duration, delivered: Int64)?

  /// More than a request's header and the TLS handshake.
  private static let first: Int64 = 16 << 10
  private static let shortest: Duration = .milliseconds(50)
  private static let enough: Duration = .seconds(1)
  /// Round trips until random losses would have shown. If a queue has made them longer, the line is full anyway.
  private static let tripsUntilLosses = 18
  /// How much a queue lengthens round trips.
  static let queued = 1.5
  /// A new connection doubles its rate with each round trip, until something limits it.
  private static let doubling = 1.7
  /// Two round trips ahead: a new part needs that long to start, and superfluous ones are stopped after a second.
  private static let soon = 4.0

  mutating func look(_ sample: LineSample) -> View {
    looks.append((sample.at, sample.delivered))
    guard let first = looks.first, sample.delivered - first.delivered >= Self.first else { return .nothing }
    let began = began ?? looks.last ?? first
    self.began = began
    let span = max(Self.shortest, sample.roundTrip)
    let now = rate(from: sample.at - span, to: sample.at)
    let before = rate(from: sample.at - span * 2, to: sample.at - span)
    let grows = if let now, let before { before > 0 && now >= before * Self.doubling } else { false }
    let passed = sample.at - began.at
    let moved = sample.delivered - began.delivered
    let isFull = sample.roundTrip > sample.leastTrip * Self.queued
    let trips = isFull ? sample.roundTrip * 4 : sample.leastTrip * Self.tripsUntilLosses
    if !grows, passed >= max(Self.enough, trips), moved >= Pace.leastMoved {
      return .settled(Double(moved) / passed.seconds)
    }
    return now.map { .growing(rate: $0, soon: grows ? $0 * Self.soon : $0) } ?? .nothing
  }

  /// The rate in an interval; nil if there is no sample that early.
  private func rate(from begin: Duration, to end: Duration) -> Double? {
    guard let a = looks.last(where: { $0.at <= begin }), let b = looks.last(where: { $0.at <= end }), a.at < b.at else {
      return nil
    }
    return Double(b.delivered - a.delivered) / (b.at - a.at).seconds
  }
}
