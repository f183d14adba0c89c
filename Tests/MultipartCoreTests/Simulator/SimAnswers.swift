@testable import MultipartCore

/// The store and the local world as the machine's requests meet them: each request is answered with one event,
/// sometimes a bad one, sometimes after the store has acted.
extension SimPlay {
  func answer(_ run: SimRun, _ out: SimRun.Out) {
    let id = run.machine.uploadID ?? ""
    switch out.action {
    case .check: feed(run, .checked(checkAnswer(run)))
    case .find: feed(run, findAnswer(run))
    case .listParts(let id): feed(run, listAnswer(run, id))
    case .verify(let number): feed(run, verifyAnswer(run, number, out.isCancelled))
    case .read: feed(run, readAnswer(run, out.isCancelled))
    case .confirm:
      let isWrong = run.command.faults > 0 && dice.chance(0.01)
      if isWrong { count("stream not as expected") }
      feed(run, .confirmed(isWrong ? Failure(.dataMismatch, "not the size") : nil))
    case .create(let form): feed(run, createAnswer(run, form))
    case .send(let number, let form, _, _):
      run.sendsOut -= 1
      feed(run, sendAnswer(run, number, form, id, out))
    case .put(let form, _, _):
      run.sendsOut -= 1
      feed(run, putAnswer(run, form, out))
    case .complete: feed(run, completeAnswer(run, id, out))
    case .head(let mustBeOurs):
      run.headWasAsked = true
      feed(run, headAnswer(run, mustBeOurs: mustBeOurs))
    case .listAfterLoss:
      run.headWasAsked = true
      feed(run, goesWrong(run) ? .listFailed(fault("list")) : .listed(uploadStillThere: store.upload(id) != nil))
    case .inspect:
      run.headWasAsked = true
      feed(run, inspectAnswer(run))
    case .abort(let id): feed(run, abortAnswer(run, id))
    case .listAfterAbort(let id): feed(run, listAfterAbortAnswer(run, id))
    // Second copies of slow parts are tested in stories: here nothing is slow.
    case .adopt, .cancelTransfers, .cancelParts, .release, .say, .finish, .sendCopy, .cancelPart, .takeBack: break
    }
  }

  // MARK: Faults

  func count(_ fault: String) { tally.faults[fault, default: 0] += 1 }

  func goesWrong(_ run: SimRun) -> Bool { run.command.faults > 0 && dice.chance(run.command.faults) }

  /// Mostly a failure that may pass, sometimes one that lasts.
  func fault(_ at: String) -> Failure {
    let passing: [Failure.Code] = [.network, .network, .stalled, .throttled, .server]
    let lasting: [Failure.Code] = [.credentials, .credentialsExpired, .clockSkew, .tls, .refused, .configuration]
    let code = dice.chance(0.97) ? passing[dice.below(passing.count)] : lasting[dice.below(lasting.count)]
    count("\(at) \(code.rawValue)")
    var failure = Failure(code, "told to fail")
    if code == .throttled, dice.chance(0.3) { failure.retryAfter = .seconds(1 + dice.below(20)) }
    return failure
  }

  var gone: Failure { Failure(.uploadGone, "NoSuchUpload", status: 404) }
  var stopped: Failure { Failure(.interrupted, "cancelled") }
  var changed: Failure { Failure(.sourceChanged, "rewritten") }

  func maybeRewrite(_ run: SimRun) {
    guard run.command.faults > 0, !run.file.isStream, !run.sourceChanged, dice.chance(0.001) else { return }
    count("source rewritten")
    tell("the file of \(run.host.name) is rewritten")
    run.host.rewrite()
  }

  // MARK: Before

  private func checkAnswer(_ run: SimRun) -> Failure? {
    if goesWrong(run) { return fault("check") }
    return run.command.ifNoneMatch && store.object != nil ? Failure(.precondition, "exists") : nil
  }

