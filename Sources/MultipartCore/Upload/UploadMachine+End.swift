extension UploadMachine {
  // MARK: - Completing

  mutating func complete() -> [Action] {
    phase = .completing
    phaseAttempts = 1
    answerWasLost = false
    wasToldGone = false
    return [.complete(attempt: 1)]
  }

  /// The store said yes; what it says of the object decides.
  mutating func answered(_ judgement: Judgement) -> [Action] {
    guard phase == .completing || phase == .putting else { return stopIfQuiet() }
    switch judgement {
    case .proven(let evidence):
      guard settings.alwaysVerifies else { return finish(evidence) }
      weakEvidence = evidence
      return head()
    case .undecided(let weak):
      weakEvidence = weak
      return head()
    case .contradicted(let message):
      // The object is there already: nothing to abort, and no success.
      uploadID = nil
      return fail(Failure(.dataMismatch, message))
    }
  }

  mutating func completeFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .completing else { return [] }
    if cause != nil { return leave() }
    wasToldGone = failure.code == .uploadGone
    // Another writer was quicker, and S3 has given this upload up: its own word is to begin anew. After a lost answer
    // that writer may have been this run.
    if failure.s3Code == "ConditionalRequestConflict", restarts < 3, canStartAnew, !settings.keepsUpload,
      interruption == nil
    {
      doubt = "another writer was at the object"
      return answerWasLost ? head() : afterDoubt()
    }
    // After a lost answer the upload may be gone because it was completed, or the condition unmet because the object
    // is ours.
    if answerWasLost, failure.code == .uploadGone || failure.code == .precondition || failure.code == .refused {
      cause = failure.code == .precondition ? failure : nil
      return head()
    }
    if failure.code == .uploadGone, restarts < 3, canStartAnew, !settings.keepsUpload, interruption == nil {
      doubt = "the store no longer knows the upload"
      return resume.kept > 0 ? head() : afterDoubt()
    }
    if mayHaveWorked(failure.code) { answerWasLost = true }
    if let interruption { return answerWasLost ? headAfter(interruption) : fail(interruption) }
    phaseAttempts += 1
    if let retry = retry(nil, failure, attempt: phaseAttempts - 1, now) { return retry }
    return answerWasLost ? headAfter(failure) : fail(failure)
  }

  private mutating func afterDoubt() -> [Action] {
    let message = doubt ?? ""
    doubt = nil
    return [.say(.startsAnew(message: message))] + startAnew()
  }

  mutating func putFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .putting else { return stopIfQuiet() }
    inFlight = []
    if cause != nil { return fail(failure) }
    if let steps = stepDown(failure) { return [steps] + put() }
    if answerWasLost, failure.code == .precondition { return headAfter(failure) }
    if mayHaveWorked(failure.code) { answerWasLost = true }
    if failure.code == .stalled { fresh.insert(0) }
    phaseAttempts += 1
    if let retry = retry(nil, failure, attempt: phaseAttempts - 1, now) { return retry }
    // It may be the object all the same, as after complete.
    return answerWasLost ? headAfter(failure) : fail(failure)
  }

  private func mayHaveWorked(_ code: Failure.Code) -> Bool {
    switch code {
    case .network, .stalled, .server, .throttled: true
    default: false
    }
  }

  // MARK: - HEAD decides

  private mutating func head() -> [Action] {
    phase = .heading
    phaseAttempts = 1
    return [.head]
  }

  private mutating func headAfter(_ failure: Failure) -> [Action] {
    cause = failure
    return head()
  }

  mutating func headed(_ judgement: Judgement) -> [Action] {
    guard phase == .heading else { return [] }
    if resume.isRecovering, cause == nil, interruption == nil { return recovered(judgement) }
    switch judgement {
    case .proven(let evidence):
      cause = nil
      // Without the store's yes the object can be that of an earlier run, and the upload still be there.
      return weakEvidence == nil && !wasToldGone ? endUpload(thenFinish: evidence) : finish(evidence)
    case _ where doubt != nil && interruption == nil: return afterDoubt()
    case .undecided(let weak):
      // Size alone is enough where the store itself said that it is done, never where its answer was lost.
      if weakEvidence != nil { return finish(weak) }
      return fail(
        cause ?? interruption
          ?? Failure(.server, "the answer to complete was lost, and what the store says of the object is no proof"))
    case .contradicted(let message):
      guard weakEvidence != nil else { return fail(cause ?? interruption ?? Failure(.server, message)) }
      uploadID = nil
      return fail(cause ?? Failure(.dataMismatch, message))
    }
  }

  mutating func headFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .heading else { return [] }
    phaseAttempts += 1
    if interruption == nil, cause?.code != .interrupted,
      let retry = retry(nil, failure, attempt: phaseAttempts - 1, now)
    {
      return retry
    }
    if resume.isRecovering, cause == nil, interruption == nil { return recovered(.undecided(weak: "")) }
    // The store said yes and the object cannot be looked at: that is no proof, and nothing is left to abort.
    if weakEvidence != nil { uploadID = nil }
    return fail(cause ?? interruption ?? failure)
  }

  /// The object is proven; what may be left of the upload goes before the run ends.
  mutating func endUpload(thenFinish evidence: String) -> [Action] {
    guard uploadID != nil, !settings.keepsUpload else { return finish(evidence) }
    proof = evidence
    phase = .aborting
    phaseAttempts = 1
    return [.abort]
  }

  mutating func finish(_ evidence: String) -> [Action] {
    phase = .done
    return [.finish(.completed(evidence: evidence))]
  }

  // MARK: - Failing

  mutating func fail(_ failure: Failure) -> [Action] {
    if cause == nil { cause = failure }
    restartsAfterAbort = false
    return leave()
  }

  /// The first interruption stops what is under way; the answer to a complete that is out is still waited for, because
  /// it may be yes.
  mutating func interrupted(_ failure: Failure) -> [Action] {
    guard phase != .done, cause == nil, interruption == nil, proof == nil else { return [] }
    switch phase {
    case .completing, .heading:
      // What is out is the last try; a complete that may have worked before is looked for once.
      interruption = failure
      if waiting.isEmpty { return [] }
      waiting = []
      return phase == .completing && answerWasLost ? headAfter(failure) : fail(failure)
    case .checking, .creating, .putting, .finding, .listingParts, .abortingOld, .confirming:
      // A create that is out is waited for: cancelled, it could leave an upload that nobody knows.
      guard waiting.isEmpty else { return fail(failure) }
      cause = failure
      return phase == .putting || phase == .confirming ? [.cancelTransfers] : []
    case .stopping, .aborting, .listing:
      cause = failure
      restartsAfterAbort = false
      return []
    default: return fail(failure)
    }
  }

  /// On the way out, whether to fail or to begin anew: stop transfers, abort, see that nothing is left.
  mutating func leave() -> [Action] {
    waiting = []
    phase = .stopping
    guard isQuiet else { return [.cancelTransfers] }
    return afterStop()
  }

  mutating func stopIfQuiet() -> [Action] {
    phase == .stopping && isQuiet ? afterStop() : []
  }

  private var isQuiet: Bool { inFlight.isEmpty && resume.verifying.isEmpty && !stream.isReading }

  /// What may pass by itself, or by new credentials, leaves the upload for the next run, when that can find it.
  private var keepsForLater: Bool {
    guard !restartsAfterAbort, let cause else { return false }
    return settings.keepsUpload || (isRecorded && settings.keepsOn.contains(cause.code))
  }

  private mutating func afterStop() -> [Action] {
    guard ownUploadID != nil else { return gone(leftBehind: false) }
    guard !keepsForLater else {
      phase = .done
      return [.finish(.failed(cause?.code ?? .local, isKept: true))]
    }
    phase = .aborting
    phaseAttempts = 1
    return [.abort]
  }

  mutating func aborted() -> [Action] {
    guard phase == .aborting else { return [] }
    phase = .listing
    return [.listAfterAbort]
  }

  /// A part that was under way at the store when the abort came can appear after it, so the abort is repeated until
  /// the list says that the upload is gone.
  mutating func listed(stillThere: Bool, _ now: Duration) -> [Action] {
    guard phase == .listing else { return [] }
    guard stillThere else { return gone(leftBehind: false) }
    return abortAgain(Failure(.server, "the upload is still there after its abort"), now)
  }

  mutating func abortFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .aborting else { return [] }
    if failure.code == .uploadGone { return gone(leftBehind: false) }
    return abortAgain(failure, now)
  }

  mutating func listFailed(_ failure: Failure, _ now: Duration) -> [Action] {
    guard phase == .listing else { return [] }
    if failure.code == .uploadGone { return gone(leftBehind: false) }
    // Not allowed to list: the abort's own answer is all there is to know.
    if failure.code == .credentials { return gone(leftBehind: false) }
    return abortAgain(failure, now)
  }

  private mutating func abortAgain(_ failure: Failure, _ now: Duration) -> [Action] {
    phase = .aborting
    phaseAttempts += 1
    var patient = settings.retry
    patient.tries = min(patient.tries, 4)
    if (cause ?? interruption)?.code == .interrupted { patient.cap = .milliseconds(500) }
    guard let wait = patient.wait(after: failure, attempt: phaseAttempts - 1, dice: dice.next()) else {
      return gone(leftBehind: true)
    }
    waiting = [Waiting(part: nil, until: now + wait)]
    return [.wait(until: now + wait)]
  }

  /// The way out of an upload is at its end. What could not be shown to be gone is said, so that somebody can end it.
  private mutating func gone(leftBehind: Bool) -> [Action] {
    var actions: [Action] = []
    if leftBehind, let id = uploadID {
      abandoned.append(id)
      actions.append(.say(.leftBehind(uploadID: id)))
    }
    if restartsAfterAbort {
      restartsAfterAbort = false
      resetParts()
      return actions + begin()
    }
    if let proof { return actions + finish(proof) }
    phase = .done
    return actions + [.finish(.failed(cause?.code ?? .local, isKept: false))]
  }

  // MARK: - Waiting

  /// Puts the part, or the phase's one request, on the list of those that wait; nil when there is no try left.
  mutating func retry(_ part: Int?, _ failure: Failure, attempt: Int, _ now: Duration) -> [Action]? {
    guard let wait = settings.retry.wait(after: failure, attempt: attempt, dice: dice.next()) else { return nil }
    retries += 1
    waiting.append(Waiting(part: part, until: now + wait))
    return [
      .say(.retry(part: part, attempt: attempt + 1, cause: failure.code, message: failure.message, wait: wait)),
      .wait(until: now + wait),
    ]
  }

  mutating func tick(_ now: Duration) -> [Action] {
    let due = waiting.filter { $0.until <= now }
    waiting.removeAll { $0.until <= now }
    return due.flatMap { again($0.part) } + hedge()
  }

  private mutating func again(_ part: Int?) -> [Action] {
    if let part { return phase == .sending ? [send(part)] : [] }
    switch phase {
    case .checking: return [.check]
    case .finding: return resume.seeksLost ? [.findLost] : [.find]
    case .listingParts: return uploadID.map { [.listParts(uploadID: $0)] } ?? []
    case .creating where createWasLost: return findLost()
    case .creating: return createOnce()
    case .putting: return [.put(form: form, attempt: phaseAttempts, freshConnection: fresh.contains(0))]
    case .completing: return [.complete(attempt: phaseAttempts)]
    case .heading: return [.head]
    case .aborting: return [.abort]
    default: return []
    }
  }
}
