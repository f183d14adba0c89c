import MultipartBasics

/// Steps from the last part to the end: publish, stop, clean up.
extension UploadMachine {
  mutating func complete() -> [Action] {
    var ways = Completion.Ways()
    ways.mayBeginAnew = restarts < 3 && canStartAnew && !settings.isTicket
    ways.isShared = settings.isTicket
    ways.hasEarlierParts = parts.comparison.kept > 0
    ways.maySendAllAgain = !hasMetInvalidPart && canStartAnew
    ways.alwaysVerifies = settings.alwaysVerifies
    return begin(.complete(of: object, ways))
  }

  mutating func begin(_ completion: Completion) -> [Action] {
    state = .publishing(completion)
    return completion.request(form: form).map { [$0] } ?? []
  }

  mutating func publish(
    _ scheduler: inout Scheduler, _ step: (inout Completion, inout Scheduler) -> Completion.Step
  ) -> [Action] {
    guard case .publishing(var completion) = state else { return unfit() }
    let next = step(&completion, &scheduler)
    state = .publishing(completion)
    switch next {
    case .go(let actions): return actions
    case .misfit: return unfit()
    case .end(let end): return published(end, &scheduler)
    }
  }

  private mutating func published(_ end: Completion.End, _ scheduler: inout Scheduler) -> [Action] {
    scheduler.stopWaiting(object)
    switch end {
    case .completed(let evidence, let mayBeLeft):
      return mayBeLeft && uploadID != nil ? clean(.finishing(evidence: evidence)) : finish(evidence)
    case .inspected(let evidence): return succeed(evidence)
    case .failed(let failure): return fail(failure, &scheduler)
    case .spoiled(let failure):
      uploadID = nil
      return fail(failure, &scheduler)
    case .unshown(let failure): return failUnshown(failure)
    case .lost(let failure): return giveUp(failure)
    // If there is a record, the next run starts with this check: it finds the object complete.
    case .unconfirmed(let failure): return giveUp(failure, isKept: isKept(after: failure))
    case .anew(let reason): return [.say(.startsAnew(why: reason))] + startAnew(&scheduler)
    case .missesPart: return sendAllAgain(&scheduler)
    case .recovered(let judgement): return recovered(judgement, &scheduler)
    case .unrecovered(let failure): return unrecovered(failure, &scheduler)
    }
  }

  mutating func putFailed(_ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    _ = scheduler.failed(wholeObject, failure)
    guard case .publishing(var completion) = state, completion.isPut else { return unfit() }
    if interruption == nil, let steps = stepDown(failure) {
      completion.putAgain()
      beginWhole(&scheduler)
      return [steps] + begin(completion)
    }
    return publish(&scheduler) { $0.requestFailed(failure, &$1) }
  }

  private mutating func sendAllAgain(_ scheduler: inout Scheduler) -> [Action] {
    hasMetInvalidPart = true
    // Another user of the ticket has replaced the part.
    if settings.isTicket { return startAnew(&scheduler) }
    let reason = Action.say(.startsAnew(why: "the store lacks a part that it had accepted"))
    guard case .foreign? = lookup.candidate?.use, let id = uploadID else { return [reason] + startAnew(&scheduler) }
    // Another client began this upload and may still be sending to it.
    restarts += 1
    resetParts()
    return [reason, .say(.leftAlone(uploadID: id))] + begin()
  }

  /// The store reported success, but does not show the object. A record is kept, and the next run checks again. Without
  /// a record the upload is named. It is not aborted: if the store is still assembling the object, an abort could lose
  /// its data.
  private mutating func failUnshown(_ failure: Failure) -> [Action] {
    guard let id = uploadID, !isKept(after: failure) else { return giveUp(failure, isKept: uploadID != nil) }
    abandoned.append(id)
    return [.say(.leftBehind(uploadID: id))] + giveUp(failure)
  }

  /// The object is proven. Whether it has the requested settings is checked last, because then nothing is left to
  /// abort, whatever the result. A record still names the upload, so that the next run finds it complete.
  mutating func finish(_ evidence: String) -> [Action] {
    guard settings.inspects else { return succeed(evidence) }
    if !isRecorded { uploadID = nil }
    return begin(.inspect(evidence, of: object))
  }

  private mutating func succeed(_ evidence: String) -> [Action] {
    state = .done(nil)
    return [.finish(.completed(evidence: evidence))]
  }

  private mutating func giveUp(_ failure: Failure, isKept: Bool = false) -> [Action] {
    // Another client has created the object while this one was being sent.
    if settings.skipsExisting, failure.code == .precondition {
      state = .done(nil)
      return [.finish(.skipped(meanwhile: true))]
    }
    state = .done(failure)
    return [.finish(.failed(failure.code, isKept: isKept))]
  }

  // MARK: - Stopping

  mutating func fail(_ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    leave(.failing(failure), &scheduler)
  }

  /// Stops transfers, aborts, and checks that nothing is left.
  mutating func leave(_ end: End, _ scheduler: inout Scheduler) -> [Action] {
    scheduler.stopWaiting(object)
    state = .stopping(end, graceEnds: nil)
    if isQuiet(before: end) { return stopped(end) }
    guard case .beginningAnew = end, settings.isStream else { return [.cancelTransfers] }
    return [.cancelParts]
  }

  mutating func stopIfQuiet() -> [Action] {
    guard case .stopping(let end, _) = state else { return unfit() }
    return isQuiet(before: end) ? stopped(end) : []
  }

  /// A stream is read only once, so a piece that is being read belongs to the upload that begins anew.
  private func isQuiet(before end: End) -> Bool {
    if case .beginningAnew = end { return parts.isQuiet }
    return parts.isQuiet && !parts.stream.isReading
  }

