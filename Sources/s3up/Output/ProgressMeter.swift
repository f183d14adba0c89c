import MultipartCore

/// Derives rate, time left and activity of an upload from its counters.
struct ProgressMeter: Sendable {
  /// The longest interval between two measurements; after a longer one the process was stopped, and no rate is computed.
  private static let longestGap = Duration.seconds(2)
  /// A stall is reported after this time.
  private static let shortestStall = Duration.seconds(3)

  private var rates = RateMeter()
  private var highest: Int64 = 0
  private var beginnings = 0
  private var transferred: Int64 = 0
  /// When bytes last arrived, or none were expected.
  private var moved: Duration?
  private var looked: Duration?

  mutating func measure(_ state: ProgressState, at now: Duration) -> ProgressState {
    let wasPaused = looked.map { now - $0 > Self.longestGap } ?? true
    looked = now
    var measured = state
    if state.beginnings != beginnings { (beginnings, highest) = (state.beginnings, 0) }
    // A failed part is sent again: its bytes are lost, and the percentage stays until they were sent again.
    highest = max(highest, state.done)
    measured.done = highest
    if wasPaused || !state.activity.isSending { (rates, moved) = (RateMeter(), now) }
    rates.add(state.transferred, at: now)
    if state.transferred > transferred { (transferred, moved) = (state.transferred, now) }
    measured.words = state.pause(at: now)
    guard measured.words == nil else { return measured }
    measured.rate = rates.rate.flatMap { $0 > 0 ? $0 : nil }
    if let moved, now - moved >= Self.shortestStall, state.connections > 0 {
      measured.words = "stalled for \(Human.clock(now - moved))"
      measured.rate = nil
    } else {
      measured.eta = state.total.flatMap { rates.eta(remaining: $0 - state.done) }
    }
    return measured
  }
}

extension ProgressState {
  /// What it is doing while no byte moves, in words; nil while bytes move.
  func pause(at now: Duration) -> String? {
    guard activity.isSending else { return activity.words(at: now) }
    // Everything was sent, and answers are missing.
    guard let total, total > 0, done >= total, connections > 0 else { return nil }
    return "waiting for the store"
  }

  /// With words that leave room for the rest: those of a retry are long.
  func shortened(_ width: Int) -> ProgressState {
    var state = self
    state.words = words.map { TextWidth.cut($0, to: max(12, width / 3)) }
    return state
  }
}

extension UploadActivity {
  /// Whether bytes are expected to arrive.
  var isSending: Bool {
    switch self {
    case .sending, .receiving, .stopping: true
    default: false
    }
  }

  func words(at now: Duration) -> String {
    switch self {
    case .starting: "starting"
    case .waitingForRun: "waiting for another run"
    case .waitingForCredentials: "waiting for credentials"
    case .looking: "looking for an unfinished upload"
    case .comparing: "comparing parts"
    case .reading: "waiting for the source"
    case .sending: "sending"
    case .receiving: "receiving"
    case .waitingToRetry(let why, let until):
      SafeText.oneLine(why.commandText) + ", next try in \(Human.clock(max(.zero, until - now)))"
    case .assembling: "assembling"
    case .checking: "checking"
    case .cleaningUp: "cleaning up"
    case .stopping: "stopping"
    }
  }
}
