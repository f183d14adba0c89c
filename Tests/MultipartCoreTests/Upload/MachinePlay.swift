import MultipartBasics
@testable import MultipartCore

/// A machine and a model of a store: which requests are pending, what the store really has, and every answer that could
/// come next.
struct MachinePlay {
  enum Object: Equatable {
    case none, ours
    /// An object from before, with the same bytes in the same parts.
    case older
  }

  var machine: SoloUpload
  let settings: SoloSettings
  var out: [UploadMachine.Action] = []
  var timers: [Duration] = []
  var now: Duration = .zero
  var outcome: UploadMachine.Outcome?
  var steps = 0
  var mistakes: [String] = []
  /// The events; they are only described if there is a mistake, because that takes longer than the event itself.
  var history: [Any] = []

  // The store.
  var uploads: Set<String> = []
  var created = 0
  var parts: [String: Set<Int>] = [:]
  /// What an earlier run left at the store, and whether it is recorded here.
  var left: [String] = []
  var leftIsOwn = false
  var isAdopted = false
  /// When another client that is still sending to it has sent a part once more, in seconds after the beginning.
  var touchedAt: Int64 = 0
  /// Uploads created by requests whose answers were lost.
  var lost: Set<String> = []
  /// Whether uploads are recorded, so that a later run can resume them.
  var records = false
  var object = Object.none
  var interruptions = 0

  /// Whether the object was seen to have the requested settings.
  var isInspected = false

  init(
    _ settings: SoloSettings, left: [Int]? = nil, leftIsOwn: Bool = false, records: Bool = false,
    object: Object = .none
  ) {
    self.settings = settings
    machine = SoloUpload(settings)
    if let left {
      self.left = ["old"]
      uploads = ["old"]
      parts["old"] = Set(left)
    }
    self.leftIsOwn = leftIsOwn
    self.records = records
    self.object = object
    take(machine.begin(at: now))
  }

  mutating func feed(_ event: UploadMachine.Event) {
    steps += 1
    history.append(event)
    var event = event
    if case .created(let id, _, _) = event { event = .created(uploadID: id, isRecorded: records) }
    take(machine.handle(event, at: now))
  }

  mutating func feed(_ event: Run<UploadMachine>.Event) {
    steps += 1
    history.append(event)
    take(machine.handle(event, at: now))
  }

  private mutating func take(_ actions: [UploadMachine.Action]) {
    timers += machine.wakes
    for action in actions { take(action) }
    if machine.misfits > 0 { mistakes.append("nothing was waiting for \(history.last as Any)") }
    if out.count(where: \.isTransfer) > settings.concurrency { mistakes.append("more transfers than the window") }
    if outcome == nil, out.isEmpty, timers.isEmpty { mistakes.append("nothing is pending, but there is no end") }
    if steps > 400 { mistakes.append("no end after 400 events") }
  }

  private mutating func take(_ action: UploadMachine.Action) {
    if outcome != nil { mistakes.append("an action after the end: \(action)") }
    switch action {
    case .say: break
    case .adopt:
      isAdopted = true
      if !leftIsOwn, clock.seconds - touchedAt < 60 { mistakes.append("adopts what somebody may be sending to") }
      _ = machine.handle(.recorded(records), at: now)
    case .cancelTransfers:
      out = out.map { $0.isTransfer ? .cancelled($0) : $0 }
    case .finish(let result):
      outcome = result
      if !out.isEmpty { mistakes.append("the end comes while \(out) is pending") }
    default: out.append(action)
    }
  }

  /// The store's clock, by which the old upload is half a minute old when the run begins.
  var clock: Timestamp { Timestamp(seconds: 30 + now.components.seconds) }

  struct Choice {
    var isFault: Bool
    var play: (inout MachinePlay) -> Void
  }

  /// Every event that could come next.
  func choices(faults: Bool) -> [Choice] {
    var all: [Choice] = []
    for (index, action) in out.enumerated() {
      let (good, bad) = action.answers
      for (isFault, answer) in good.map({ (false, $0) }) + (faults ? bad.map { (true, $0) } : []) {
        all.append(
          Choice(isFault: isFault) { play in
            play.out.remove(at: index)
            play.feed(answer(&play))
          })
      }
    }
    if out.isEmpty, let next = timers.min() {
      all.append(
        Choice(isFault: false) { play in
          play.now = max(play.now, next)
          play.timers.removeAll { $0 <= play.now }
          play.feed(.tick)
        })
    }
    if faults, interruptions == 0 {
      all.append(
        Choice(isFault: true) { play in
          play.interruptions += 1
          play.feed(.interrupted(Failure(.interrupted, "stopped")))
        })
    }
    return all
  }

  /// Checks everything that must hold at every end.
  mutating func judgeEnd() {
    switch outcome {
    case .completed:
      if object != .ours { mistakes.append("success, and the object is \(object)") }
      if settings.inspects, !isInspected {
        mistakes.append("success, but the requested settings were not checked")
      }
    case .unchanged, .skipped, .planned, .sharing:
      if !uploads.isEmpty { mistakes.append("unchanged, and something was begun") }
    case .failed:
      if machine.cause == nil { mistakes.append("failed without a cause") }
    case nil: break
    }
    var unsaid = uploads.subtracting(machine.abandoned)
    // The next run looks for it.
    if machine.createWasLost { unsaid.subtract(lost) }
    if outcome?.isKept == true, let id = machine.uploadID { unsaid.remove(id) }
    // Another client's upload is left as it was.
    if !leftIsOwn, !isAdopted, !left.isEmpty, !uploads.contains("old") { mistakes.append("aborted a foreign upload") }
    if !leftIsOwn || (outcome?.isFailure == true && machine.leavesOldRecord) { unsaid.remove("old") }
    if outcome != nil, !unsaid.isEmpty { mistakes.append("the end, and \(unsaid) is still at the store") }
  }
}

extension UploadMachine.Action {
  /// The pending action of a transfer that was told to stop and has not answered yet.
  static func cancelled(_ action: Self) -> Self {
    if case .send(let part, let form, _, let fresh) = action {
      return .send(part: part, form: form, attempt: -1, freshConnection: fresh)
    }
    if case .put(let form, _, let fresh) = action { return .put(form: form, attempt: -1, freshConnection: fresh) }
    return action
  }

  var isTransfer: Bool {
    switch self {
    case .send, .put: true
    default: false
    }
  }

  var isCancelled: Bool {
    switch self {
    case .send(_, _, let attempt, _), .put(_, let attempt, _): attempt < 0
    default: false
    }
  }
}
