/// Whether what a transfer has moved may lie in a buffer on the way.
package enum Buffers: Sendable {
  /// What was received is here.
  case none
  case possible
  /// It did in the last run.
  case known
}

/// How the objects of a run share their connections, and how patient it is.
package struct RunSettings: Sendable {
  /// The most transfers at once, unless `pace` determines it.
  package var concurrency = 8
  /// The number of connections is found by trying; nil: it is `concurrency`.
  package var pace: Pace.Bounds?
  /// The most transfers at once while they are small, with a pace; nil: what the pace says.
  package var mostSmall: Int?
  package var retry = RetryPolicy()
  package var buffers = Buffers.none
  /// Slow transfers at the end are made a second time.
  package var hedges = false
  /// The most bytes per second that the run may transfer, at first.
  package var limitRate: Int64?
  /// Until the first object is added, which has its own.
  package var partSize: Int64 = 8 << 20
  package var seed: UInt64 = 0

  package init() {}
}
