/// What one look at the connections showed.
package struct LineSample: Sendable, Equatable {
  package var at: Duration
  /// Bytes that the other side has acknowledged since the run began, on all connections.
  package var delivered: Int64
  /// Packets are lost, and each loss makes a connection slower for long.
  package var isLossy = false
  /// How long nothing but the line's own speed has held the connections back, all of them together. The rest of their
  /// time they waited for the store: for its window, for its answers.
  package var held: Duration = .zero
  /// The share of a core that the loops used since the look before, each on average.
  package var load: Double = 0
  /// To the store and back, on the connection where it is shortest.
  package var roundTrip: Duration = .zero

  package init(at: Duration, delivered: Int64) {
    self.at = at
    self.delivered = delivered
  }
}

/// Where the loops write what they see of their connections, and who tunes reads it.
final class LineLedger: Sendable {
  struct Entry: Sendable {
    var at: Duration = .zero
    var delivered: Int64 = 0
    var isLossy = false
    var held: Duration = .zero
    var roundTrip: Duration?
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
    let entries = entries.withLock { $0 }
    var sample = LineSample(
      at: entries.map(\.at).max() ?? .zero, delivered: entries.reduce(0) { $0 + $1.delivered })
    sample.isLossy = entries.contains { $0.isLossy }
    sample.held = entries.reduce(.zero) { $0 + $1.held }
    sample.roundTrip = entries.compactMap(\.roundTrip).min() ?? .zero
    return sample
  }
}
