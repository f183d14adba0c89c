extension UploadMachine {
  /// The object is proven; what may be left of the upload goes before the run ends.
  mutating func endUpload(thenFinish evidence: String) -> [Action] {
    guard uploadID != nil, !settings.keepsUpload else { return finish(evidence) }
    publication = .proven(evidence)
    phase = .aborting
    phaseAttempts = 1
    return [.abort]
  }

  mutating func finish(_ evidence: String) -> [Action] {
    guard !settings.inspects else { return inspect(evidence) }
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
    if phase == .inspecting { return stopInspecting(failure) }
    guard phase != .done, cause == nil, interruption == nil, !isProven else { return [] }
    switch phase {
    case .completing, .heading:
      // What is out is the last try; a complete that may have worked before is looked for once.
      interruption = failure
      if waiting.isEmpty { return [] }
      waiting = []
      if case .heading(.confirms) = phase { return failUnshown(failure) }
      return phase == .completing && publication == .maybe ? ask(failure) : fail(failure)
    case .checking, .creating, .putting, .finding, .listingParts, .abortingOld, .confirming:
      // A create that is out is waited for: cancelled, it could leave an upload that nobody knows.
      guard waiting.isEmpty else { return fail(failure) }
      cause = failure
      return phase == .putting || phase == .confirming ? [.cancelTransfers] : []
    case .stopping, .aborting, .listing:
      cause = failure
      restartsAfterAbort = false
      return []
    case .sending: return windDown(failure)
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

  private var isProven: Bool {
    if case .proven = publication { return true }
    return false
  }

  private var isQuiet: Bool { inFlight.isEmpty && resume.verifying.isEmpty && !stream.isReading }

  /// What may pass by itself, or by new credentials, leaves the upload for the next run, when that can find it.
  var keepsForLater: Bool {
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
    if phase == .asking { return asked(stillThere: stillThere) }
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
    if phase == .asking { return askFailed(failure, now) }
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
    if case .proven(let evidence) = publication { return actions + finish(evidence) }
    phase = .done
    return actions + [.finish(.failed(cause?.code ?? .local, isKept: false))]
  }

  // MARK: - Waiting

  /// Puts the part, or the phase's one request, on the list of those that wait; nil when there is no try left.
  mutating func retry(_ part: Int?, _ failure: Failure, attempt: Int, _ now: Duration) -> [Action]? {
    guard let wait = settings.retry.wait(after: failure, attempt: attempt, dice: dice.next()) else { return nil }
    retries += 1
    lastTrouble = failure.s3Code.map { "the store says \($0)" } ?? failure.message
    waiting.append(Waiting(part: part, until: now + wait))
    return [
      .say(.retry(part: part, attempt: attempt + 1, cause: failure.code, message: failure.message, wait: wait)),
      .wait(until: now + wait),
    ]
  }

  mutating func tick(_ now: Duration) -> [Action] {
    if let end = graceEnds() { return end }
    let due = waiting.filter { $0.until <= now }
    waiting.removeAll { $0.until <= now }
    return due.flatMap { again($0.part) } + hedge()
  }

  private mutating func again(_ part: Int?) -> [Action] {
    if let part { return phase == .sending ? [send(part)] : [] }
    switch phase {
    case .checking: return [.check]
    case .finding: return [.find]
    case .listingParts: return uploadID.map { [.listParts(uploadID: $0)] } ?? []
    case .creating: return createOnce()
    case .putting: return [.put(form: form, attempt: phaseAttempts, freshConnection: fresh.contains(0))]
    case .completing: return [.complete(attempt: phaseAttempts)]
    case .asking: return [.listAfterLoss]
    case .heading(let look): return [head(look)]
    case .aborting: return [.abort]
    case .inspecting: return [.inspect]
    default: return []
    }
  }
}
