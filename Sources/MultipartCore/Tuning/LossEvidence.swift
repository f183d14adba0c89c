import Glibc
import MultipartBasics

/// Determines whether losses limit each connection, or a full queue limits all of them together.
///
/// A queue that overflows loses packets too: many at once when new connections find their speed, few afterwards, and
/// the round trips are longer. Random losses are constant over time. So several short spans must agree.
struct LossEvidence: Sendable {
  enum Verdict: Sendable, Equatable {
    /// Too few losses to matter.
    case few
    /// This share of the packets, and no queue: each connection has the rate that the losses allow.
    case random(Double)
    /// The connections share what the line carries.
    case crowded
  }

  private struct Span {
    var sent: Int64
    var lost: Int64
    var delivered: Int64
    var time: Duration
    var rate: Double { Double(delivered) / max(1e-3, time.seconds) }
    var isCrowded: Bool
  }

  private var spans: [Span] = []
  private var begun: LineSample?
  private var skipsUntil: Duration?
  /// The verdict of the spans so far.
  private(set) var last: Verdict?

  private static let enough = 4
  private static let most = 12

  /// The number of spans since the last change.
  var count: Int { spans.count }
  /// Whether as many spans were seen as are kept.
  var isLong: Bool { count == Self.most }

  var sent: Int64 { spans.reduce(0) { $0 + $1.sent } }
  private var lost: Int64 { spans.reduce(0) { $0 + $1.lost } }

  /// An upper bound for the share of lost packets: three more than were seen may be chance.
  var mostShare: Double { Double(lost + 3) / Double(max(1, sent)) }

  /// Bytes per second that were acknowledged. Packets that were sent say less, because lost ones count until they are
  /// sent again.
  var rate: Double {
    Double(spans.reduce(0) { $0 + $1.delivered }) / max(1e-3, spans.reduce(0) { $0 + $1.time.seconds })
  }

  /// The rate of the slowest of the spans.
  var leastRate: Double { spans.suffix(Self.enough).map(\.rate).min() ?? 0 }

  /// Bytes per second that losses of this share allow to this number of connections with Reno (Mathis): each gets 1.22
  /// packets, divided by the square root of the share, in a round trip.
  static func allowed(_ connections: Int, _ share: Double, _ roundTrip: Duration) -> Double {
    Double(connections) * packet * 1.22 / (max(1e-3, roundTrip.seconds) * share.squareRoot())
  }

  /// Bytes of data in a packet on most paths.
  private static let packet = 1448.0
  private static let shortest: Duration = .milliseconds(100)
  /// With fewer packets, so few are lost that most spans have none. A connection on a very bad line sends few.
  private static let leastSent: Int64 = 64
  private static let longestTrips = 20
  /// Shares of the packets below this cost a connection little, and fewer lost ones may be chance.
  private static let leastShare = 0.0003
  private static let leastLost: Int64 = 8
  /// On a path shorter than this, losses are repaired before they cost anything.
  private static let shortestTrip: Duration = .milliseconds(1)

  /// The connections have changed: earlier samples no longer count, nor do the first round trips of new connections.
  mutating func reset() {
    (spans, begun, skipsUntil, last) = ([], nil, nil, nil)
  }

  /// Takes a sample; nil if there is no verdict yet.
  mutating func take(_ sample: LineSample) -> Verdict? {
    guard sample.leastTrip >= Self.shortestTrip else { return nil }
    let until = skipsUntil ?? sample.at + sample.roundTrip * 5
    skipsUntil = until
    guard sample.at >= until else { return nil }
    guard let from = begun else {
      begun = sample
      return nil
    }
    let passed = sample.at - from.at
    guard passed >= max(Self.shortest, sample.roundTrip * 3),
      sample.segments - from.segments >= Self.leastSent || passed >= sample.roundTrip * Self.longestTrips
    else { return nil }
    begun = sample
    if spans.count == Self.most { spans.removeFirst() }
    spans.append(
      Span(
        sent: sample.segments - from.segments, lost: sample.lost - from.lost,
        delivered: sample.delivered - from.delivered, time: passed,
        isCrowded: sample.roundTrip > sample.leastTrip * Opening.queued))
    last = verdict
    return last
  }

  /// The verdict. Random losses show at once, their absence only after a while, because new connections overflow any
  /// queue.
  private var verdict: Verdict? {
    guard spans.count >= Self.enough else { return nil }
    if let share = Self.random(spans.suffix(Self.enough)) ?? Self.random(spans[...]) { return .random(share) }
    guard spans.count == Self.most else { return nil }
    return spans.count { $0.isCrowded } * 2 > spans.count ? .crowded : .few
  }

  private static func random(_ spans: ArraySlice<Span>) -> Double? {
    let (sent, lost) = spans.reduce((0, 0)) { ($0.0 + $1.sent, $0.1 + $1.lost) }
    let share = Double(lost) / Double(max(1, sent))
    let (lossy, crowded) = (spans.count { $0.lost > 0 }, spans.count { $0.isCrowded })
    // The expected number by Poisson, if losses are spread evenly; those of a queue are concentrated in few spans.
    let expected = Double(spans.count) * (1 - exp(-Double(lost) / Double(max(1, spans.count))))
    guard lost >= leastLost, share >= leastShare, Double(lossy) >= expected * 2 / 3, crowded * 4 <= spans.count else {
      return nil
    }
    return share
  }
}
