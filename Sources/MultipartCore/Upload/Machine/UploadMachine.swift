/// One object's upload from the first request to the proof: takes events and returns the next actions. It has no clock,
/// file or network, so that tests can play every order of events. The run's `Scheduler` decides when something may be
/// sent and when it is retried.
///
/// Each action is answered by one event (`say`, `release` and the cancelling ones by none), and `finish` comes once, when
/// nothing is running any more.
struct UploadMachine: ObjectMachine {
  typealias Scheduler = MultipartCore.Scheduler<PartReceipt>

  enum State: Sendable {
    case idle
    /// A precondition is checked before the first byte.
    case checking(attempt: Int)
    /// An unfinished upload is looked for; `lookup` has the details.
    case looking
    /// A stream's first piece is being read.
    case reading
    case creating(attempt: Int)
    /// The source is sent in one request once there is room for it.
    case ready
    /// `parts` are being sent and compared.
    case sending
    /// This run's share is at the store, and the machine asks whether the others are too. If so, the upload is
    /// completed at this time, unless another run does it before.
    case gathering(attempt: Int, until: Duration?)
    /// The end of a stream is being checked.
    case confirming
    case publishing(Completion)
    /// Waits for running transfers to end. Some may continue for a grace period.
    case stopping(End, graceEnds: Duration?)
    case cleaning(Cleanup, End)
    /// The upload has finished; nil: completed.
    case done(Failure?)
  }

  /// What follows when the upload is stopped and, usually, aborted.
  enum End: Sendable {
    case failing(Failure)
    case beginningAnew
    /// The object is proven; only leftovers of the upload still have to be aborted.
    case finishing(evidence: String)
  }

  var settings: Settings
  /// The object's number in the run.
  var object = 0
  /// The plan before an upload with a different part size was examined.
  private let ownPlan: UploadPlan
  var state = State.idle
  var uploadID: String?
  var form: ChecksumForm
  var parts: Sending
  var lookup = Lookup()
  /// A later run can resume the upload, because it is in a record.
  var isRecorded = false
  /// Why the run is being ended early; nil if it is not.
  var interruption: Failure?
  private(set) var retries = 0
  /// Uploads that may still exist after their abort.
  var abandoned: [String] = []
  /// How the upload was aborted after a failure; nil if it was not, or if the store has not confirmed it.
  var aborted: MultipartUpload.AbortOutcome?
  /// A create may have worked although its answer was lost: it left an upload without parts, whose ID is unknown. It
  /// looks like one that another machine has just begun, so it is not aborted; without parts it costs nothing.
  var createWasLost = false
  var restarts = 0
  /// The upload has started over once because complete lacked a part that the store had accepted.
  var hasMetInvalidPart = false
  /// The number of events that were not valid in their state: bugs of this program.
  var misfits = 0

  init(_ settings: Settings) {
    self.settings = settings
    ownPlan = settings.plan
    form = settings.form
    parts = Sending(
      count: settings.plan.isSingle || settings.isStream ? 0 : settings.plan.partCount, share: settings.share)
  }

  /// Divides the source by this plan; no part is being sent.
  mutating func cut(by plan: UploadPlan?, _ scheduler: inout Scheduler) {
    let plan = plan ?? ownPlan
    guard plan != settings.plan, !settings.isStream else { return }
    scheduler.recut(plan.partSize, before: settings.plan.partSize)
    settings.plan = plan
    parts = Sending(count: plan.partCount)
  }

  mutating func handle(_ event: Event, _ scheduler: inout Scheduler) -> [Action] {
    counted(take(event, &scheduler))
  }

  private mutating func counted(_ actions: [Action]) -> [Action] {
    for case .say(.retry) in actions { retries += 1 }
    return actions
  }

  /// Ignores an event that nothing was waiting for.
  mutating func unfit() -> [Action] {
    misfits += 1
    return []
  }

