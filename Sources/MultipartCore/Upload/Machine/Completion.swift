import MultipartBasics

/// From the last part to the proof: complete or PutObject, and what follows if their answers say too little.
///
/// After a lost answer the store is first asked about the upload: while it exists, complete has not run, whatever is at
/// the key. Only if it is gone does a HEAD decide, and only for an object that this run can have created.
struct Completion: Sendable {
  typealias Scheduler = UploadMachine.Scheduler

  enum State: Sendable {
    /// The request that creates the object was sent, or is waiting for its next try. It is in doubt if an answer was
    /// lost and the object may exist.
    case requesting(attempt: Int, isInDoubt: Bool)
    /// Asks whether the upload still exists. If it does, the failure counts.
    case asking(Failure, attempt: Int)
    case heading(Look, attempt: Int)
    /// The object is proven; its requested settings are checked.
    case inspecting(evidence: String, attempt: Int)
    case over
  }

  /// Why the object is checked.
  enum Look: Sendable {
    /// The store reported success without proof. `misses` is the number of checks that have not shown the object.
    case confirms(misses: Int)
    /// An answer was lost: only an object that this run has created is a success; otherwise the failure counts.
    /// `isGone`: the upload is known to be gone.
    case decides(Failure?, isGone: Bool)
    /// The store has dropped the upload, perhaps because of this very object. Otherwise a new upload begins, for the
    /// given reason.
    case beforeAnew(Wording, isGone: Bool)
    /// The recorded upload is gone, or being completed: an earlier run may have completed it.
    case recovers
  }

  /// What may be done instead of failing.
  struct Ways: Sendable {
    var mayBeginAnew = false
    /// The upload has parts of an earlier run, which may have completed it.
    var hasEarlierParts = false
    /// If the store has lost or replaced a part, all of them are sent again, once.
    var maySendAllAgain = false
    /// Other runs may fill and complete the upload too.
    var isShared = false
    /// Compares a HEAD even if the answer to complete was already proof.
    var alwaysVerifies = false
  }

  enum End: Sendable {
    /// `mayBeLeft`: the upload is not known to be gone.
    case completed(evidence: String, mayBeLeft: Bool)
    case failed(Failure)
    /// The object exists but differs: nothing is left to abort.
    case spoiled(Failure)
    /// The store reported success, but does not show the object.
    case unshown(Failure)
    case anew(Wording)
    case missesPart
    case recovered(Judgement)
    /// The object could not be read, so nothing shows whether an earlier run completed the upload.
    case unrecovered(Failure)
    case inspected(evidence: String)
    /// The object exists without the requested settings.
    case lost(Failure)
    /// The object's requested settings could not be read.
    case unconfirmed(Failure)
  }

  enum Step: Sendable {
    case go([UploadMachine.Action])
    case end(End)
    /// An event that nothing was waiting for.
    case misfit
  }

  private enum Subject: Sendable { case parts, whole }

  private(set) var state: State
  var ways = Ways()
  private let subject: Subject
  private let object: Int
  private var interruption: Failure?
  /// No byte moved on the connection of the last try.
  private var wantsFreshConnection = false

  private init(_ subject: Subject, of object: Int, _ state: State) {
    self.subject = subject
    self.object = object
    self.state = state
  }

  /// Whether the store has reported the object as created.
  var isReported: Bool {
    switch state {
    case .heading(.confirms, _), .inspecting: true
    default: false
    }
  }

  // MARK: - Beginning

  static func complete(of object: Int, _ ways: Ways) -> Completion {
    var completion = Completion(.parts, of: object, .requesting(attempt: 1, isInDoubt: false))
    completion.ways = ways
    return completion
  }

  static func put(of object: Int, alwaysVerifies: Bool) -> Completion {
    var completion = Completion(.whole, of: object, .requesting(attempt: 1, isInDoubt: false))
    completion.ways.alwaysVerifies = alwaysVerifies
    return completion
  }

  static func recover(of object: Int) -> Completion {
    Completion(.parts, of: object, .heading(.recovers, attempt: 1))
  }

  static func inspect(_ evidence: String, of object: Int) -> Completion {
    Completion(.whole, of: object, .inspecting(evidence: evidence, attempt: 1))
  }

  /// Sends the object in one request again, with another checksum.
  mutating func putAgain() {
    guard case .requesting(_, let isInDoubt) = state else { return }
    state = .requesting(attempt: 1, isInDoubt: isInDoubt)
  }

  var isPut: Bool {
    if case .requesting = state { subject == .whole } else { false }
  }

  var isInspecting: Bool {
    if case .inspecting = state { true } else { false }
  }

  /// The request that was sent, or is to be sent again.
  func request(form: ChecksumForm) -> UploadMachine.Action? {
    switch state {
    case .requesting(let attempt, _):
      subject == .parts
        ? .complete(attempt: attempt) : .put(form: form, attempt: attempt, freshConnection: wantsFreshConnection)
    case .asking: .listAfterLoss
    case .heading(let look, _): Self.head(look)
    case .inspecting: .inspect
    case .over: nil
    }
  }

