/// Whether bytes that a transfer has moved may be in a buffer on the way.
enum Buffers: Sendable {
  /// There is none, because bytes are received.
  case none
  case possible
  /// There was one in the last run.
  case known
}

/// How the objects of a run share their connections, and how patient it is.
struct RunSettings: Sendable {
  /// The most transfers at once, unless `pace` determines it.
  var concurrency = 8
  /// The bounds for finding the number of connections by trial; nil: it is fixed at `concurrency`.
  var pace: Pace.Bounds?
  /// The most transfers at once while they are small, with a pace; nil: the number of the pace.
  var mostSmall: Int?
  var retry = RetryPolicy()
  var buffers = Buffers.none
  /// Whether slow transfers at the end are made a second time.
  var hedges = false
  /// The most bytes per second that the run may transfer, at first.
  var limitRate: Int64?
  /// The part size until the first object is added, which has its own.
  var partSize: Int64 = 8 << 20
  var seed: UInt64 = 0

  init() {}
}
