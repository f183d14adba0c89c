import MultipartBasics
@testable import MultipartCore

/// Feeds events to the machine, and checks its actions and the invariants.
extension SimPlay {
  func feed(_ run: SimRun, _ event: UploadMachine.Event) {
    run.events += 1
    tell("\(run.name) < \(brief(event))")
    var event = event
    switch event {
    case .created(let id, _, _):
      run.created.append(id)
      run.touched.append(id)
      run.beginEpoch()
      event = .created(uploadID: id, isRecorded: run.keepsRecord && run.beginRecord(id))
    case .partDone(let receipt):
      run.append(receipt)
      run.flying[receipt.number - 1] = false
      run.confirmed[receipt.number - 1] = true
    case .partFailed(let number, _): run.flying[number - 1] = false
    case .partVerified(let receipt): run.confirmed[receipt.number - 1] = true
    case .partRejected(let number): run.shown[number - 1] = false
    case .piece: run.pieces += 1
    case .headDone(.proven), .putDone(.proven), .completeDone(.proven):
      run.sawProof = !run.command.verifies && !run.command.asks
    default: break
    }
    if case .headDone(.proven) = event, isOurs(run) { run.wasThere = true }
    take(run, run.machine.handle(event, at: .milliseconds(now)))
  }

  func feed(_ run: SimRun, _ event: Run<UploadMachine>.Event) {
    if case .sampled = event {} else { run.events += 1 }
    tell("\(run.name) < \(brief(event))")
    take(run, run.machine.handle(event, at: .milliseconds(now)))
  }

  func take(_ run: SimRun, _ actions: [UploadMachine.Action]) {
    run.timers += run.machine.wakes.map(\.simulated)
    for action in actions {
      tell("\(run.name) > \(brief(action))")
      take(run, action)
    }
    if run.machine.misfits > 0 { mistake("nothing was waiting for an event") }
    if run.sendsOut > run.command.concurrency { mistake("\(run.sendsOut) transfers at once") }
    if !(1...run.command.concurrency).contains(run.machine.window) { mistake("a window of \(run.machine.window)") }
    if run.file.isStream, run.pieces - run.freed.count > run.command.concurrency {
      mistake("\(run.pieces - run.freed.count) pieces in memory")
    }
    if run.outcome == nil, run.events > run.eventBound { mistake("no end after \(run.events) events") }
    if run.outcome != nil, !run.isOver { end(run) }
  }

  private func take(_ run: SimRun, _ action: UploadMachine.Action) {
    if run.outcome != nil { mistake("an action after the end: \(action)") }
    switch action {
    case .say(let event): return hear(event, run)
    case .cancelTransfers:
      run.isStopped = true
      for index in run.out.indices {
        switch run.out[index].action {
        case .send, .put, .verify, .read: run.out[index].isCancelled = true
        default: break
        }
      }
      return
    case .cancelParts:
      for index in run.out.indices {
        if case .send = run.out[index].action { run.out[index].isCancelled = true }
      }
      saw("streams that begin again")
      return
    case .release(let part):
      if !run.freed.insert(part).inserted { mistake("piece \(part) is released twice") }
      return
    case .cancelPart(let part), .takeBack(let part):
      for index in run.out.indices {
        if case .send(part, _, _, _) = run.out[index].action { run.out[index].isCancelled = true }
      }
      run.takenBack += 1
      saw("parts taken back")
      return
    case .adopt(let id):
      adopt(run, id)
      return
    case .finish(let outcome):
      run.outcome = outcome
      if !run.out.isEmpty { mistake("the end comes while \(run.out) is pending") }
      return
    case .send(let number, _, let attempt, _): checkSend(run, number, attempt)
    case .put: run.sendsOut += 1
    case .complete: checkComplete(run)
    case .abort(let id): checkAbort(run, id)
    case .listParts: run.beginEpoch()
    case .verify(let number):
      if run.confirmed[number - 1] { mistake("part \(number) is compared again") }
    default: break
    }
    run.out.append(SimRun.Out(action: action))
  }

  private func hear(_ event: UploadEvent, _ run: SimRun) {
    switch event {
    case .retry(let part, _, _, _, _): if part != nil { run.partRetries += 1 }
    case .leftBehind(let id):
      store.upload(id)?.excuse = "reported as left behind"
      saw("reported as left behind")
    case .resumed: saw("uploads resumed")
    case .leftAlone(let id):
      store.upload(id)?.excuse = "reported as left alone"
      saw("adopted uploads left alone")
    case .startsAnew: saw("begun again")
    case .checksumChanged: saw("checksum stepped down")
    case .connections: saw("numbers of connections changed")
    case .waitsForQuiet: saw("waits for quiet")
    case .passedBy: saw("foreign uploads passed by")
    case .started, .part, .waitsForRun, .warning, .advice: break
    }
  }

  private func adopt(_ run: SimRun, _ id: String) {
    if run.found?.uploadID != id {
      if !run.listedIsOurs || run.listedID != id { mistake("adopts \(id), which has a part that is not ours") }
      if run.command.mode != .adopt { mistake("adopts \(id) and was not told to") }
      if let upload = store.upload(id) { checkQuiet(upload) }
      run.adopted.append(id)
      run.touched.append(id)
      saw("foreign uploads adopted")
    }
    _ = run.machine.handle(.recorded(run.adopt(id)), at: .milliseconds(now))
  }

  private func checkQuiet(_ upload: SimUpload) {
    let quiet = now - upload.lastSent
    if quiet < 59_000 { mistake("adopts \(upload.id), to which somebody sent \(quiet) ms ago") }
    if upload.stranger?.isAtIt == true { mistake("adopts \(upload.id), to which somebody is sending") }
    upload.stranger = nil
    upload.excuse = nil
  }

