import MultipartBasics

/// A request that is under way.
struct OpenRequest: Sendable {
  var kind: TraceSlice.Kind
  var name: String
  var facts: [(String, JSON)]
  var isDown: Bool
  var began: Duration
  /// Of its object that were handed to the socket, or came.
  var bytes: Int64 = 0
  var carried: (from: Duration, to: Duration)?
  /// Since it has a connection.
  var out: (track: TraceTrack, since: Duration, facts: [(String, JSON)])?
  /// The connection is free again.
  var ended: Duration?
}

/// An object whose turn has come.
struct OpenObject: Sendable {
  var track: TraceTrack
  var name: String
  var facts: [(String, JSON)]
  var began: Duration
  var phase: (kind: TraceSlice.Kind, name: String, since: Duration)?
}

extension TimelineLog {
  mutating func begin(_ operation: String, _ place: Place, isDown: Bool, at now: Duration) -> Int {
    let number = begin()
    let isAssembly = operation == CompleteMultipartUpload.name.description
    var facts: [(String, JSON)] = [("operation", .string(operation))]
    if let key = place.key { facts.append(("key", .string(key))) }
    requests[number] = OpenRequest(
      kind: isAssembly ? .assembly : .request, name: isAssembly ? "assembly at the store" : operation, facts: facts,
      isDown: isDown, began: now)
    return number
  }

  /// It is about to go out on this connection; more than once if libcurl repeats it.
  mutating func goesOut(_ number: Int, on ends: ConnectionEnds, at now: Duration) {
    guard let request = requests[number] else { return }
    let place = connections.take(ends, by: number, at: now)
    if let former = place.former { ended(former, at: now) }
    let track = TraceTrack(.connections, place.number)
    if let out = request.out, out.track != track || out.since < now {
      let facts = request.facts + out.facts + [("bytes", .int(request.bytes))]
      add(TraceSlice(out.track, .failed, request.name + ", repeated", from: out.since, to: now, facts))
      requests[number]?.bytes = 0
      requests[number]?.carried = nil
      connections.leave(out.track.number, by: number, at: now)
    }
    let facts = [
      ("connection", JSON.string("\(ends.local):\(ends.localPort) to \(ends.peer):\(ends.peerPort)"))
    ]
    let from = max(request.out?.since ?? request.began, place.freeSince)
    if place.isNew, now > from { add(TraceSlice(track, .connect, "connect", from: from, to: now, facts)) }
    requests[number]?.out = (track, now, facts)
  }

  /// The connection has nothing more to do with it.
  mutating func ended(_ number: Int, at now: Duration) {
    guard let request = requests[number], request.ended == nil else { return }
    requests[number]?.ended = now
    if let out = request.out { connections.leave(out.track.number, by: number, at: now) }
  }

  /// Its connection carries bytes of the object.
  mutating func moved(_ number: Int, _ bytes: Int64, at now: Duration) {
    guard bytes > 0, let request = requests[number] else { return }
    requests[number]?.bytes += bytes
    requests[number]?.carried = (request.carried?.from ?? now, now)
    figures.moved(bytes, isDown: request.isDown, at: now)
  }

  /// Which part or range it carries; 0: the whole object.
  mutating func carries(_ number: Int, part: Int, isCopy: Bool) {
    guard let request = requests[number] else { return }
    let name = part == 0 ? "object" : "\(request.isDown ? "range" : "part") \(part)"
    requests[number]?.kind = .part
    requests[number]?.name = name + (isCopy ? ", second copy" : "")
    if part > 0 { requests[number]?.facts.append(("part", .int(Int64(part)))) }
  }

