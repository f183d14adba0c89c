/// From the last part to the proof: complete or PutObject, and what is found out when their answers say too little.
///
/// After a lost answer the store is asked about the upload first: while that is there, complete has not run, whatever
/// is at the key. Only when it is gone a HEAD decides, and only for an object that this run can have made.
package struct Completion: Sendable {
  enum State: Sendable {
    /// The request that makes the object is out, or waits for its next try. In doubt: an answer was lost, and the object
    /// may be there.
    case requesting(attempt: Int, isInDoubt: Bool)
    /// Is the upload still there? The failure decides if it is.
    case asking(Failure, attempt: Int)
    case heading(Look, attempt: Int)
    /// The object is proven; whether it has what was asked for it is looked at.
    case inspecting(evidence: String, attempt: Int)
    case over
  }

  /// Why the object is looked at.
  enum Look: Sendable {
    /// The store said that it is made, and showed no proof of it. How often it was looked at and not seen.
    case confirms(misses: Int)
    /// An answer was lost: only an object that this run has made is a success. What fails if it is none, and whether the
    /// upload is known to be gone.
    case decides(Failure?, isGone: Bool)
    /// The store has given the upload up, perhaps for the sake of this very object. Else a new upload begins, and this
    /// is why.
    case beforeAnew(Wording, isGone: Bool)
    /// The recorded upload is gone, or on its way: an earlier run may have completed it.
    case recovers
  }

  /// What may be done instead of failing.
  struct Ways: Sendable {
    var mayBeginAnew = false
    /// Parts of an earlier run are in it: that run may have completed it.
    var hasEarlierParts = false
    /// A part that the store has lost, or has another in its place: once, all of them are sent again.
    var maySendAllAgain = false
    /// A HEAD is compared even when complete's answer was proof already.
    var alwaysVerifies = false
  }

  enum End: Sendable {
    /// The upload may still be there if it is not known to be gone.
    case completed(evidence: String, mayBeLeft: Bool)
    case failed(Failure)
    /// The object is there and is another one: nothing is left to abort.
    case spoiled(Failure)
    /// The store said yes, and what it made cannot be seen.
    case unshown(Failure)
    case anew(Wording)
    case missesPart
    case recovered(Judgement)
    case inspected(evidence: String)
    /// The object is there without what was asked for it.
    case lost(Failure)
    /// Whether it has what was asked for it could not be seen.
    case unconfirmed(Failure)
  }

  enum Step: Sendable {
    case go([UploadMachine.Action])
    case end(End)
    /// Nothing that is waited for.
    case misfit
  }

  private enum Subject: Sendable { case parts, whole }

  private(set) var state: State
  var ways = Ways()
  private let subject: Subject
  private let object: Int
  private var interruption: Failure?
  /// On the connection of the last try nothing moved.
  private var wantsFreshConnection = false

  private init(_ subject: Subject, of object: Int, _ state: State) {
    self.subject = subject
    self.object = object
    self.state = state
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

  /// The object in one request once more, with another checksum.
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

  /// What is out, or is to go out again.
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

  /// The store said yes; what it says of the object decides.
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
    if Self.mayHaveWorked(failure) { isInDoubt = true }
    if failure.code == .stalled { wantsFreshConnection = true }
    if let interruption { return stop(interruption, isInDoubt: isInDoubt) }
    state = .requesting(attempt: attempt + 1, isInDoubt: isInDoubt)
    var passing = failure
    // Another write to the key was under way, and S3 has decided nothing: it asks for the same request again.
    if subject == .whole, failure.s3Code == "ConditionalRequestConflict" { passing.code = .throttled }
    if let retry = scheduler.retry(waiter, after: passing, attempt: attempt) { return .go(retry) }
    return stop(failure, isInDoubt: isInDoubt)
  }

  /// An object in one request keeps its place among the transfers while it waits.
  private var waiter: Scheduler.Waiter {
    isPut ? .transfer(Slot(object: object, part: 0)) : .step(object: object)
  }

  /// Where another try of the same request makes no sense.
  private mutating func otherWay(_ failure: Failure, isInDoubt: Bool) -> Step? {
    guard subject == .parts else {
      return isInDoubt && failure.code == .precondition ? look(.decides(failure, isGone: true)) : nil
    }
    let mayBeginAnew = ways.mayBeginAnew && interruption == nil
    // Another writer was quicker, and S3 has given this upload up: its own word is to begin anew. After a lost answer
    // that writer may have been this run.
    if failure.s3Code == "ConditionalRequestConflict", mayBeginAnew {
      let reason: Wording = "another writer was at the object"
      return isInDoubt ? look(.beforeAnew(reason, isGone: false)) : end(.anew(reason))
    }
    if failure.code == .uploadGone {
      // It may be gone because it was completed: by the try whose answer was lost, or by an earlier run.
      if isInDoubt { return look(.decides(nil, isGone: true)) }
      if mayBeginAnew {
        let reason: Wording = "the store no longer knows the upload"
        return ways.hasEarlierParts ? look(.beforeAnew(reason, isGone: true)) : end(.anew(reason))
      }
    }
    // The condition may be unmet, or the request make no sense any more, because the object is ours.
    if isInDoubt, failure.code == .precondition || failure.code == .refused { return ask(failure) }
    return missesPart(failure) ? end(.missesPart) : nil
  }

  private func missesPart(_ failure: Failure) -> Bool {
    failure.s3Code == "InvalidPart" && ways.maySendAllAgain && ways.mayBeginAnew && interruption == nil
  }

  private mutating func stop(_ failure: Failure, isInDoubt: Bool) -> Step {
    guard isInDoubt else { return end(.failed(failure)) }
    return subject == .parts ? ask(failure) : look(.decides(failure, isGone: true))
  }

  /// A refusal says that nothing was done: every 503, 429, and whatever else the store knows to be the request's fault.
  /// An error of the store's or of a proxy's own, and an answer that is none, say nothing.
  package static func mayHaveWorked(_ failure: Failure) -> Bool {
    guard [.network, .stalled, .server].contains(failure.code) else { return false }
    guard let status = failure.status else { return true }
    return (200..<300).contains(status) || (status >= 500 && status != 503)
  }

  // MARK: - Is the upload still there?

  private mutating func ask(_ failure: Failure) -> Step {
    state = .asking(failure, attempt: 1)
    return .go([.listAfterLoss])
  }

  /// While the upload is there complete has not run, and an object with the same bytes is another one.
  mutating func asked(isThere: Bool) -> Step {
    guard case .asking(let failure, _) = state else { return .misfit }
    if isThere { return end(missesPart(failure) ? .missesPart : .failed(failure)) }
    // Of an upload that is gone a refusal says nothing.
    return look(.decides(failure.code == .refused ? nil : failure, isGone: true))
  }

  mutating func askFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> Step {
    guard case .asking(let known, let attempt) = state else { return .misfit }
    if failure.code == .uploadGone { return asked(isThere: false) }
    state = .asking(known, attempt: attempt + 1)
    if interruption == nil, known.code != .interrupted,
      let retry = scheduler.retry(waiter, after: failure, attempt: attempt)
    {
      return .go(retry)
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

  /// Size alone is enough where the store itself said that it is done.
  private mutating func confirmed(_ judgement: Judgement, _ misses: Int, _ scheduler: inout Scheduler) -> Step {
    let failure: Failure
    switch judgement {
    case .proven(let evidence), .undecided(let evidence):
      return end(.completed(evidence: evidence, mayBeLeft: false))
    case .contradicted(let message): failure = Failure(.dataMismatch, message)
    case .notOurs(let message): failure = Failure(.server, "the store said that the object is made, but " + message)
    case .absent: failure = Failure(.server, "the store said that the object is made, but does not show it")
    }
    // Not every store shows at once what it has made: it is looked at after 0.25, 0.5, 1, 2 and 4 s more.
    if interruption == nil, misses + 1 < Self.mostLooks {
      state = .heading(.confirms(misses: misses + 1), attempt: 1)
      return .go(scheduler.wait(waiter, .milliseconds(250 << misses), after: failure, attempt: misses + 1))
    }
    if case .contradicted = judgement { return end(.spoiled(failure)) }
    return end(.unshown(interruption ?? failure))
  }

  private static let mostLooks = 6

  private mutating func decided(_ judgement: Judgement, _ known: Failure?, isGone: Bool) -> Step {
    if case .proven(let evidence) = judgement { return end(.completed(evidence: evidence, mayBeLeft: !isGone)) }
    if let known { return end(.failed(known)) }
    let lost = "an answer was lost that may have said that the object is made, and "
    switch judgement {
    case .proven, .undecided: return end(.failed(Failure(.server, lost + "what the store says of it is no proof")))
    case .absent: return end(.failed(Failure(.server, lost + "the object is not there")))
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
      return .go(retry)
    }
    switch look {
    case .recovers where interruption == nil: return end(.recovered(.undecided(weak: "")))
    case .confirms: return end(.unshown(interruption ?? failure))
    default: return end(.failed(known ?? interruption ?? failure))
    }
  }

  // MARK: - Whether it has what was asked for

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
    return scheduler.retry(waiter, after: failure, attempt: attempt).map { .go($0) } ?? unconfirmed(failure)
  }

  private mutating func unconfirmed(_ failure: Failure) -> Step {
    var failure = failure
    failure.message += "; the object is there and proven, but not that it has what was asked for it"
    return end(.unconfirmed(failure))
  }

  // MARK: - Interruption

  /// The answer to what is out is waited for, because it may be yes; no further try is made. A request that makes the
  /// object in one is stopped, for its body may take minutes.
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
