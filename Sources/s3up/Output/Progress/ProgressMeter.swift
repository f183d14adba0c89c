import MultipartBasics
import MultipartCore

/// Derives rate, time left and activity of an upload from its counters.
struct ProgressMeter: Sendable {
  /// The longest interval between two measurements; after a longer one the process was suspended, and no rate is
  /// computed.
  private static let longestGap = Duration.seconds(2)
  /// A stall is reported after this time.
  private static let shortestStall = Duration.seconds(3)

  private var rates = RateMeter()
  private var highest: Int64 = 0
  private var beginnings = 0
  private var transferred: Int64 = 0
  /// When bytes last moved, or none were expected.
  private var moved: Duration?
  /// When there was last more than ever before, or nothing was expected.
  private var grew = Duration.zero
  private var looked: Duration?

  mutating func measure(_ state: ProgressState, at now: Duration) -> ProgressState {
    let wasPaused = looked.map { now - $0 > Self.longestGap } ?? true
    looked = now
    var measured = state
    if state.beginnings != beginnings { (beginnings, highest) = (state.beginnings, 0) }
    // A failed part is sent again, which lowers the counter; the percentage stays until the counter has caught up.
    if state.done > highest { (highest, grew) = (state.done, now) }
    measured.done = highest
    if wasPaused || !state.activity.isSending { (rates, moved) = (RateMeter(), now) }
    if wasPaused || !state.activity.isOfTransfer { grew = now }
    rates.add(state.transferred, at: now)
    if state.transferred > transferred { (transferred, moved) = (state.transferred, now) }
    measured.pause(at: now)
    if case .tryingAgain(_, _, let since) = state.activity {
      // What is sent again is accepted by buffers on the way even if the other side is dead.
      guard now - grew < Self.shortestStall else {
        measured.words = "no answer for \(Human.clock(now - since)), " + state.activity.words(at: now)
        return measured
      }
      measured.words = nil
    }
    guard measured.words == nil else { return measured }
    measured.rate = rates.rate.flatMap { $0 > 0 ? $0 : nil }
    if let moved, now - moved >= Self.shortestStall, state.connections > 0 {
      let waits = state.activity == .waitingForAnswers
      measured.words = waits ? ProgressState.waiting : "stalled for \(Human.clock(now - moved))"
      (measured.fewerWords, measured.rate) = (waits ? "waiting" : "stalled", nil)
    } else {
      measured.eta = state.total.flatMap { rates.eta(remaining: $0 - state.done) }
    }
    return measured
  }
}

extension ProgressState {
  fileprivate static let waiting = "waiting for the store"

  /// Sets the words for what the upload is doing while no bytes move; none while they move.
  mutating func pause(at now: Duration) {
    fewerWords = activity.fewerWords(at: now)
    if !activity.isSending || activity.isAgain {
      words = activity.words(at: now)
    } else if let total, total > 0, done >= total, connections > 0 {
      words = Self.waiting
    } else {
      words = nil
    }
  }

  /// The state with fewer words if the usual ones would take more than half of a line, and in any case with no more than
  /// leave room for the end of a name and the percentage.
  func shortened(_ width: Int) -> ProgressState {
    var state = self
    if let words, TextWidth.columns(words) > width / 2 { state.words = fewerWords ?? words }
    let room = width - "100%    ".count - min(TextWidth.columns(name), ProgressLine.shortestName)
    state.words = state.words.map { TextWidth.cut($0, to: max(14, room)) }
    return state
  }
}

extension UploadActivity {
  /// Whether bytes are expected to move.
  var isSending: Bool {
    switch self {
    case .sending, .waitingForAnswers, .tryingAgain, .receiving, .stopping: true
    default: false
    }
  }

  var isAgain: Bool { if case .tryingAgain = self { true } else { false } }

  /// Whether it transfers, or waits for the next try of that.
  fileprivate var isOfTransfer: Bool { if case .waitingToRetry = self { true } else { isSending } }

  func words(at now: Duration) -> String {
    switch self {
    case .starting: "starting"
    case .connecting(let until) where until > now: "connecting, \(Human.clock(until - now)) left"
    case .connecting: "waiting for the first answer"
    case .waitingForRun: "waiting for another run"
    case .waitingForCredentials: "waiting for credentials"
    case .looking: "looking for an unfinished upload"
    case .comparing: "comparing parts"
    case .reading: "waiting for the source"
    case .sending, .waitingForAnswers: "sending"
    case .receiving: "receiving"
    case .waitingToRetry(let why, let until):
      SafeText.oneLine(why.commandText) + ", next try in \(Human.clock(max(.zero, until - now)))"
    case .tryingAgain(let attempt, let most, _): "trying again (\(attempt) of \(most))"
    case .assembling: "assembling"
    case .checking: "checking"
    case .cleaningUp: "cleaning up"
    case .stopping: "stopping"
    }
  }

  /// The same where there is little space; nil if there are no fewer.
  func fewerWords(at now: Duration) -> String? {
    switch self {
    case .connecting: "connecting"
    case .waitingForRun, .waitingForCredentials, .reading, .sending, .waitingForAnswers: "waiting"
    case .looking: "looking"
    case .comparing: "comparing"
    case .waitingToRetry(_, let until): "next try in \(Human.clock(max(.zero, until - now)))"
    case .tryingAgain: words(at: now)
    case .starting, .receiving, .assembling, .checking, .cleaningUp, .stopping: nil
    }
  }
}
