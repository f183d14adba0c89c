import MultipartBasics

/// The result of an upload: the object with its evidence, or the failure and what is left at the store.
extension Uploader {
  func result(_ outcome: UploadMachine.Outcome, _ machine: UploadMachine) throws(Failure) -> UploadedObject {
    let evidence: String
    switch outcome {
    case .completed(let proof): evidence = proof
    case .unchanged(let proof): return unchanged(proof)
    case .skipped(let meanwhile): return skipped(meanwhile, machine)
    case .planned: return UploadedObject(.planned, size: job.source.size ?? 0, parts: 0, evidence: "")
    case .sharing(let missing): return shared(machine, missing)
    case .failed:
      let cause = machine.cause ?? Failure(.local, "the upload ended without a reason")
      throw outcome.isKept ? kept(machine, cause) : leftBehind(machine, machine.abandoned.last, cause)
    }
    remember()
    return UploadedObject(
      .completed, size: finisher.expected?.size ?? plan.size, parts: max(1, machine.receipts.count), finisher.known,
      checksum: finisher.expected?.sum, evidence: evidence, bytesSent: progress.bytesSent,
      bytesResumed: machine.wasComplete ? plan.size : machine.kept.bytes, retries: machine.retries)
  }

  /// The result of this run's share of a ticket.
  private func shared(_ machine: UploadMachine, _ missing: Int) -> UploadedObject {
    let own = job.share.map { machine.receipts[($0.lowerBound - 1)..<($0.upperBound - 1)] } ?? machine.receipts[...]
    let size = own.reduce(0) { $0 + ($1?.size ?? 0) }
    return UploadedObject(
      .shared(missingParts: missing), size: size, parts: own.count, evidence: "the store has these parts",
      bytesSent: progress.bytesSent, bytesResumed: machine.kept.bytes, retries: machine.retries)
  }

  private func sayRecorded(_ why: Wording) {
    guard let record = journal?.found else { return }
    tell(
      .warning(
        "an unfinished upload to this object is recorded, and \(why); abort it: "
          + "\(run: job.abort(record.header.uploadID))"))
  }

  private func skipped(_ meanwhile: Bool, _ machine: UploadMachine) -> UploadedObject {
    if !meanwhile { sayRecorded("the object exists") }
    let object = state.withLock { $0.same }?.object ?? ReportedObject()
    return UploadedObject(
      .skipped, size: object.size ?? 0, parts: 0, object,
      evidence: meanwhile ? "the object appeared while the file was being sent" : "the object already exists",
      bytesSent: progress.bytesSent, retries: machine.retries)
  }

  private func unchanged(_ evidence: String) -> UploadedObject {
    sayRecorded("the object is already identical to the file")
    let same = state.withLock { $0.same }
    return UploadedObject(
      .unchanged, size: same?.object.size ?? plan.size, parts: same?.parts ?? 1, same?.object ?? ReportedObject(),
      checksum: same?.sum, evidence: evidence)
  }

  /// The failure of a run whose time after an interruption was not enough to confirm that the upload is gone.
  func unfinished(_ machine: UploadMachine) -> Failure {
    let cause = machine.cause ?? machine.interruption ?? .interrupted
    let aborts = job.abortsOnInterrupt && cause.code == .interrupted
    if machine.isRecorded, !aborts, !job.source.isStream || job.ticket != nil { return kept(machine, cause) }
    if case .publishing(let completion) = machine.state, completion.isReported { return unchecked(machine, cause) }
    let left = machine.ownUploadID ?? machine.abandoned.last
    guard case .publishing = machine.state, let left else { return leftBehind(machine, left, cause) }
    var failure = cause.at(job.place)
    failure.place.uploadID = left
    failure.message += "; the store has not confirmed whether the object was created"
    failure.remedy = "if the object does not exist, abort the upload: \(run: job.abort(left))"
    return failure
  }

  private func unchecked(_ machine: UploadMachine, _ cause: Failure) -> Failure {
    var failure = cause.at(job.place)
    failure.message += "; the store has reported the object as created, but its check was interrupted"
    failure.remedy = "look at the object: \(run: .headObject)"
    if let other = machine.abandoned.last {
      failure.place.uploadID = other
      failure.remedy =
        "look at the object: \(run: .headObject); and abort an upload that was given up: \(run: job.abort(other))"
    }
    return failure
  }

  private func kept(_ machine: UploadMachine, _ failure: Failure) -> Failure {
    rememberBuffers()
    var failure = failure.at(job.place)
    failure.place.uploadID = machine.uploadID
    // The parts of a stream stay with its ticket, but the next run reads and sends all of it.
    guard !job.source.isStream else {
      failure.remedy = (failure.remedy.map { $0 + "; " } ?? "") + Self.sendAgain
      return failure
    }
    failure.isResumable = true
    let done = machine.receipts.count { $0 != nil }
    let isReported = if case .publishing(let completion) = machine.state { completion.isReported } else { false }
    let known =
      isReported
      ? "the store has reported the object as created, and only its check is missing"
      : "at least \(done) of \(machine.receipts.count) parts are at the store"
    // With this option the next run would abort it.
    let how: Wording = job.resume == .never ? "run it again without \(.resume, "never")" : "run the same command again"
    failure.remedy = (failure.remedy.map { $0 + "; " } ?? "") + how + " to resume: \(known)"
    return failure
  }

  private static let sendAgain: Wording = "send the stream again from its beginning"

  private func leftBehind(_ machine: UploadMachine, _ uploadID: String?, _ failure: Failure) -> Failure {
    var failure = failure.at(job.place)
    if failure.code == .sourceChanged { failure.reassure("nothing was published") }
    // The user of a stream has never seen the id of the upload that the store does not find.
    if failure.code == .uploadGone, failure.status != nil, job.source.isStream, job.ticket == nil {
      failure.remedy = Self.sendAgain
    }
    // Whoever stops a run by hand wants to know whether something is left to clean up.
    if machine.aborted == .unlisted {
      failure.message += "; the upload was aborted, but \(MultipartUpload.AbortOutcome.doubt)"
    } else if failure.isInterruption, machine.aborted != nil {
      failure.message += "; the upload was aborted, and none of its parts remain at the store"
    }
    // The run ended before it reached the recorded upload, which a later run can still resume.
    failure.isResumable = machine.leavesOldRecord && journal?.found != nil
    guard let id = uploadID else { return maybeBegun(machine, failure) }
    failure.place.uploadID = id
    failure.message += "; the store has not confirmed that its parts are gone"
    failure.remedy = "abort the upload: \(run: job.abort(id))"
    return failure
  }

  /// A create whose outcome is unknown may have left an upload. It has no parts, and looks like one that another
  /// machine has just begun, so a person has to tell them apart.
  private func maybeBegun(_ machine: UploadMachine, _ failure: Failure) -> Failure {
    guard state.withLock({ $0.createIsOut || ($0.own.isEmpty && machine.createWasLost) }) else { return failure }
    var failure = failure
    failure.message += "; an upload without parts may be left, whose id is not known"
    failure.remedy =
      (failure.remedy.map { $0 + "; " } ?? "")
      + "\(run: .listUploads(bucket: job.bucket, key: job.key)) lists them"
    return failure
  }
}
