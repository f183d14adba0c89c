/// What a timeline comes to, in bounded memory however long the run is: totals, rates, causes and a picture.
package struct RunFigures: Sendable {
  /// By the wall clock.
  package internal(set) var started = Timestamp(seconds: 0)
  package internal(set) var took = Duration.zero
  package private(set) var bytesSent: Int64 = 0
  package private(set) var bytesReceived: Int64 = 0
  /// Requests, those that have failed, and those that have carried a part or range.
  package private(set) var requests = 0
  package private(set) var failedRequests = 0
  package private(set) var parts = 0
  package private(set) var retries = 0
  package private(set) var objects = 0
  package private(set) var failedObjects = 0
  /// Events that the trace does not have.
  package internal(set) var leftOut = 0
  /// How often something was tried again, by the cause.
  package private(set) var causes: [String: Int] = [:]
  package private(set) var rates = TraceRates()
  package private(set) var picture = TracePicture()
  /// What the run has decided on the way, and when.
  package private(set) var marks: [(at: Duration, text: String)] = []
  package private(set) var marksLeftOut = 0
  package private(set) var line: LineFacts?
  /// How long all slices of a kind were together.
  package private(set) var times: [TraceSlice.Kind: Duration] = [:]
  /// The first that have failed.
  package private(set) var failures: [(name: String, why: String)] = []

  /// What was learned of the line.
  package struct LineFacts: Sendable {
    package var connections: Int
    package var mostConnections: Int
    package var leastTrip: Duration
    package var roundTrip: Duration
    package var segments: Int64
    package var resent: Int64
    /// In words.
    package var lessons: [String] = []
  }

  private static let mostCauses = 40
  private static let mostMarks = 100
  private static let mostFailures = 20
  static let otherCauses = "other causes"

  package init() {}

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
        connections: width, mostConnections: width, leastTrip: .zero, roundTrip: .zero, segments: 0, resent: 0)
    (facts.connections, facts.mostConnections) = (width, max(facts.mostConnections, width))
    (facts.segments, facts.resent) = (sample.segments, sample.resent)
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
package struct TraceRates: Sendable {
  package static let most = 600
  package private(set) var step = Duration.milliseconds(25)
  package private(set) var bytes: [Int64] = []

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
