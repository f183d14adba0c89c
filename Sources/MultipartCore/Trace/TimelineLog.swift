import MultipartBasics

/// Turns what happens in a run into slices, as they end: into lines of a trace, and into figures. It has no clock: each time
/// is the one since the run began.
struct TimelineLog: Sendable {
  var figures = RunFigures()
  /// Of the trace, since somebody took them.
  private(set) var lines = ""
  private let keepsLines: Bool
  private let most: Int
  private var events = 0
  private var named: Set<TraceTrack> = []
  private var lanes: [TraceTrack.Group: TraceLanes] = [:]
  private var begun = 0
  var requests: [Int: OpenRequest] = [:]
  var objects: [Int: OpenObject] = [:]
  var connections = TraceConnections()
  /// Those that may not be over.
  private var waits: [TraceSlice] = []
  private var nextLook = Duration.zero

  /// So many lines a trace has at most: about 200 MB.
  static let mostEvents = 1_000_000
  /// What is shorter is not worth a line: small files would have three times as many.
  private static let shortest = Duration.microseconds(100)

  init(keepsLines: Bool = true, most: Int = mostEvents) { (self.keepsLines, self.most) = (keepsLines, most) }

  var isEmpty: Bool { begun == 0 }

  mutating func begin() -> Int {
    begun += 1
    return begun
  }

  mutating func lane(_ group: TraceTrack.Group, from start: Duration, to end: Duration?) -> TraceTrack {
    TraceTrack(group, lanes[group, default: TraceLanes()].take(from: start, to: end))
  }

  mutating func free(_ track: TraceTrack, at now: Duration) { lanes[track.group]?.free(track.number, at: now) }

  // MARK: - What happens

  mutating func add(_ slice: TraceSlice) {
    figures.take(slice)
    line(on: slice.track) { TraceFormat.line(slice) }
  }

  /// Something that takes no time.
  mutating func mark(_ text: String, at now: Duration) {
    figures.mark(text, at: now)
    line(on: TraceTrack(.run, 1)) { TraceFormat.mark(text, at: now) }
  }

  /// It lasts so long, unless the run ends before. `counts`: a failed request is made again after it.
  mutating func wait(_ kind: TraceSlice.Kind, _ name: String, for time: Duration, at now: Duration, cause: String) {
    settleWaits(at: now)
    let end = now + max(.zero, time)
    let track = lane(.waits, from: now, to: end)
    waits.append(TraceSlice(track, kind, name, from: now, to: end, [("cause", .string(cause))]))
    if kind == .retry { figures.retried(cause) }
  }

  private mutating func settleWaits(at now: Duration, all: Bool = false) {
    for wait in waits where all || wait.to <= now {
      var wait = wait
      wait.to = max(wait.from, min(wait.to, now))
      add(wait)
    }
    waits.removeAll { all || $0.to <= now }
  }

  mutating func worked(_ name: String, from start: Duration, to end: Duration, _ facts: [(String, JSON)]) {
    guard end - start >= Self.shortest else { return }
    add(TraceSlice(lane(.work, from: start, to: end), .work, name, from: start, to: end, facts))
  }

  mutating func phase(of object: OpenObject, until now: Duration) {
    guard let phase = object.phase, now - phase.since >= Self.shortest else { return }
    add(
      TraceSlice(
        TraceTrack(.phases, object.track.number), phase.kind, phase.name, from: phase.since, to: now,
        [("key", .string(object.name))]))
  }

  /// What the line does: rarer, the longer the run takes.
  mutating func look(_ sample: LineSample, width: Int, at now: Duration) {
    figures.look(sample, width: width)
    guard now >= nextLook else { return }
    nextLook = now + max(.milliseconds(100), now / 500)
    let (rate, trip) = (figures.rates.last(at: now), sample.roundTrip.seconds * 1000)
    for (name, value) in [("connections", Double(width)), ("MiB/s", rate / 1_048_576), ("round trip in ms", trip)] {
      line(on: TraceTrack(.run, 1)) { TraceFormat.counter(name, value, at: now) }
    }
  }

  // MARK: - Lines

  mutating func takeLines() -> String {
    defer { lines = "" }
    return lines
  }

  private mutating func line(on track: TraceTrack, _ text: () -> String) {
    guard keepsLines else { return }
    guard events < most else {
      figures.leftOut += 1
      return
    }
    events += 1
    if named.insert(track).inserted { lines += TraceFormat.names(of: track) }
    lines += TraceFormat.separator + text()
  }

  /// The log as if the run ended now.
  func closed(at now: Duration) -> TimelineLog {
    var log = self
    log.settleWaits(at: now, all: true)
    for number in requests.keys.sorted() {
      log.end(request: number, "unfinished", isStopped: true, status: nil, at: now)
    }
    for number in objects.keys.sorted() { log.end(object: number, "unfinished", isStopped: true, nil, at: now) }
    log.figures.took = max(log.figures.took, now)
    return log
  }
}
