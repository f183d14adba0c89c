/// From the last part to the proof: complete or PutObject, and what is found out when their answers say too little.
///
/// After a lost answer the store is asked about the upload first: while that is there, complete has not run, whatever
/// is at the key. Only when it is gone a HEAD decides, and only for an object that this run can have made.
extension UploadMachine {
  mutating func complete() -> [Action] {
    phase = .completing
    phaseAttempts = 1
    publication = .unmade
    return [.complete(attempt: 1)]
  }

  /// The store said yes; what it says of the object decides.
  mutating func answered(_ judgement: Judgement) -> [Action] {
    guard phase == .completing || phase == .putting else { return stopIfQuiet() }
    switch judgement {
    case .proven(let evidence):
      return settings.alwaysVerifies ? look(.confirms(misses: 0)) : finish(evidence)
    case .undecided, .absent, .notOurs:
      return look(.confirms(misses: 0))
    case .contradicted(let message):
      // The object is there already: nothing to abort, and no success.
      uploadID = nil
      return fail(Failure(.dataMismatch, message))
    }
  }

  mutating func completeFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .completing else { return [] }
    if cause != nil { return leave() }
    // Another writer was quicker, and S3 has given this upload up: its own word is to begin anew. After a lost answer
    // that writer may have been this run.
    if failure.s3Code == "ConditionalRequestConflict", mayBeginAnew {
      let reason: Wording = "another writer was at the object"
      return publication == .maybe ? look(.beforeAnew(reason, isGone: false)) : beginAnew(reason)
    }
    if failure.code == .uploadGone {
      // It may be gone because it was completed: by the try whose answer was lost, or by an earlier run.
      if publication == .maybe { return look(.decides(isGone: true)) }
      if mayBeginAnew {
        let reason: Wording = "the store no longer knows the upload"
        return resume.kept > 0 ? look(.beforeAnew(reason, isGone: true)) : beginAnew(reason)
      }
    }
    // The condition may be unmet, or the request make no sense any more, because the object is ours.
    if publication == .maybe, failure.code == .precondition || failure.code == .refused { return ask(failure) }
    if let anew = withoutInvalidPart(failure) { return anew }
    if Self.mayHaveWorked(failure) { publication = .maybe }
    if let interruption { return publication == .maybe ? ask(interruption) : fail(interruption) }
    phaseAttempts += 1
    if let retry = retry(nil, failure, attempt: phaseAttempts - 1, now) { return retry }
    return publication == .maybe ? ask(failure) : fail(failure)
  }

  private var mayBeginAnew: Bool {
    restarts < 3 && canStartAnew && !settings.keepsUpload && interruption == nil
  }

  private mutating func beginAnew(_ reason: Wording) -> [Action] {
    cause = nil
    return [.say(.startsAnew(message: reason))] + startAnew()
  }

  /// The store has lost a part that it had taken, or has another in its place: once, all of them are sent again.
  private mutating func withoutInvalidPart(_ failure: Failure) -> [Action]? {
    guard failure.s3Code == "InvalidPart", !hasMetInvalidPart, mayBeginAnew else { return nil }
    hasMetInvalidPart = true
    let reason: Wording = "the store misses a part that it had taken"
    guard case .foreign? = resume.current?.use, let id = uploadID else { return beginAnew(reason) }
    // Somebody else began this upload, and may still be sending to it.
    cause = nil
    restarts += 1
    resetParts()
    return [.say(.startsAnew(message: reason)), .say(.leftAlone(uploadID: id))] + begin()
  }

  mutating func putFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .putting else { return stopIfQuiet() }
    inFlight = []
    if cause != nil { return fail(failure) }
    if let steps = stepDown(failure) { return [steps] + put() }
    if publication == .maybe, failure.code == .precondition { return decide(failure) }
    if Self.mayHaveWorked(failure) { publication = .maybe }
    if failure.code == .stalled { fresh.insert(0) }
    phaseAttempts += 1
    // Another write to the key was under way, and S3 has decided nothing: it asks for the same request again.
    var passing = failure
    if failure.s3Code == "ConditionalRequestConflict" { passing.code = .throttled }
    if let retry = retry(nil, passing, attempt: phaseAttempts - 1, now) { return retry }
    // It may be the object all the same, as after complete.
    return publication == .maybe ? decide(failure) : fail(failure)
  }

  /// A refusal says that nothing was done: every 503, 429, and whatever else the store knows to be the request's fault.
  /// An error of the store's or of a proxy's own, and an answer that is none, say nothing.
  package static func mayHaveWorked(_ failure: Failure) -> Bool {
    guard [.network, .stalled, .server].contains(failure.code) else { return false }
    guard let status = failure.status else { return true }
    return (200..<300).contains(status) || (status >= 500 && status != 503)
  }

  // MARK: - Is the upload still there?

  mutating func ask(_ failure: Failure) -> [Action] {
    cause = failure
    phase = .asking
    phaseAttempts = 1
    return [.listAfterLoss]
  }

  /// While the upload is there complete has not run, and an object with the same bytes is another one.
  mutating func asked(stillThere: Bool) -> [Action] {
    guard let cause else { return leave() }
    guard stillThere else {
      // Of an upload that is gone a refusal says nothing.
      if cause.code == .refused { self.cause = nil }
      return look(.decides(isGone: true))
    }
    publication = .unmade
    return withoutInvalidPart(cause) ?? leave()
  }

  mutating func askFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    if failure.code == .uploadGone { return asked(stillThere: false) }
    phaseAttempts += 1
    if cause?.code != .interrupted, let retry = retry(nil, failure, attempt: phaseAttempts - 1, now) { return retry }
    return look(.decides(isGone: false))
  }

  // MARK: - HEAD decides

  mutating func look(_ why: Look) -> [Action] {
    phase = .heading(why)
    phaseAttempts = 1
    return [head(why)]
  }

  func head(_ why: Look) -> Action {
    if case .confirms = why { return .head(mustBeOurs: false) }
    return .head(mustBeOurs: true)
  }

  private mutating func decide(_ failure: Failure) -> [Action] {
    cause = failure
    return look(.decides(isGone: true))
  }

  mutating func headed(_ judgement: Judgement) -> [Action] {
    guard case .heading(let why) = phase else { return [] }
    switch why {
    case .confirms(let misses): return confirmed(judgement, misses)
    case .decides(let isGone): return decided(judgement, isGone: isGone, anew: nil)
    case .beforeAnew(let reason, let isGone): return decided(judgement, isGone: isGone, anew: reason)
    case .recovers:
      if case .proven = judgement { return recovered(judgement) }
      if let interruption { return fail(interruption) }
      return recovered(judgement)
    }
  }

  /// Size alone is enough where the store itself said that it is done.
  private mutating func confirmed(_ judgement: Judgement, _ misses: Int) -> [Action] {
    let failure: Failure
    switch judgement {
    case .proven(let evidence), .undecided(let evidence): return finish(evidence)
    case .contradicted(let message): failure = Failure(.dataMismatch, message)
    case .notOurs(let message): failure = Failure(.server, "the store said that the object is made, but " + message)
    case .absent: failure = Failure(.server, "the store said that the object is made, but does not show it")
    }
    if let again = lookAgain(failure, misses) { return again }
    guard case .contradicted = judgement else { return failUnshown(interruption ?? failure) }
    uploadID = nil
    return fail(failure)
  }

  private static let mostLooks = 6

  /// Not every store shows at once what it has made: it is looked at after 0.25, 0.5, 1, 2 and 4 s more.
  private mutating func lookAgain(_ failure: Failure, _ misses: Int) -> [Action]? {
    guard interruption == nil, misses + 1 < Self.mostLooks else { return nil }
    phase = .heading(.confirms(misses: misses + 1))
    phaseAttempts = 1
    retries += 1
    let wait = Duration.milliseconds(250 << misses)
    waiting.append(Waiting(part: nil, until: now + wait))
    return [
      .say(.retry(part: nil, attempt: misses + 2, cause: failure.code, message: failure.message, wait: wait)),
      .wait(until: now + wait),
    ]
  }

  /// The store said yes, and what it made cannot be seen. A record is kept: the next run looks again. Without one the
  /// upload is named. It is not aborted: a store that is still at it could lose the object's data by that.
  mutating func failUnshown(_ failure: Failure) -> [Action] {
    waiting = []
    if cause == nil { cause = failure }
    phase = .done
    guard let id = uploadID else { return [.finish(.failed(failure.code))] }
    guard !keepsForLater else { return [.finish(.failed(failure.code, isKept: true))] }
    abandoned.append(id)
    return [.say(.leftBehind(uploadID: id)), .finish(.failed(failure.code))]
  }

  private mutating func decided(_ judgement: Judgement, isGone: Bool, anew: Wording?) -> [Action] {
    if case .proven(let evidence) = judgement {
      cause = nil
      return isGone ? finish(evidence) : endUpload(thenFinish: evidence)
    }
    if let anew, interruption == nil { return beginAnew(anew) }
    if let known = cause ?? interruption { return fail(known) }
    let lost = "an answer was lost that may have said that the object is made, and "
    switch judgement {
    case .proven, .undecided: return fail(Failure(.server, lost + "what the store says of it is no proof"))
    case .absent: return fail(Failure(.server, lost + "the object is not there"))
    case .notOurs(let message), .contradicted(let message): return fail(Failure(.server, lost + message))
    }
  }

  mutating func headFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard case .heading(let why) = phase else { return [] }
    phaseAttempts += 1
    if interruption == nil, cause?.code != .interrupted,
      let retry = retry(nil, failure, attempt: phaseAttempts - 1, now)
    {
      return retry
    }
    if why == .recovers, interruption == nil { return recovered(.undecided(weak: "")) }
    if case .confirms = why { return failUnshown(interruption ?? failure) }
    return fail(cause ?? interruption ?? failure)
  }
}
