import MultipartBasics
@testable import MultipartCore

/// A line as a function of the number of connections, sampled ten times per second.
struct PlayedLine {
  static let mega = 1_048_576.0

  var pace: Pace
  var rate: (Int) -> Double
  /// The share of packets that are lost, by the number of connections.
  var losses: (Int) -> Double = { _ in 0 }
  private var lost = 0.0
  /// The delay of a queue on the way.
  var queue: Duration = .zero
  var load = 0.3
  /// The share of time in which the line limits the connections.
  var held = 0.3
  private var heldSoFar: Duration = .zero
  var roundTrip: Duration = .milliseconds(20)
  private(set) var now: Duration = .zero
  private(set) var delivered: Int64 = 0
  private(set) var changes: [Pace.Change] = []
  /// The parts that have begun; surplus ones end one by one, unless they are stopped.
  private var flying = 0
  private var sent = 0.0
  private let partSize: Int64
  var limit: Int64?

  init(
    _ bounds: Pace.Bounds = Pace.Bounds(start: 8, most: 48), partSize: Int64 = 8 << 20,
    rate: @escaping (Int) -> Double
  ) {
    pace = Pace(bounds, partSize: partSize)
    limit = bounds.limit
    self.partSize = partSize
    self.rate = rate
  }

  mutating func run(_ time: Duration, underWay: Int? = nil) {
    let end = now + time
    while now < end {
      now += .milliseconds(100)
      flying = max(flying, pace.window)
      let moved = rate(flying) / 10
      delivered += Int64(moved)
      sent += moved
      while sent >= Double(partSize) {
        sent -= Double(partSize)
        if flying > pace.window { flying -= 1 }
      }
      var sample = LineSample(at: now, delivered: delivered)
      sample.limit = limit
      lost += moved / 1448 * losses(flying)
      (sample.segments, sample.lost) = (delivered / 1448, Int64(lost))
      (sample.roundTrip, sample.leastTrip) = (roundTrip + queue, roundTrip)
      sample.load = load
      heldSoFar += .milliseconds(100) * flying * held
      sample.held = heldSoFar
      let parts = min(underWay ?? flying, flying)
      let change =
        pace.follow(limit, at: now) ?? pace.take(sample, underWay: parts, isFull: parts >= pace.window)
      guard let change else { continue }
      changes.append(change)
      if change.stopsSome { flying = pace.window }
    }
  }
}