  private func checkMayChange(_ run: SimRun, _ what: String) {
    guard let id = run.machine.uploadID else { return mistake("\(what) without an upload") }
    if !run.mayChange(id) { mistake("\(what) in \(id), a foreign upload that is not known to be ours") }
  }

  /// Checks that an upload that a later run can resume is kept for it, unless it was already being aborted.
  private func checkAbort(_ run: SimRun, _ id: String) {
    if !run.mayChange(id) { mistake("aborts \(id), which is not its own") }
    guard id == run.machine.uploadID, !run.aborted.contains(id) else { return }
    run.aborted.append(id)
    guard let cause = run.machine.cause, run.keepsOn.contains(cause.code), run.host.diskWorks else { return }
    if run.host.record?.uploadID == id { mistake("aborts \(id), which a later run could resume") }
  }

  private func checkSend(_ run: SimRun, _ number: Int, _ attempt: Int) {
    checkMayChange(run, "a part")
    guard number >= 1, number <= run.file.parts else { return mistake("part \(number) of \(run.file.parts)") }
    if run.confirmed[number - 1] { mistake("part \(number) is sent again, which the store had confirmed") }
    if run.freed.contains(number) { mistake("part \(number) is sent again, whose bytes are gone") }
    if run.shown[number - 1] { mistake("part \(number) is sent, which the list showed and nobody compared") }
    if run.flying[number - 1] { mistake("part \(number) is sent twice at once") }
    if attempt > run.command.tries { mistake("try \(attempt) of part \(number)") }
    run.flying[number - 1] = true
    run.sendsOut += 1
    run.sends += 1
  }

  private func checkComplete(_ run: SimRun) {
    checkMayChange(run, "complete")
    let receipts = run.machine.receipts
    if receipts.contains(where: { $0 == nil }) { mistake("complete before every part was there") }
    if receipts.count != run.file.parts { mistake("complete of \(receipts.count) of \(run.file.parts) parts") }
    if run.sendsOut > 0 { mistake("complete while parts are under way") }
  }

  // MARK: The end

  private func end(_ run: SimRun) {
    guard let outcome = run.outcome else { return }
    tally.ends[run.outcomeTitle, default: 0] += 1
    // No late event makes it act again.
    for late in [Run<UploadMachine>.Event.tick, .interrupted(Failure(.interrupted, "late"))] {
      if !run.machine.handle(late, at: .milliseconds(now)).isEmpty { mistake("an action after the end") }
    }
    if run.sends > max(1, run.epochs) * run.file.parts + run.partRetries + run.takenBack {
      mistake("\(run.sends) transfers for \(run.file.parts) parts and \(run.partRetries) retries")
    }
    let isOurs = isOurs(run)
    switch outcome {
    case .completed:
      if !isOurs, !run.hasPublished, !run.wasThere { mistake("success, and the object is not the file") }
      if run.command.asks, !run.wasInspected { mistake("success, but the requested settings were not checked") }
    case .unchanged, .skipped, .planned, .sharing: mistake("nothing was sent, although nobody asked for that")
    case .failed:
      if run.machine.cause == nil { mistake("failed without a cause") }
      if run.sawProof { mistake("failed, although an answer had proven the object") }
      if run.hasPublished { checkLooked(run, isOurs) }
    }
    closeRecord(run, outcome)
    if run.machine.createWasLost { excuse(run.lost, "the next run looks for it") }
    for upload in store.uploads
    where upload.excuse == nil && (run.touched.contains(upload.id) || run.lost.contains(upload.id)) {
      if run.host.record?.uploadID == upload.id { continue }
      if run.lied.contains(upload.id) { continue }
      mistake("\(upload.id) is still at the store after \(run.outcomeTitle), unreported")
    }
    checkStrangers()
    run.isOver = true
    close(run)
  }

  /// Whether the object is the file, and this run can have created it.
  private func isOurs(_ run: SimRun) -> Bool {
    guard let object = store.object else { return false }
    return object.isExactly(run.file) && run.canHaveMade(object)
  }

  /// Checks that an existing object is not reported as a failure, unless the run was told to stop or could not learn
  /// about it.
  private func checkLooked(_ run: SimRun, _ isOurs: Bool) {
    saw("failed although published, not to be seen or told to stop")
    if isOurs, run.stops == 0, !run.headWasAsked { mistake("failed without a look at the object, which is ours") }
  }

  /// The record stays for the next run, or is deleted.
  private func closeRecord(_ run: SimRun, _ outcome: UploadMachine.Outcome) {
    if outcome.isKept, run.host.record?.uploadID != run.machine.uploadID || run.machine.uploadID == nil {
      mistake("kept for a later run, and no record names it")
    }
    let keeps =
      outcome.isKept || !run.machine.abandoned.isEmpty || (outcome.isFailure && run.machine.leavesOldRecord)
    if run.keepsRecord, !keeps { run.host.record = nil }
  }
}

extension SimRun {
  /// Whether a HEAD allows that this run made the object: it is no older, and has the requested settings.
  func canHaveMade(_ object: SimObject) -> Bool { object.modified >= since && object.isAsAsked }

  var outcomeTitle: String {
    switch outcome {
    case .completed: "completed"
    case .unchanged: "unchanged"
    case .skipped: "skipped"
    case .planned: "planned"
    case .sharing: "sharing"
    case .failed(let code, let isKept): "failed \(code.rawValue)" + (isKept ? " kept" : "")
    case nil: "not ended"
    }
  }
}