  /// Answers as the uploader does: from the record, or else from the store's list.
  private func findAnswer(_ run: SimRun) -> UploadMachine.Event {
    if let record = run.found {
      var reason: Wording?
      if run.command.mode == .never || run.file.isStream { reason = "given up" }
      if record.version != run.file.version { reason = "the source is another" }
      if !run.command.formIsFree, record.form != run.command.form { reason = "another checksum" }
      run.touched.append(record.uploadID)
      return .found([
        UploadMachine.Candidate(
          uploadID: record.uploadID, use: reason.map { .stale($0) } ?? .own,
          isWhole: record.parts.count == run.plan.partCount)
      ])
    }
    guard run.command.mode == .adopt, !run.file.isStream else { return .found([]) }
    if goesWrong(run) { return .findFailed(fault("find")) }
    return .found(store.uploads.reversed().map { UploadMachine.Candidate(uploadID: $0.id, use: .foreign) })
  }

  func excuse(_ ids: [String], _ why: String) {
    for id in ids where store.upload(id)?.excuse == nil { store.upload(id)?.excuse = why }
  }

  private func listAnswer(_ run: SimRun, _ id: String) -> UploadMachine.Event {
    if goesWrong(run) {
      guard dice.chance(0.9) else {
        count("list lies NoSuchUpload")
        return .partsListFailed(gone)
      }
      return .partsListFailed(fault("list"))
    }
    run.since = run.found?.uploadID == id ? run.found?.begun ?? .max : store.upload(id)?.begun ?? .max
    guard let upload = store.upload(id) else { return .partsListFailed(gone) }
    var sizes: [Int: Int64] = [:]
    run.listedID = id
    run.listed = upload.contents
    run.listedIsOurs = true
    for index in upload.contents.indices where upload.contents[index] != 0 {
      sizes[index + 1] = upload.sizes[index]
      let isOurs =
        index < run.file.parts && upload.contents[index] == run.file.content(index + 1)
        && upload.sizes[index] == run.file.size(index + 1)
      if !isOurs { run.listedIsOurs = false } else if knows(run, index + 1) { run.shown[index] = true }
    }
    let form = run.command.formIsFree || run.command.form == upload.form ? upload.form : nil
    let isForeign = run.found?.uploadID != id
    return .partsListed(
      UploadMachine.PartList(sizes: sizes, form: form, activity: isForeign ? activity(upload) : nil))
  }

  /// The activity by the store's clock. Some stores give no times of parts.
  private func activity(_ upload: SimUpload) -> UploadMachine.Activity {
    var activity = UploadMachine.Activity(clock: clock)
    for index in upload.contents.indices where upload.contents[index] != 0 {
      activity.traces[index + 1] = "\(upload.contents[index]) \(upload.lastSent)"
    }
    if store.givesMoments { activity.last = Timestamp(seconds: Int64(upload.lastSent / 1000)) }
    return activity
  }

  var clock: Timestamp { Timestamp(seconds: Int64(now / 1000)) }

  /// If a store shows neither checksums nor an MD5, only a recorded part can be compared.
  private func knows(_ run: SimRun, _ number: Int) -> Bool {
    if store.kind != .silent { return true }
    guard let found = run.found, found.uploadID == run.listedID else { return false }
    return found.parts[number] == run.listed[number - 1]
  }

  private func verifyAnswer(_ run: SimRun, _ number: Int, _ isCancelled: Bool) -> UploadMachine.Event {
    if isCancelled { return .verifyFailed(number, stopped) }
    maybeRewrite(run)
    if run.sourceChanged { return .verifyFailed(number, changed) }
    if run.command.faults > 0, dice.chance(0.002) {
      count("verify local")
      return .verifyFailed(number, Failure(.local, "cannot be read"))
    }
    guard run.listed[number - 1] == run.file.content(number), knows(run, number) else { return .partRejected(number) }
    return .partVerified(receipt(run, number, run.machine.form, .etag))
  }

