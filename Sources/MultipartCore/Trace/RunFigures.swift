import MultipartBasics

/// What a timeline comes to, in bounded memory however long the run is: totals, rates, causes and a picture.
struct RunFigures: Sendable {
  /// By the wall clock.
  var started = Timestamp(seconds: 0)
  var took = Duration.zero
  private(set) var bytesSent: Int64 = 0
  private(set) var bytesReceived: Int64 = 0
  /// Requests, those that have failed, and those that have carried a part or range.
  private(set) var requests = 0
  private(set) var failedRequests = 0
  private(set) var parts = 0
  private(set) var retries = 0
  private(set) var objects = 0
  private(set) var failedObjects = 0
  /// Events that the trace does not have.
  var leftOut = 0
  /// How often something was tried again, by the cause.
  private(set) var causes: [String: Int] = [:]
  private(set) var rates = TraceRates()
  private(set) var picture = TracePicture()
  /// What the run has decided on the way, and when.
  private(set) var marks: [(at: Duration, text: String)] = []
  private(set) var marksLeftOut = 0
  private(set) var line: LineFacts?
  /// How long all slices of a kind were together.
  private(set) var times: [TraceSlice.Kind: Duration] = [:]
  /// The first that have failed.
  private(set) var failures: [(name: String, why: String)] = []

  /// What was learned of the line.
  struct LineFacts: Sendable {
    var connections: Int
    var mostConnections: Int
    var leastTrip: Duration
    var roundTrip: Duration
    var segments: Int64
    var lost: Int64
    /// In words.
    var lessons: [String] = []
  }

  private static let mostCauses = 40
  private static let mostMarks = 100
  private static let mostFailures = 20
  static let otherCauses = "other causes"

  init() {}

  mutating func take(_ slice: TraceSlice) {
    took = max(took, slice.to)
    times[slice.kind, default: .zero] += slice.to - slice.from
    picture.take(slice)
  }

  mutating func moved(_ bytes: Int64, isDown: Bool, at now: Duration) {
    if isDown { bytesReceived += bytes } else { bytesSent += bytes }
    rates.add(bytes, at: now)
  }

  mutating func count(_ kind: TraceSlice.Kind, isGood: Bool, isStopped: Bool) {
    requests += 1
    if !isGood, !isStopped { failedRequests += 1 }
    if isGood, kind == .part { parts += 1 }
  }

  mutating func retried(_ cause: String) {
    retries += 1
    let isNew = causes[cause] == nil && causes.count >= Self.mostCauses
    causes[isNew ? Self.otherCauses : cause, default: 0] += 1
  }

  mutating func ended(_ name: String, _ trouble: String?) {
    objects += 1
    guard let trouble else { return }
    failedObjects += 1
    if failures.count < Self.mostFailures { failures.append((name, trouble)) }
  }

  mutating func mark(_ text: String, at now: Duration) {
    took = max(took, now)
    if marks.count < Self.mostMarks { marks.append((now, text)) } else { marksLeftOut += 1 }
  }

  mutating func look(_ sample: LineSample, width: Int) {
    var facts =
      line
      ?? LineFacts(
        connections: width, mostConnections: width, leastTrip: .zero, roundTrip: .zero, segments: 0, lost: 0)
    (facts.connections, facts.mostConnections) = (width, max(facts.mostConnections, width))
    (facts.segments, facts.lost) = (sample.segments, sample.lost)
    (facts.leastTrip, facts.roundTrip) = (sample.leastTrip, sample.roundTrip)
    line = facts
  }

  mutating func learned(_ lesson: String) {
    if line?.lessons.contains(where: { $0.utf8.elementsEqual(lesson.utf8) }) == false { line?.lessons.append(lesson) }
  }

  /// For the trace.
  var totals: JSON {
    .object([
      ("started_at", .string(started.iso8601)), ("seconds", .double((took.seconds * 1000).rounded() / 1000)),
      ("bytes_sent", .int(bytesSent)), ("bytes_received", .int(bytesReceived)), ("parts", .int(Int64(parts))),
      ("requests", .int(Int64(requests))), ("failed_requests", .int(Int64(failedRequests))),
      ("retries", .int(Int64(retries))),
      ("causes", .sorted(causes.mapValues { .int(Int64($0)) })), ("objects", .int(Int64(objects))),
      ("failed_objects", .int(Int64(failedObjects))), ("events_left_out", .int(Int64(leftOut))),
    ])
  }
}

/// Bytes over time, in at most `most` steps of one length, which doubles when they do not suffice.
struct TraceRates: Sendable {
  static let most = 600
  private(set) var step = Duration.milliseconds(25)
  private(set) var bytes: [Int64] = []

  init() {}

  mutating func add(_ count: Int64, at time: Duration) {
    while time >= step * Self.most { widen() }
    let index = Int(max(0, time / step))
    while bytes.count <= index { bytes.append(0) }
    bytes[index] = bytes[index].plus(count)
  }

  private mutating func widen() {
    step = step * 2
    bytes = stride(from: 0, to: bytes.count, by: 2).map { bytes[$0].plus($0 + 1 < bytes.count ? bytes[$0 + 1] : 0) }
  }

  /// A second, in the last step that is over.
  func last(at time: Duration) -> Double {
    let index = Int(max(0, time / step)) - 1
    return bytes.indices.contains(index) ? Double(bytes[index]) / step.seconds : 0
  }
}