  /// The end of it: with a status, or why there is none.
  mutating func end(
    request number: Int, _ trouble: String?, isStopped: Bool = false, status: Int?, at now: Duration
  ) {
    ended(number, at: now)
    guard let request = requests.removeValue(forKey: number) else { return }
    let end = request.ended ?? now
    var facts = request.facts + (request.out?.facts ?? [])
    if request.kind == .part { facts.append(("bytes", .int(request.bytes))) }
    if let status { facts.append(("status", .int(Int64(status)))) }
    if let trouble { facts.append(("error", .string(trouble))) }
    let isGood = trouble == nil && status.map { (200..<300).contains($0) } ?? false
    figures.count(request.kind, isGood: isGood, isStopped: isStopped)
    // That an object or an upload is not there is an answer.
    let isAnswer = isGood || trouble == nil && status == 404
    let kind = isAnswer ? request.kind : isStopped ? .stopped : .failed
    let track = request.out?.track ?? lane(.unconnected, from: request.began, to: end)
    var slice = TraceSlice(
      track, kind, request.name, from: request.out?.since ?? request.began, to: end, facts)
    if kind == .part, let waiting = cut(request, &slice) { add(waiting) }
    add(slice)
  }

  /// The wait for the store, which may be most of it: it is a slice of its own.
  private func cut(_ request: OpenRequest, _ slice: inout TraceSlice) -> TraceSlice? {
    guard let carried = request.carried else { return nil }
    var waiting = TraceSlice(slice.track, .answer, "answer to \(slice.name)", from: slice.from, to: slice.to)
    if request.isDown {
      (waiting.to, slice.from) = (min(carried.from, slice.to), min(carried.from, slice.to))
    } else {
      (slice.to, waiting.from) = (min(carried.to, slice.to), min(carried.to, slice.to))
    }
    guard waiting.to - waiting.from >= Self.shortestAnswer else {
      (slice.from, slice.to) = (min(slice.from, waiting.from), max(slice.to, waiting.to))
      return nil
    }
    return waiting
  }

  private static var shortestAnswer: Duration { .milliseconds(1) }
}

extension TimelineLog {
  mutating func begin(object place: Place, at now: Duration) -> Int {
    let number = begin()
    let name = place.key ?? place.file ?? "object"
    let track = lane(.objects, from: now, to: nil)
    let facts: [(String, JSON)] = [("file", .optional(place.file)), ("bucket", .optional(place.bucket))]
    objects[number] = OpenObject(track: track, name: name, facts: facts, began: now)
    return number
  }

  mutating func enter(_ number: Int, _ activity: UploadActivity, at now: Duration) {
    guard let object = objects[number] else { return }
    let name = activity.phase
    guard object.phase?.name != name else { return }
    phase(of: object, until: now)
    objects[number]?.phase = (activity == .assembling ? .assembly : .phase, name, now)
  }

  mutating func end(
    object number: Int, _ trouble: String?, isStopped: Bool = false, _ totals: TraceTotals?, at now: Duration
  ) {
    guard let object = objects.removeValue(forKey: number) else { return }
    phase(of: object, until: now)
    var facts = object.facts + (totals?.facts ?? [])
    if let trouble { facts.append(("error", .string(trouble))) }
    add(
      TraceSlice(
        object.track, trouble == nil ? .object : isStopped ? .stopped : .failed, object.name, from: object.began,
        to: now, facts))
    figures.ended(object.name, isStopped ? nil : trouble)
    free(object.track, at: now)
  }
}

/// What the result of an object says of it.
struct TraceTotals: Sendable {
  var parts: Int
  var size: Int64
  var resumed: Int64
  var evidence: String

  var facts: [(String, JSON)] {
    [
      ("size", .int(size)), ("parts", .int(Int64(parts))), ("bytes_resumed", .int(resumed)),
      ("evidence", .string(evidence)),
    ]
  }
}

extension UploadActivity {
  /// In a timeline.
  var phase: String {
    switch self {
    case .starting: "starting"
    case .connecting: "connecting"
    case .waitingForAnswers: "waiting for answers"
    case .waitingForRun: "waiting for another run"
    case .waitingForCredentials: "waiting for credentials"
    case .looking: "looking for an unfinished upload"
    case .comparing: "comparing parts"
    case .reading: "reading"
    case .sending: "sending"
    case .receiving: "receiving"
    case .waitingToRetry: "waiting to retry"
    case .tryingAgain: "trying again"
    case .assembling: "assembly at the store"
    case .checking: "checking"
    case .cleaningUp: "cleaning up"
    case .stopping: "stopping"
    }
  }
}
