import MultipartBasics

/// One request, for the timeline: told by the client that sends it and by the loop that has its connection.
struct RequestTrace: Sendable {
  let timeline: Timeline
  let number: Int

  func goesOut(on ends: ConnectionEnds) { timeline.record { $0.goesOut(number, on: ends, at: $1) } }

  func ended() { timeline.record { $0.ended(number, at: $1) } }

  func carries(part: Int, isCopy: Bool) {
    timeline.record { log, _ in log.carries(number, part: part, isCopy: isCopy) }
  }

  func moved(_ bytes: Int64) { timeline.record { $0.moved(number, bytes, at: $1) } }

  func end(_ status: Int) { timeline.record { $0.end(request: number, nil, status: status, at: $1) } }

  func end(_ failure: Failure) {
    let trouble = "\(failure.code.rawValue): " + timeline.text(failure.message)
    let isStopped = failure.code == .interrupted
    timeline.record { $0.end(request: number, trouble, isStopped: isStopped, status: failure.status, at: $1) }
  }
}

/// One object, for the timeline.
struct ObjectTrace: Sendable {
  let timeline: Timeline
  let number: Int

  func enter(_ activity: UploadActivity) { timeline.record { $0.enter(number, activity, at: $1) } }

  func end(_ result: Result<TraceTotals, Failure>) {
    var (trouble, totals): (String?, TraceTotals?)
    var isStopped = false
    switch result {
    case .success(let known): totals = known
    case .failure(let failure):
      trouble = "\(failure.code.rawValue): " + timeline.text(failure.message)
      isStopped = failure.code == .interrupted
    }
    timeline.record { $0.end(object: number, trouble, isStopped: isStopped, totals, at: $1) }
  }
}

extension Timeline {
  func request(_ operation: OperationName, _ place: Place) -> RequestTrace {
    var place = place
    place.key = place.key.map(text)
    let isDown = operation.description == GetObject.name.description
    return RequestTrace(
      timeline: self, number: record { [place] in $0.begin(operation.description, place, isDown: isDown, at: $1) })
  }

  func object(_ place: Place) -> ObjectTrace {
    var place = place
    (place.key, place.file) = (place.key.map(text), place.file.map(text))
    return ObjectTrace(timeline: self, number: record { [place] in $0.begin(object: place, at: $1) })
  }

  /// Something on this machine that began at `start` of the log's time and has ended.
  func worked(_ name: String, since start: Duration, _ place: Place = Place()) {
    var facts: [(String, JSON)] = []
    if let key = place.key { facts.append(("key", .string(text(key)))) }
    if let part = place.part { facts.append(("part", .int(Int64(part)))) }
    record { [facts] in $0.worked(name, from: start, to: $1, facts) }
  }

  /// Of the log.
  var time: Duration { record { $1 } }

  func mark(_ text: Wording) {
    let text = self.text(text)
    record { $0.mark(text, at: $1) }
  }

  func learned(_ lesson: String) { record { log, _ in log.figures.learned(lesson) } }

  func look(_ sample: LineSample, width: Int) { record { $0.look(sample, width: width, at: $1) } }

  func retry(_ what: String, attempt: Int, in wait: Duration, _ cause: Failure.Code, _ message: Wording) {
    let cause = "\(cause.rawValue): " + text(message)
    record { $0.wait(.retry, "\(what), before try \(attempt)", for: wait, at: $1, cause: cause) }
  }

  func hear(_ event: UploadEvent) {
    switch event {
    case .retry(let part, let attempt, let wait, let code, let message):
      retry(part.map { "part \($0)" } ?? "request", attempt: attempt, in: wait, code, message)
    case .waitsForQuiet(_, let wait):
      record { $0.wait(.wait, "waits to see whether another run is sending", for: wait, at: $1, cause: "adoption") }
    case .resumed(_, let parts, let bytes): mark("\(parts) parts (\(bytes) bytes) are at the store already")
    case .connections(let count, let why): mark("\(count) connections from here on: \(why)")
    case .checksumChanged(_, _, let why): mark("another checksum from here on: \(why)")
    case .startsAnew(let why): mark("\(why): a new upload begins")
    case .started, .part, .waitsForRun, .passedBy, .leftBehind, .leftAlone, .warning, .advice: break
    }
  }

  func hear(_ event: DownloadEvent) {
    switch event {
    case .retry(let range, let attempt, let wait, let code, let message):
      retry(range.map { "range \($0)" } ?? "request", attempt: attempt, in: wait, code, message)
    case .resumed(let ranges, let bytes): mark("\(ranges) ranges (\(bytes) bytes) are on disk already")
    case .connections(let count, let why): mark("\(count) connections from here on: \(why)")
    case .reloads: mark("what came is not the object: every range is loaded once more")
    case .started, .range, .warning: break
    }
  }
}

extension World {
  func tracing(_ tell: @escaping @Sendable (UploadEvent) -> Void) -> @Sendable (UploadEvent) -> Void {
    guard let timeline else { return tell }
    return { event in
      timeline.hear(event)
      tell(event)
    }
  }

  func tracing(_ tell: @escaping @Sendable (DownloadEvent) -> Void) -> @Sendable (DownloadEvent) -> Void {
    guard let timeline else { return tell }
    return { event in
      timeline.hear(event)
      tell(event)
    }
  }

  /// Does the work; the timeline has how long it took.
  func timed<Result, E: Error>(
    _ what: String, at place: Place, _ work: () async throws(E) -> Result
  ) async throws(E) -> Result {
    guard let timeline else { return try await work() }
    let start = timeline.time
    defer { timeline.worked(what, since: start, place) }
    return try await work()
  }
}