  private static func head(_ look: Look) -> UploadMachine.Action {
    if case .confirms = look { return .head(mustBeOurs: false) }
    return .head(mustBeOurs: true)
  }

  // MARK: - The request

  /// The store reported success; what it says about the object decides.
  mutating func answered(_ judgement: Judgement) -> Step {
    guard case .requesting = state else { return .misfit }
    switch judgement {
    case .proven(let evidence):
      return ways.alwaysVerifies ? look(.confirms(misses: 0)) : end(.completed(evidence: evidence, mayBeLeft: false))
    case .undecided, .absent, .notOurs: return look(.confirms(misses: 0))
    case .contradicted(let message): return end(.spoiled(Failure(.dataMismatch, message)))
    }
  }

  mutating func requestFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> Step {
    guard case .requesting(let attempt, var isInDoubt) = state else { return .misfit }
    if let other = otherWay(failure, isInDoubt: isInDoubt) { return other }
    if failure.mayHaveWorked { isInDoubt = true }
    if failure.code == .stalled { wantsFreshConnection = true }
    if let interruption { return stop(interruption, isInDoubt: isInDoubt) }
    state = .requesting(attempt: attempt + 1, isInDoubt: isInDoubt)
    if let retry = scheduler.retry(waiter, after: failure, attempt: attempt) { return .go(retry.notices) }
    return stop(failure, isInDoubt: isInDoubt)
  }

  /// An object in a single request keeps its slot among the transfers while it waits.
  private var waiter: Waiter {
    isPut ? .transfer(Slot(object: object, part: 0)) : .step(object: object)
  }

  /// What follows if another try of the same request makes no sense.
  private mutating func otherWay(_ failure: Failure, isInDoubt: Bool) -> Step? {
    guard subject == .parts else {
      return isInDoubt && failure.code == .precondition ? look(.decides(failure, isGone: true)) : nil
    }
    let mayBeginAnew = ways.mayBeginAnew && interruption == nil
    // S3 has dropped this upload, and asks the client to start over. After a lost answer the other writer may have been
    // this run.
    if failure.isConflict, interruption == nil {
      guard mayBeginAnew else { return isInDoubt ? ask(failure) : end(.failed(failure)) }
      let reason: Wording = "another write to the same key was in progress"
      return isInDoubt ? look(.beforeAnew(reason, isGone: false)) : end(.anew(reason))
    }
    if failure.code == .uploadGone {
      // The upload may be gone because it was completed: by the try whose answer was lost, or by an earlier run.
      if isInDoubt { return look(.decides(nil, isGone: true)) }
      if ways.isShared { return look(.decides(failure, isGone: true)) }
      if mayBeginAnew {
        let reason: Wording = "the store no longer has the upload"
        return ways.hasEarlierParts ? look(.beforeAnew(reason, isGone: true)) : end(.anew(reason))
      }
    }
    // The condition may fail, or the request may no longer make sense, because the object is already ours.
    if isInDoubt, failure.code == .precondition || failure.code == .refused { return ask(failure) }
    return missesPart(failure) ? end(.missesPart) : nil
  }

  private func missesPart(_ failure: Failure) -> Bool {
    failure.s3Code == "InvalidPart" && !failure.isSettled && ways.maySendAllAgain
      && (ways.mayBeginAnew || ways.isShared)
      && interruption == nil
  }

  private mutating func stop(_ failure: Failure, isInDoubt: Bool) -> Step {
    guard isInDoubt else { return end(.failed(failure)) }
    return subject == .parts ? ask(failure) : look(.decides(failure, isGone: true))
  }

  // MARK: - Does the upload still exist?

  private mutating func ask(_ failure: Failure) -> Step {
    state = .asking(failure, attempt: 1)
    return .go([.listAfterLoss])
  }

  /// While the upload exists, complete has not run, and an object with the same bytes is a different one.
  mutating func asked(isThere: Bool) -> Step {
    guard case .asking(let failure, _) = state else { return .misfit }
    if isThere { return end(missesPart(failure) ? .missesPart : .failed(failure)) }
    // If the upload is gone, a refusal says nothing.
    return look(.decides(failure.code == .refused ? nil : failure, isGone: true))
  }

  mutating func askFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> Step {
    guard case .asking(let known, let attempt) = state else { return .misfit }
    if failure.code == .uploadGone { return asked(isThere: false) }
    state = .asking(known, attempt: attempt + 1)
    if interruption == nil, known.code != .interrupted,
      let retry = scheduler.retry(waiter, after: failure, attempt: attempt)
    {
      return .go(retry.notices)
    }
    return look(.decides(known, isGone: false))
  }

  // MARK: - HEAD decides

  private mutating func look(_ why: Look) -> Step {
    state = .heading(why, attempt: 1)
    return .go([Self.head(why)])
  }