  private mutating func take(_ event: Event, _ scheduler: inout Scheduler) -> [Action] {
    switch event {
    case .checked(let failure): return checked(failure, &scheduler)
    case .same(let evidence): return foundObject(.unchanged(evidence: evidence), &scheduler)
    case .exists: return foundObject(.skipped(meanwhile: false), &scheduler)
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
    case .ended: return streamEnded()
    case .confirmed(let failure): return confirmed(failure, &scheduler)
    case .created(let id, let isRecorded, let plan): return created(id, isRecorded: isRecorded, plan, &scheduler)
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

  // MARK: - What other code reads

  /// The upload that this run has created or resumed, not one that it only examines or that is complete.
  var ownUploadID: String? { lookup.isVetting || isInspecting ? nil : uploadID }

  var receipts: [PartReceipt?] { parts.receipts }

  /// Why the upload fails; later failures are consequences of this one.
  var cause: Failure? {
    switch state {
    case .stopping(.failing(let failure), _), .cleaning(_, .failing(let failure)), .done(let failure?): failure
    default: nil
    }
  }

  /// What the store had of the upload before this run, in parts and bytes, as far as it has been compared. Zero for an
  /// upload that is only examined.
  var kept: (parts: Int, bytes: Int64) {
    lookup.isVetting ? (0, 0) : (parts.comparison.kept, parts.comparison.keptBytes)
  }

  var leavesOldRecord: Bool { lookup.leavesOldRecord }
  /// An earlier run had already completed the upload.
  var wasComplete: Bool { lookup.wasComplete }

  var isDone: Bool {
    if case .done = state { true } else { false }
  }

  var isSending: Bool {
    if case .sending = state { true } else { false }
  }

  private var isTransferring: Bool {
    if case .publishing(let completion) = state { completion.isPut } else { isSending }
  }

  private var isPreparing: Bool {
    switch state {
    case .checking, .looking, .reading, .creating: true
    case .publishing(let completion): if case .heading(.recovers, _) = completion.state { true } else { false }
    default: false
    }
  }

  private var isInspecting: Bool {
    if case .publishing(let completion) = state { completion.isInspecting } else { false }
  }

  var standing: Standing {
    mutating get {
      var now = Standing()
      (now.isDone, now.isPreparing, now.isTransferring, now.allIsOut) = (isDone, isPreparing, isTransferring, allIsOut)
      switch state {
      case .ready, .looking: now.mayFill = true
      case .sending: now.mayFill = !now.allIsOut || !parts.comparison.left.isEmpty
      default: break
      }
      return now
    }
  }

  /// Whether everything that is left to send is being sent.
  private var allIsOut: Bool {
    mutating get {
      switch state {
      case .sending: parts.queue.isExhausted() && (!settings.isStream || parts.stream.hasEnded)
      case .publishing, .cleaning, .confirming, .gathering, .done: !isPreparing
      default: false
      }
    }
  }
}

extension UploadMachine {
  func copy(_ part: Int, freshConnection: Bool) -> Action {
    .sendCopy(part: part, form: form, freshConnection: freshConnection)
  }

  func cancel(_ part: Int) -> Action { .takeBack(part) }
}

extension PartReceipt: TransferReceipt {
  /// Whether the ETags agree. Some stores give the same bytes a different ETag each time, and complete must name the
  /// one that they keep.
  func agrees(with other: PartReceipt) -> Bool { ETag(etag) == ETag(other.etag) }
}

extension UploadMachine.Scheduler.Pause {
  /// Reports why the next try has to wait.
  var notices: [UploadMachine.Action] {
    var part: Int?
    if case .transfer(let slot) = who, !slot.isWholeObject { part = slot.part }
    return [.say(.retry(part: part, attempt: attempt, wait: wait, cause: cause.code, message: cause.message))]
  }
}

extension UploadMachine {
  /// What the object is doing.
  func activity(_ retries: Retries) -> UploadActivity {
    if parts.underWay.isEmpty, let next = retries.next { return .waitingToRetry(why: next.why, until: next.until) }
    switch state {
    case .idle, .creating, .ready: return .starting
    case .reading, .confirming: return .reading
    case .looking:
      if case .ending = lookup.state { return .cleaningUp }
      return parts.comparison.underWay.isEmpty ? .looking : .comparing
    case .sending where parts.underWay.isEmpty && !parts.comparison.underWay.isEmpty: return .comparing
    case .sending where parts.underWay.isEmpty && parts.stream.isReading: return .reading
    case .sending: return retries.activity(.sending)
    case .publishing(let completion):
      guard case .requesting = completion.state else { return .checking }
      return completion.isPut ? retries.activity(.sending) : .assembling
    case .cleaning: return .cleaningUp
    case .stopping: return .stopping
    case .checking, .gathering, .done: return .checking
    }
  }
}
