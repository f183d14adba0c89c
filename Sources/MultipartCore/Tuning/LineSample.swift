import MultipartBasics

/// What one sample of the connections showed.
struct LineSample: Sendable, Equatable {
  var at: Duration
  /// Bytes that the other side has acknowledged, or that were received from it, since the run began, on all
  /// connections.
  var delivered: Int64
  /// Segments with data that were sent or received since the run began, and those that were lost, on connections that
  /// are slowed by each loss: those sent again, and an estimate of those that the other side has sent again.
  var segments: Int64 = 0
  var lost: Int64 = 0
  /// How long only the line's own speed has limited the connections, summed over all of them. The rest of their time
  /// they waited for the store: for its window or its answers.
  var held: Duration = .zero
  /// The average share of a core that each loop has used since the last sample.
  var load: Double = 0
  /// The round trip to the store, on the connection with the shortest one.
  var roundTrip: Duration = .zero
  /// The shortest round trip so far: without a queue on the way.
  var leastTrip: Duration = .zero

  /// The most bytes per second that may be sent now; nil: no limit.
  var limit: Int64?
}

/// The loops write the state of their connections here, and the tuning reads it.
final class LineLedger: Sendable {
  struct Entry: Sendable {
    var at: Duration = .zero
    var delivered: Int64 = 0
    var segments: Int64 = 0
    var lost: Int64 = 0
    var held: Duration = .zero
    var roundTrip: Duration?
    var leastTrip: Duration?
  }

  private let entries = Locked<[Entry]>([])

  /// The number of a loop's entry.
  func join() -> Int {
    entries.withLock { entries in
      entries.append(Entry())
      return entries.count - 1
    }
  }

  func write(_ entry: Entry, of loop: Int) {
    entries.withLock { $0[loop] = entry }
  }

  var sample: LineSample {
    LineSample(entries.withLock { $0 })
  }
}

extension LineSample {
  /// The sum over these loops.
  init(_ loops: [LineLedger.Entry]) {
    self.init(at: loops.map(\.at).max() ?? .zero, delivered: loops.reduce(0) { $0 + $1.delivered })
    segments = loops.reduce(0) { $0 + $1.segments }
    lost = loops.reduce(0) { $0 + $1.lost }
    held = loops.reduce(.zero) { $0 + $1.held }
    roundTrip = loops.compactMap(\.roundTrip).min() ?? .zero
    leastTrip = loops.compactMap(\.leastTrip).min() ?? .zero
  }
}