  private mutating func stopped(_ end: End) -> [Action] {
    guard ownUploadID != nil else { return cleaned(end) }
    if case .failing(let failure) = end, isKept(after: failure) { return giveUp(failure, isKept: true) }
    return clean(end)
  }

  /// A transient failure, or one that new credentials resolve, leaves the upload for the next run, if that can find it;
  /// not a conflict, because S3 drops the upload then.
  private func isKept(after failure: Failure) -> Bool {
    isRecorded && settings.keepsOn.contains(failure.code) && !failure.isConflict
  }

  private static let grace: Duration = .seconds(2)

  /// Lets parts that are almost finished complete if the next run can use them: it need not send them again.
  private mutating func windDown(_ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    guard isKept(after: failure) else { return fail(failure, &scheduler) }
    let ending = scheduler.arriving(of: object, within: Self.grace)
    guard !ending.isEmpty else { return fail(failure, &scheduler) }
    scheduler.stopWaiting(object)
    let end = scheduler.now + Self.grace
    state = .stopping(.failing(failure), graceEnds: end)
    scheduler.wake(at: end)
    return parts.underWay.subtracting(ending).sorted().map { .cancelPart($0) }
  }

  mutating func tick(_ scheduler: inout Scheduler) -> [Action] {
    guard case .stopping(let end, let graceEnds?) = state, scheduler.now >= graceEnds else { return [] }
    state = .stopping(end, graceEnds: nil)
    return [.cancelTransfers]
  }

  /// The first interruption stops what is running; the answer to a complete that was sent is still awaited, because it
  /// may be a success.
  mutating func interrupted(_ failure: Failure, _ scheduler: inout Scheduler) -> [Action] {
    guard interruption == nil, !isDone else { return [] }
    interruption = failure
    let isWaiting = scheduler.isWaiting(object)
    switch state {
    case .publishing:
      scheduler.stopWaiting(object)
      return publish(&scheduler) { completion, _ in completion.interrupted(failure, isWaiting: isWaiting) }
    case .stopping(.beginningAnew, let grace):
      state = .stopping(.failing(failure), graceEnds: grace)
      return [.cancelTransfers]
    case .cleaning(let cleanup, .beginningAnew): state = .cleaning(cleanup, .failing(failure))
    case .stopping, .cleaning: break
    case .sending: return windDown(failure, &scheduler)
    // The answer to a create is awaited: a cancelled create could leave an upload that no one knows of.
    case .checking where !isWaiting, .creating where !isWaiting: break
    case .looking where !isWaiting && !lookup.isComparing: break
    case .gathering where !isWaiting: break
    case .confirming: return [.cancelTransfers]
    case .idle, .checking, .looking, .reading, .creating, .gathering, .ready: return fail(failure, &scheduler)
    case .done: break
    }
    return []
  }

  // MARK: - Cleaning up

  mutating func clean(_ end: End) -> [Action] {
    guard let uploadID, !settings.isTicket else { return cleaned(end) }
    state = .cleaning(Cleanup(uploadID), end)
    return [.abort(uploadID: uploadID)]
  }

  /// One step of aborting the upload, or an obsolete one.
  mutating func cleanUp(_ scheduler: inout Scheduler, _ step: (inout Cleanup) -> Cleanup.Next?) -> [Action] {
    var cleanup: Cleanup
    switch (state, lookup.state) {
    case (.cleaning(let own, _), _): cleanup = own
    case (.looking, .ending(let old)): cleanup = old
    default: return unfit()
    }
    guard let next = step(&cleanup) else { return unfit() }
    if case .cleaning(_, let end) = state {
      state = .cleaning(cleanup, end)
    } else {
      lookup.state = .ending(cleanup)
      // Its record stays, and the next run aborts it.
      if let interruption, !cleanup.isOver { return fail(interruption, &scheduler) }
    }
    switch next {
    case .abort: return [.abort(uploadID: cleanup.uploadID)]
    case .list: return [.listAfterAbort(uploadID: cleanup.uploadID)]
    case .gone: return cleanedUp(cleanup.outcome, &scheduler)
    case .again(let failure, let attempt):
      var patient = scheduler.settings.retry.atMost(4)
      if interruption?.code == .interrupted { patient.cap = .milliseconds(500) }
      guard let wait = scheduler.pause(after: failure, attempt: attempt, by: patient) else {
        return cleanedUp(nil, &scheduler)
      }
      scheduler.wait(.step(object: object), wait)
      return []
    }
  }

  private mutating func cleanedUp(_ outcome: MultipartUpload.AbortOutcome?, _ scheduler: inout Scheduler) -> [Action] {
    guard case .cleaning(_, let end) = state else { return oldEnded(isGone: outcome != nil, &scheduler) }
    if case .failing = end { aborted = outcome }
    return cleaned(end, isLeft: outcome == nil)
  }

  /// The cleanup has ended. An upload that may still exist is reported, so that it can be aborted by hand.
  private mutating func cleaned(_ end: End, isLeft: Bool = false) -> [Action] {
    var actions: [Action] = []
    if isLeft, let id = uploadID {
      abandoned.append(id)
      actions.append(.say(.leftBehind(uploadID: id)))
    }
    switch end {
    case .beginningAnew:
      resetParts()
      return actions + begin()
    case .finishing(let evidence): return actions + finish(evidence)
    case .failing(let failure):
      guard !parts.stream.isReading else {
        uploadID = nil
        state = .stopping(end, graceEnds: nil)
        return actions + [.cancelTransfers]
      }
      return actions + giveUp(failure)
    }
  }
}
