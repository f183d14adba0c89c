/// The way of one object from the first look to the proof: takes what has happened and says what to do next. It has no
/// clock, file or network, so every order of events can be played in a test. When something may be sent, and when it is
/// tried again, the run's `Scheduler` decides.
///
/// Each action is answered by one event (`say` and the cancelling ones by none), and `finish` comes once, when nothing is
/// under way any more.
package struct UploadMachine: Sendable {
  enum State: Sendable {
    case idle
    /// A precondition is looked at before the first byte.
    case checking(attempt: Int)
    /// For an unfinished upload; `lookup` says how far that has come.
    case looking
    /// A stream's first piece is being read.
    case reading
    case creating(attempt: Int)
    /// The source goes in one request, when there is room for it.
    case ready
    /// `parts` are sent and compared.
    case sending
    /// A stream's end is judged.
    case confirming
    case publishing(Completion)
    /// Waits for the transfers under way to end. Some are let go on until a moment.
    case stopping(End, graceEnds: Duration?)
    case cleaning(Cleanup, End)
    /// Nil: completed.
    case done(Failure?)
  }

  /// What comes when the upload is stopped and, as a rule, aborted.
  enum End: Sendable {
    case failing(Failure)
    case beginningAnew
    /// The object is proven; only what may be left of the upload is still to be ended.
    case finishing(evidence: String)
  }

  package internal(set) var settings: Settings
  /// Which of the run's objects this is.
  let object: Int
  /// As it was before an upload was looked at that is cut otherwise.
  private let ownPlan: UploadPlan
  var state = State.idle
  package internal(set) var uploadID: String?
  package internal(set) var form: ChecksumForm
  var parts: Sending
  var lookup = Lookup()
  /// A later run can resume the upload: it stands in a record.
  package internal(set) var isRecorded = false
  /// The run is told to end.
  package internal(set) var interruption: Failure?
  package private(set) var retries = 0
  /// Uploads that could not be shown to be gone after their abort.
  package internal(set) var abandoned: [String] = []
  /// A create may have worked although no answer said so: it left an upload without parts, whose id nobody knows. It
  /// looks like one that another machine has just begun, and so nobody ends it; without parts it costs nothing.
  package internal(set) var createWasLost = false
  var restarts = 0
  /// Begun anew once because complete missed a part that the store had taken.
  var hasMetInvalidPart = false
  /// An event that does not fit the state it came in: a mistake of this program.
  package internal(set) var misfits = 0

  package init(_ settings: Settings, object: Int = 0) {
    self.settings = settings
    self.object = object
    ownPlan = settings.plan
    form = settings.form
    parts = Sending(count: settings.plan.isSingle || settings.isStream ? 0 : settings.plan.partCount)
  }

  /// The parts are those of this plan; none is under way.
  mutating func cut(by plan: UploadPlan?, _ scheduler: inout Scheduler) {
    let plan = plan ?? ownPlan
    guard plan != settings.plan, !settings.isStream else { return }
    settings.plan = plan
    parts = Sending(count: plan.partCount)
    scheduler.recut(plan.partSize)
  }

  package mutating func handle(_ event: Event, _ scheduler: inout Scheduler) -> [Action] {
    counted(take(event, &scheduler))
  }

  mutating func apply(
    _ what: (inout UploadMachine, inout Scheduler) -> [Action], _ scheduler: inout Scheduler
  ) -> [Action] {
    what(&self, &scheduler)
  }

  private mutating func counted(_ actions: [Action]) -> [Action] {
    for case .say(.retry) in actions { retries += 1 }
    return actions
  }

  /// Nothing was waiting for the event.
  mutating func unfit() -> [Action] {
    misfits += 1
    return []
  }

  private mutating func take(_ event: Event, _ scheduler: inout Scheduler) -> [Action] {
    switch event {
    case .start: return start(&scheduler)
    case .checked(let failure): return checked(failure, &scheduler)
    case .found(let candidates): return found(candidates, &scheduler)
    case .findFailed(let failure): return findFailed(failure, &scheduler)
    case .partsListed(let list): return partsListed(list, &scheduler)
    case .partsListFailed(let failure): return partsListFailed(failure, &scheduler)
    case .partVerified(let receipt): return partVerified(receipt, &scheduler)
    case .partRejected(let number): return partRejected(number, &scheduler)
    case .verifyFailed(let number, let failure): return verifyFailed(number, failure, &scheduler)
    case .recorded(let isRecorded):
      self.isRecorded = isRecorded
      return []
    case .piece(let size, let isLast): return piece(size, isLast: isLast)
    case .readFailed(let failure): return readFailed(failure, &scheduler)
    case .ended: return ended()
    case .confirmed(let failure): return confirmed(failure, &scheduler)
    case .created(let id, let isRecorded): return created(id, isRecorded: isRecorded, &scheduler)
    case .createFailed(let failure): return createFailed(failure, &scheduler)
    case .partDone(let receipt): return partDone(receipt, &scheduler)
    case .partFailed(let number, let failure): return partFailed(number, failure, &scheduler)
    case .putDone(let judgement):
      scheduler.succeeded(wholeObject)
      return publish(&scheduler) { completion, _ in completion.answered(judgement) }
    case .putFailed(let failure): return putFailed(failure, &scheduler)
    case .completeDone(let judgement): return publish(&scheduler) { completion, _ in completion.answered(judgement) }
    case .completeFailed(let failure): return publish(&scheduler) { $0.requestFailed(failure, &$1) }
    case .headDone(let judgement): return publish(&scheduler) { $0.headed(judgement, &$1) }
    case .headFailed(let failure): return publish(&scheduler) { $0.headFailed(failure, &$1) }
    case .inspected(let inspection): return publish(&scheduler) { completion, _ in completion.inspected(inspection) }
    case .inspectFailed(let failure): return publish(&scheduler) { $0.inspectFailed(failure, &$1) }
    case .abortDone: return cleanUp(&scheduler) { $0.aborted(nil) }
    case .abortFailed(let failure): return cleanUp(&scheduler) { $0.aborted(failure) }
    case .listed(let isThere):
      if case .publishing = state { return publish(&scheduler) { completion, _ in completion.asked(isThere: isThere) } }
      return cleanUp(&scheduler) { $0.listed(isThere: isThere) }
    case .listFailed(let failure):
      if case .publishing = state { return publish(&scheduler) { $0.askFailed(failure, &$1) } }
      return cleanUp(&scheduler) { $0.listFailed(failure) }
    }
  }

  var wholeObject: Slot { Slot(object: object, part: 0) }

  // MARK: - What others ask of it

  /// The upload that this run has made or resumed, not one that it only looks at or that is complete.
  package var ownUploadID: String? { lookup.isVetting || isInspecting ? nil : uploadID }

  package var receipts: [PartReceipt?] { parts.receipts }

  /// Why the upload fails; later failures are consequences of this one.
  package var cause: Failure? {
    switch state {
    case .stopping(.failing(let failure), _), .cleaning(_, .failing(let failure)), .done(let failure?): failure
    default: nil
    }
  }

  /// What the store had of the upload before this run, in parts and bytes, as far as it has been compared. Nothing of an
  /// upload that is only looked at.
  package var kept: (parts: Int, bytes: Int64) {
    lookup.isVetting ? (0, 0) : (parts.comparison.kept, parts.comparison.keptBytes)
  }

  package var leavesOldRecord: Bool { lookup.leavesOldRecord }
  /// An earlier run had completed the upload already.
  package var wasComplete: Bool { lookup.wasComplete }

  /// A create is out, or waits for its next try.
  package var isCreating: Bool {
    if case .creating = state { true } else { false }
  }

  package var isDone: Bool {
    if case .done = state { true } else { false }
  }

  var isSending: Bool {
    if case .sending = state { true } else { false }
  }

  /// It will send, and does not yet.
  var isPreparing: Bool {
    switch state {
    case .checking, .looking, .reading, .creating: true
    case .publishing(let completion): if case .heading(.recovers, _) = completion.state { true } else { false }
    default: false
    }
  }

  private var isInspecting: Bool {
    if case .publishing(let completion) = state { completion.isInspecting } else { false }
  }

  /// Nothing is left to send but what is under way.
  var isDry: Bool {
    mutating get {
      switch state {
      case .sending: parts.queue.isExhausted() && (!settings.isStream || parts.stream.hasEnded)
      case .publishing, .cleaning, .confirming, .done: !isPreparing
      default: false
      }
    }
  }
}