  private func readAnswer(_ run: SimRun, _ isCancelled: Bool) -> UploadMachine.Event {
    // A piece may have been read just before.
    if isCancelled ? dice.chance(0.7) : run.isStopped { return .readFailed(stopped) }
    if run.command.faults > 0, dice.chance(0.003) {
      count("read fails")
      return .readFailed(Failure(.local, "cannot be read"))
    }
    let number = run.pieces + 1
    if number > run.file.parts {
      run.streamHasEnded = true
      return .ended
    }
    // A short piece is known to be the last; after a full one only the next read shows the end.
    return .piece(
      size: run.file.size(number), isLast: number == run.file.parts && run.file.tail < run.file.partSize)
  }

  // MARK: Sending

  func refuses(_ form: ChecksumForm, atCreate: Bool) -> Bool {
    switch (store.kind, form) {
    case (.refusesAll, .md5): !atCreate
    case (.refusesAll, .algorithm), (.refusesAtCreate, .algorithm): true
    case (.refusesAtPart, .algorithm): !atCreate
    default: false
    }
  }

  private func createAnswer(_ run: SimRun, _ form: ChecksumForm) -> UploadMachine.Event {
    if refuses(form, atCreate: true) { return .createFailed(Failure(.checksumUnsupported, "501")) }
    if goesWrong(run) {
      let failure = fault("create")
      if dice.chance(0.3), failure.code == .network || failure.code == .stalled || failure.code == .server {
        run.lost.append(store.create(form, at: now).id)
        count("create's answer lost")
        saw("uploads whose create was lost")
      }
      return .createFailed(failure)
    }
    run.since = now
    return .created(uploadID: store.create(form, at: now).id)
  }

  func receipt(_ run: SimRun, _ number: Int, _ form: ChecksumForm, _ proof: PartProof) -> PartReceipt {
    var sum: Checksum?
    if case .algorithm = form { sum = Self.sum }
    return PartReceipt(
      number: number, size: run.file.size(number), etag: String(run.file.content(number)), checksum: sum, proof: proof)
  }

  private static let sum = Checksum(.crc64nvme, bytes: Array(repeating: 7, count: 8))

  private func sendAnswer(
    _ run: SimRun, _ number: Int, _ form: ChecksumForm, _ id: String, _ out: SimRun.Out
  ) -> UploadMachine.Event {
    maybeRewrite(run)
    let upload = store.upload(id)
    func arrive() { upload?.put(number, run.file.content(number), run.file.size(number), at: now) }
    if out.isCancelled {
      // The part may have arrived nevertheless, or arrive later.
      if dice.chance(0.3), upload != nil, !run.sourceChanged {
        arrive()
        return .partDone(receipt(run, number, form, .checksum))
      }
      letLand(run, out, chance: 0.3)
      return .partFailed(number, stopped)
    }
    if run.sourceChanged {
      if dice.chance(0.5) { upload?.put(number, SimFile.garbage, run.file.size(number), at: now) }
      return .partFailed(number, changed)
    }
    if refuses(form, atCreate: false) { return .partFailed(number, Failure(.checksumUnsupported, "400")) }
    if goesWrong(run) {
      if dice.chance(0.1) {
        count("part dataMismatch")
        if dice.chance(0.5) { upload?.put(number, SimFile.garbage, run.file.size(number), at: now) }
        return .partFailed(number, Failure(.dataMismatch, "BadDigest"))
      }
      if dice.chance(0.01) {
        count("part lies NoSuchUpload")
        return .partFailed(number, gone)
      }
      let failure = fault("part")
      if RetryPolicy.isWorthRetrying(failure.code) {
        if dice.chance(0.3) {
          count("part's answer lost")
          arrive()
        } else {
          letLand(run, out, chance: 0.1)
        }
      }
      return .partFailed(number, failure)
    }
    guard upload != nil else { return .partFailed(number, gone) }
    arrive()
    let proof: PartProof =
      switch form {
      case .algorithm: store.kind == .silent ? .none : .checksum
      case .md5: .etag
      case .nothing: run.command.signs ? .signedPayload : .none
      }
    if proof == .none { count("part unverified") }
    return .partDone(receipt(run, number, form, proof))
  }
}
