extension Pace {
  package struct Bounds: Sendable, Equatable {
    package var start: Int
    package var most: Int
    /// The most if losses limit each connection.
    package var mostWhenLossy: Int
    /// How many begin before the line has shown its speed; nil: all of them, and only time tells.
    package var opening: Int?
    /// The most bytes per second, however fast the line is.
    package var limit: Int64?

    package init(start: Int, most: Int, mostWhenLossy: Int? = nil, opening: Int? = nil, limit: Int64? = nil) {
      self.start = max(1, start)
      self.most = max(1, start, most)
      self.mostWhenLossy = max(self.most, mostWhenLossy ?? 1)
      self.opening = opening.map { min(self.start, max(1, $0)) }
      self.limit = limit
    }

    /// The same bytes at first, in parts of another size. Larger parts do not need fewer connections.
    func scaled(from before: Int64, to partSize: Int64) -> Bounds {
      guard partSize < before else { return self }
      let more = Int(clamping: (Int64(start) * before + partSize - 1) / max(1, partSize))
      var scaled = self
      scaled.start = min(max(start, more), most)
      // On a slow line only a few begin, whatever their size.
      if opening == start { scaled.opening = scaled.start }
      return scaled
    }

    /// No more than the limit allows in ten seconds.
    func bounded(partSize: Int64) -> Bounds {
      guard let limit else { return self }
      let enough = Pace.enough(Double(limit), of: partSize)
      return Bounds(
        start: min(start, enough), most: min(most, enough), mostWhenLossy: min(mostWhenLossy, enough),
        opening: opening, limit: limit)
    }
  }

  /// So slow that the parts in flight would take too long, and not because of the line: whoever takes the bytes has let the
  /// connections wait. What it took before may lie there.
  struct Backlog: Sendable, Equatable {
    var since: Duration
    /// Bytes a second that it has taken since.
    var rate: Double
    /// How many connections are enough for that.
    var enough: Int
  }

  package struct Change: Sendable, Equatable {
    package var connections: Int
    package var why: String
    /// The parts of superfluous connections are to be stopped: they would take minutes.
    package var stopsSome = false
  }
}