  mutating func headed(_ judgement: Judgement, _ scheduler: inout Scheduler) -> Step {
    guard case .heading(let look, _) = state else { return .misfit }
    switch look {
    case .confirms(let misses): return confirmed(judgement, misses, &scheduler)
    case .decides(let failure, let isGone): return decided(judgement, failure ?? interruption, isGone: isGone)
    case .beforeAnew(let reason, let isGone):
      if case .proven = judgement { return decided(judgement, nil, isGone: isGone) }
      return end(interruption.map { .failed($0) } ?? .anew(reason))
    case .recovers:
      if case .proven = judgement { return end(.recovered(judgement)) }
      return end(interruption.map { .failed($0) } ?? .recovered(judgement))
    }
  }

  /// The size alone is enough if the store itself reported success.
  private mutating func confirmed(_ judgement: Judgement, _ misses: Int, _ scheduler: inout Scheduler) -> Step {
    let failure: Failure
    switch judgement {
    case .proven(let evidence), .undecided(let evidence):
      return end(.completed(evidence: evidence, mayBeLeft: false))
    case .contradicted(let message): failure = Failure(.dataMismatch, message)
    case .notOurs(let message): failure = Failure(.server, "the store reported the object as complete, but " + message)
    case .absent: failure = Failure(.server, "the store reported the object as complete, but does not show it")
    }
    // Some stores do not show a new object at once: it is checked again after 0.25, 0.5, 1, 2 and 4 s more.
    if interruption == nil, misses + 1 < Self.mostLooks {
      state = .heading(.confirms(misses: misses + 1), attempt: 1)
      return .go(
        scheduler.wait(waiter, .milliseconds(250 << misses), after: failure, attempt: misses + 1).notices)
    }
    if case .contradicted = judgement { return end(.spoiled(failure)) }
    return end(.unshown(interruption ?? failure))
  }

  private static let mostLooks = 6

  private mutating func decided(_ judgement: Judgement, _ known: Failure?, isGone: Bool) -> Step {
    if case .proven(let evidence) = judgement { return end(.completed(evidence: evidence, mayBeLeft: !isGone)) }
    if let known { return end(.failed(known)) }
    let lost = "the store's reply to the request that creates the object was lost, and "
    switch judgement {
    case .proven, .undecided:
      return end(.failed(Failure(.server, lost + "the object that it shows is not proven to be this one")))
    case .absent: return end(.failed(Failure(.server, lost + "the object does not exist")))
    case .notOurs(let message), .contradicted(let message): return end(.failed(Failure(.server, lost + message)))
    }
  }

  mutating func headFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> Step {
    guard case .heading(let look, let attempt) = state else { return .misfit }
    var known: Failure?
    if case .decides(let failure, _) = look { known = failure }
    state = .heading(look, attempt: attempt + 1)
    if interruption == nil, known?.code != .interrupted,
      let retry = scheduler.retry(waiter, after: failure, attempt: attempt)
    {
      return .go(retry.notices)
    }
    switch look {
    case .recovers where interruption == nil: return end(.unrecovered(failure))
    case .confirms: return end(.unshown(interruption ?? failure))
    default: return end(.failed(known ?? interruption ?? failure))
    }
  }

  // MARK: - Requested settings

  mutating func inspected(_ inspection: UploadMachine.Inspection) -> Step {
    guard case .inspecting(let evidence, _) = state else { return .misfit }
    switch inspection {
    case .kept(let unconfirmed, _):
      let open = unconfirmed.isEmpty ? "" : "; not confirmed: " + unconfirmed.joined(separator: ", ")
      return end(.inspected(evidence: evidence + open))
    case .lost(let failure): return end(.lost(failure))
    }
  }

  mutating func inspectFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> Step {
    guard case .inspecting(let evidence, let attempt) = state else { return .misfit }
    if let interruption { return unconfirmed(interruption) }
    state = .inspecting(evidence: evidence, attempt: attempt + 1)
    return scheduler.retry(waiter, after: failure, attempt: attempt).map { .go($0.notices) } ?? unconfirmed(failure)
  }

  private mutating func unconfirmed(_ failure: Failure) -> Step {
    var failure = failure
    failure.message += "; the object exists and is proven, but its requested settings are not confirmed"
    return end(.unconfirmed(failure))
  }

  // MARK: - Interruption

  /// Awaits the pending answer, because it may be a success, but makes no further try. A request that sends the whole
  /// object is stopped, because its body may take minutes.
  mutating func interrupted(_ failure: Failure, isWaiting: Bool) -> Step {
    guard interruption == nil else { return .go([]) }
    interruption = failure
    guard isWaiting else { return .go(isPut ? [.cancelTransfers] : []) }
    switch state {
    case .requesting(_, let isInDoubt): return stop(failure, isInDoubt: isInDoubt)
    case .asking(let known, _): return look(.decides(known, isGone: false))
    case .heading(.confirms, _): return end(.unshown(failure))
    case .heading(.decides(let known, _), _): return end(.failed(known ?? failure))
    case .heading: return end(.failed(failure))
    case .inspecting: return unconfirmed(failure)
    case .over: return .misfit
    }
  }

  private mutating func end(_ end: End) -> Step {
    state = .over
    return .end(end)
  }
}
