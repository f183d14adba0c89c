@testable import MultipartCore

/// The store's answers about the object and about completing and aborting.
extension SimPlay {
  func judge(_ run: SimRun) -> Judgement {
    guard let object = store.object else { return .absent }
    guard object.size == run.file.size else { return .contradicted(message: "another size") }
    guard store.kind.proves else { return .undecided(weak: "size") }
    return object.isExactly(run.file) ? .proven(evidence: "sum") : .contradicted(message: "another sum")
  }

  func putAnswer(_ run: SimRun, _ form: ChecksumForm, _ out: SimRun.Out) -> UploadMachine.Event {
    run.since = min(run.since, now)
    maybeRewrite(run)
    if run.sourceChanged { return .putFailed(changed) }
    func publish() {
      store.object = SimObject(contents: [run.file.content(1)], size: run.file.size, modified: now)
      run.hasPublished = true
    }
    if out.isCancelled {
      guard dice.chance(0.3), !(run.command.ifNoneMatch && store.object != nil) else { return .putFailed(stopped) }
      publish()
      return dice.chance(0.5) ? .putDone(judge(run)) : .putFailed(stopped)
    }
    if refuses(form, atCreate: false) { return .putFailed(Failure(.checksumUnsupported, "501")) }
    let isUnmet = run.command.ifNoneMatch && store.object != nil
    if goesWrong(run) {
      let failure = fault("put")
      if RetryPolicy.isWorthRetrying(failure.code), failure.code != .throttled, !isUnmet, dice.chance(0.3) {
        count("put's answer lost")
        publish()
      }
      return .putFailed(failure)
    }
    if isUnmet { return .putFailed(Failure(.precondition, "412")) }
    publish()
    return .putDone(judge(run))
  }

  func completeAnswer(_ run: SimRun, _ id: String, _ out: SimRun.Out) -> UploadMachine.Event {
    maybeRewrite(run)
    if run.sourceChanged { return .completeFailed(changed) }
    let wanted = contents(run)
    let isUnmet = run.command.ifNoneMatch && store.object != nil
    func publish() -> Bool {
      guard !isUnmet, let upload = store.upload(id), store.complete(upload, wanted) else { return false }
      if store.object?.isExactly(run.file) == true { run.hasPublished = true }
      return true
    }
    if goesWrong(run) {
      if run.command.ifNoneMatch, dice.chance(0.2) {
        count("complete ConditionalRequestConflict")
        return .completeFailed(Failure(.server, "409", status: 409, s3Code: "ConditionalRequestConflict"))
      }
      let failure = fault("complete")
      if failure.code == .network || failure.code == .stalled || failure.code == .server {
        if dice.chance(0.4) {
          if publish() { count("complete's answer lost") }
        } else if !run.command.ifNoneMatch {
          letLand(run, out, chance: 0.1)
        }
      }
      return .completeFailed(failure)
    }
    guard let upload = store.upload(id) else {
      return .completeFailed(isUnmet && dice.chance(0.5) ? Failure(.precondition, "412", status: 412) : gone)
    }
    if isUnmet { return .completeFailed(Failure(.precondition, "412", status: 412)) }
    guard publish() else {
      tell("InvalidPart: \(upload.id)")
      return .completeFailed(Failure(.refused, "InvalidPart", status: 400, s3Code: "InvalidPart"))
    }
    // Not every store describes in this answer what it has assembled.
    return .completeDone(dice.chance(0.2) ? .undecided(weak: "w") : judge(run))
  }

  func headAnswer(_ run: SimRun, mustBeOurs: Bool) -> UploadMachine.Event {
    if goesWrong(run) {
      if dice.chance(0.1), store.object != nil {
        count("head undecided")
        return .headDone(.undecided(weak: "size"))
      }
      if dice.chance(0.1) {
        count("head does not show it yet")
        return .headDone(.absent)
      }
      return .headFailed(fault("head"))
    }
    let judgement = judge(run)
    if mustBeOurs, let object = store.object, !run.canHaveMade(object) {
      if case .contradicted = judgement { return .headDone(judgement) }
      saw("objects that were there before, told from our own")
      return .headDone(.notOurs(message: "older"))
    }
    return .headDone(judgement)
  }

  func inspectAnswer(_ run: SimRun) -> UploadMachine.Event {
    if goesWrong(run) { return .inspectFailed(fault("inspect")) }
    guard !store.dropsOptions else {
      saw("options that the store dropped")
      return .inspected(.lost(Failure(.refused, "no storage class")))
    }
    run.wasInspected = true
    return .inspected(.kept(unconfirmed: [], why: nil))
  }

  // MARK: After

  func abortAnswer(_ run: SimRun, _ id: String) -> UploadMachine.Event {
    if goesWrong(run) {
      switch dice.below(4) {
      case 0:
        count("abort lies")
        return .abortDone
      case 1:
        count("abort's answer lost")
        store.remove(id)
        return .abortFailed(Failure(.network, "reset"))
      default: return .abortFailed(fault("abort"))
      }
    }
    guard store.upload(id) != nil else { return .abortFailed(gone) }
    store.remove(id)
    return .abortDone
  }

  func listAfterAbortAnswer(_ run: SimRun, _ id: String) -> UploadMachine.Event {
    if goesWrong(run) {
      let failure = fault("list after abort")
      if failure.code == .credentials, store.upload(id) != nil {
        // Without the permission to list there is only the answer to the abort itself.
        run.lied.append(id)
        saw("aborts that lied to who may not list")
      }
      return .listFailed(failure)
    }
    return .listed(uploadStillThere: store.upload(id) != nil)
  }
}
