extension Pace {
  struct Bounds: Sendable, Equatable {
    var start: Int
    var most: Int
    /// The most if losses limit each connection.
    var mostWhenLossy: Int
    /// How many are started before the line has shown its speed; nil: all of them, and only time shows it.
    var opening: Int?
    /// The most bytes per second, however fast the line is.
    var limit: Int64?

    init(start: Int, most: Int, mostWhenLossy: Int? = nil, opening: Int? = nil, limit: Int64? = nil) {
      self.start = max(1, start)
      self.most = max(1, start, most)
      self.mostWhenLossy = max(self.most, mostWhenLossy ?? 1)
      self.opening = opening.map { min(self.start, max(1, $0)) }
      self.limit = limit
    }

    /// The bounds for parts of a different size, with the same number of bytes at first. Larger parts do not need fewer
    /// connections.
    func scaled(from before: Int64, to partSize: Int64) -> Bounds {
      guard partSize < before else { return self }
      let more = Int(clamping: (Int64(start) * before + partSize - 1) / max(1, partSize))
      var scaled = self
      scaled.start = min(max(start, more), most)
      // On a slow line only a few are started, whatever their size.
      if opening == start { scaled.opening = scaled.start }
      return scaled
    }

    /// The bounds with no more connections than the limit allows in ten seconds.
    func bounded(partSize: Int64) -> Bounds {
      guard let limit else { return self }
      let enough = Pace.enough(Double(limit), of: partSize)
      return Bounds(
        start: min(start, enough), most: min(most, enough), mostWhenLossy: min(mostWhenLossy, enough),
        opening: opening, limit: limit)
    }
  }

  /// The parts in flight would take too long, but not because of the line: the receiver of the bytes has made the
  /// connections wait. What it accepted before may be in its buffer.
  struct Backlog: Sendable, Equatable {
    var since: Duration
    /// Bytes per second that it has accepted since.
    var rate: Double
    /// How many connections are enough for that rate.
    var enough: Int
  }

  struct Change: Sendable, Equatable {
    var connections: Int
    var why: String
    /// Parts of superfluous connections must be stopped, because they would take minutes.
    var stopsSome = false
  }

  enum Phase: Equatable {
    /// The line's speed is unknown.
    case opening
    /// The first connections are still finding their speed.
    case beginning(rate: Double?)
    /// Each step is measured against the rate before it.
    case climbing(from: Int, rate: Double)
    /// Many connections were added, because losses limit each of them.
    case spreading(from: Spread)
    case settled(until: Duration)
    /// Fewer connections for a slow line, with their last rate: after a queue has overflowed it grows for seconds.
    case fewer(from: Int, rate: Double = 0)
    /// The former number again, because fewer had this rate: the line was slower with them, or just at that time.
    case again(fewer: Int, rate: Double)
  }

  struct Spread: Equatable {
    var connections: Int
    /// The share of packets that were lost.
    var losses: Double
    /// Bytes per second.
    var rate: Double
  }

  static func percent(_ share: Double) -> String {
    let hundredths = Int(share * 10_000)
    return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) %"
  }
}
