import MultipartBasics

/// A stretch of time on one track of a timeline. Times are those since the run began.
struct TraceSlice: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case object
    /// What an object is going through.
    case phase
    case assembly
    /// A request that carries bytes of an object, while it does.
    case part
    /// Before the first of them comes, or after the last was handed to the socket.
    case answer
    case request
    /// A request that did not succeed, and an object.
    case failed
    /// One that was not wanted any more: its connection was needed, its copy was faster, or the run ended.
    case stopped
    /// Until a request goes out on a new connection.
    case connect
    case retry
    case wait
    /// Reading and computing on this machine.
    case work
  }

  var track: TraceTrack
  var kind: Kind
  var name: String
  var from: Duration
  var to: Duration
  var facts: [(String, JSON)] = []

  init(
    _ track: TraceTrack, _ kind: Kind, _ name: String, from: Duration, to: Duration, _ facts: [(String, JSON)] = []
  ) {
    (self.track, self.kind, self.name, self.from, self.to) = (track, kind, name, max(.zero, from), max(.zero, from, to))
    self.facts = facts
  }
}

/// Where slices lie: those of one track do not overlap.
struct TraceTrack: Sendable, Hashable, Comparable {
  /// What a viewer shows as a process.
  enum Group: Int, Sendable, CaseIterable {
    case run = 1
    /// The phases of an object have the number of its track.
    case objects, phases, connections, unconnected, waits, work

    var title: String {
      switch self {
      case .run: "run"
      case .objects: "objects"
      case .phases: "phases"
      case .connections: "connections"
      case .unconnected: "requests without a connection"
      case .waits: "waits"
      case .work: "this machine"
      }
    }

    /// One track of it.
    var track: String {
      switch self {
      case .run, .work: title
      case .objects: "object"
      case .phases: "phases of object"
      case .connections: "connection"
      case .unconnected: "without a connection"
      case .waits: "waits"
      }
    }
  }

  var group: Group
  /// From 1.
  var number: Int

  init(_ group: Group, _ number: Int) { (self.group, self.number) = (group, number) }

  static func < (a: TraceTrack, b: TraceTrack) -> Bool {
    (a.group.rawValue, a.number) < (b.group.rawValue, b.number)
  }
}

/// Gives each stretch of time the first track of its group that is free.
struct TraceLanes: Sendable {
  /// Until when each is taken; nil: nobody knows yet.
  private var until: [Duration?] = []

  /// From 1. Those that come later must not begin before this one begins.
  mutating func take(from start: Duration, to end: Duration?) -> Int {
    let free = until.firstIndex { $0.map { $0 <= start } ?? false }
    if let free { until[free] = end } else { until.append(end) }
    return (free ?? until.count - 1) + 1
  }

  mutating func free(_ lane: Int, at now: Duration) { until[lane - 1] = now }
}

/// Which track each connection has. There are no more of them than connections were in use at once, or than `most`: then a
/// new connection takes the track of the one that was used longest ago.
struct TraceConnections: Sendable {
  static let most = 128

  private struct Track: Sendable {
    var ends: ConnectionEnds
    /// The request that is on it.
    var owner: Int?
    var lastUse: Duration
  }

  private var tracks: [Track] = []

  /// `former`: the request that was on it, whose end nobody has told yet.
  mutating func take(_ ends: ConnectionEnds, by request: Int, at now: Duration) -> (
    number: Int, isNew: Bool, freeSince: Duration, former: Int?
  ) {
    let track = Track(ends: ends, owner: request, lastUse: now)
    if let index = tracks.firstIndex(where: { $0.ends == ends }) {
      defer { tracks[index] = track }
      return (index + 1, false, tracks[index].lastUse, tracks[index].owner)
    }
    let idle = tracks.indices.filter { tracks[$0].owner == nil }.min { tracks[$0].lastUse < tracks[$1].lastUse }
    guard tracks.count >= Self.most, let idle else {
      tracks.append(track)
      return (tracks.count, true, .zero, nil)
    }
    defer { tracks[idle] = track }
    return (idle + 1, true, tracks[idle].lastUse, nil)
  }

  mutating func leave(_ number: Int, by request: Int, at now: Duration) {
    guard tracks[number - 1].owner == request else { return }
    (tracks[number - 1].owner, tracks[number - 1].lastUse) = (nil, now)
  }
}
