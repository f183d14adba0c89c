import MultipartBasics

/// The requests of an upload: each ends in one event for the machine.
extension Uploader {
  /// Checks a condition before the first byte is sent; the store checks it again at the end.
  func check() async -> UploadMachine.Event {
    do throws(Failure) {
      if let object = try await sameObject() {
        state.withLock { ($0.same, $0.sha256) = (object, object.sha256) }
        return .same(evidence: object.evidence)
      }
      if job.skipsExisting { return try await exists() ? .exists : .checked(nil) }
      guard job.conditions != WriteConditions() else { return .checked(nil) }
      let found = try await client.perform(finisher.headOperation)
      finisher.saw(found)
      var unmet = job.conditions.unmet(by: found)
      // A run that was stopped may have written it without having learned of it.
      if job.conditions.ifNoneMatch, job.ticket == nil {
        unmet?.remedy? += ", or add \(.skipsSame) if an interrupted run may have written it"
      }
      return .checked(unmet)
    } catch {
      return .checked(error)
    }
  }

  /// Whether an object exists at the key. If the destination was listed, no request is needed.
  private func exists() async throws(Failure) -> Bool {
    switch job.sameness?.found ?? .unknown {
    case .absent: return false
    case .listed(let object):
      state.withLock { $0.same = SameObject(object: ReportedObject(size: object.size, etag: object.etag)) }
      return true
    case .unknown:
      let found = try await client.perform(finisher.headOperation)
      finisher.saw(found)
      guard case .exists(let object) = found else { return false }
      state.withLock { $0.same = SameObject(object: ReportedObject(object)) }
      return true
    }
  }

  func create(_ form: ChecksumForm) async -> UploadMachine.Event {
    var operation = CreateMultipartUpload(job.address, object: job.object, encryption: job.encryption)
    if case .algorithm(let algorithm) = form { operation.checksum = algorithm }
    let start = world.uptime()
    do throws(Failure) {
      let made = try await client.perform(operation) { _ in state.withLock { $0.createIsOut = true } }
      finisher.begin(made.date.map { Freshness.begun(answered: $0, took: world.uptime() - start) })
      // If it names none, each part has to confirm it: some stores confirm it only there.
      let refusal = asked.findings(inWrite: made.encryption).first(where: \.contradicts)
        .map { sender.refusal($0, made.requestID) }
      state.withLock { state in
        state.encryptionWord = asked.isConfirmed(by: made.encryption) ? .create : .none
        state.encryptionRefusal = refusal
      }
      if job.expectsAbortDate, made.abortDate == nil { sayNoLifecycle() }
      let finer = client.transport.look().flatMap { job.finer(than: plan, roundTrip: $0.leastTrip) }
      if let finer { cut(by: finer) }
      // The upload is recorded before any part of it is sent.
      let isRecorded = journal?.begin(
        made.uploadID, job: job, partSize: plan.partSize, form: form, created: finisher.begun ?? world.now())
      return .created(uploadID: made.uploadID, isRecorded: isRecorded ?? false, plan: finer)
    } catch {
      return .createFailed(error)
    }
  }

  /// Warns once for each bucket, if that can be recorded.
  private func sayNoLifecycle() {
    let lesson = StoreLesson.saidNoLifecycle(bucket: job.bucket)
    let text: Wording =
      "no lifecycle rule of the bucket aborts abandoned uploads; AbortIncompleteMultipartUpload would keep their parts "
      + "from costing money forever"
    guard let memory else { return tell(.advice(text)) }
    guard !memory.lessons(of: client.signer.origin, now: world.now()).contain(lesson) else { return }
    tell(.warning(text))
    remember(lesson)
  }

  /// The bytes of a part; nil if there is no such part.
  func body(of number: Int) throws(Failure) -> (any PartBody)? {
    switch job.source {
    case .file(let file):
      guard (1...plan.partCount).contains(number) else { return nil }
      let (offset, length) = plan.range(of: number)
      return PartSlice(file: file, offset: offset, length: length)
    case .stream(let stream): return stream.piece(number)
    }
  }

  func send(
    _ number: Int, _ form: ChecksumForm, uploadID: String, fresh: Bool, isCopy: Bool = false
  ) async -> UploadMachine.Event {
    let start = world.uptime()
    do throws(Failure) {
      guard let body = try body(of: number) else { throw Failure(.local, "part \(number) does not exist") }
      if let refusal = state.withLock({ $0.encryptionRefusal }) { throw refusal }
      let receipt = try await sender.sendPart(
        body, number: number, uploadID: uploadID, form: form, fresh: fresh, isCopy: isCopy,
        createNamedEncryption: state.withLock { $0.encryptionWord == .create })
      state.withLock { $0.encryptionWord = $0.encryptionWord == .none ? .parts : $0.encryptionWord }
      journal?.append(receipt, now: world.uptime())
      sayUnverified(receipt.proof)
      tell(.part(number: receipt.number, size: receipt.size, etag: receipt.etag, took: world.uptime() - start))
      return .partDone(receipt)
    } catch {
      return .partFailed(number, error.at(Place(part: number)).at(job.place))
    }
  }

  func put(_ form: ChecksumForm, fresh: Bool) async -> UploadMachine.Event {
    do throws(Failure) {
      guard let body = try wholeBody() else { throw Failure(.local, "there is nothing to put") }
      if case .stream(let stream) = job.source { try stream.requireWhole(body.length) }
      let sums = try await sender.sums(of: body, form, also: job.wantsSHA256 ? [.sha256] : [])
      // Set before the request is sent, because its answer may be lost.
      finisher.expect(Expectation(size: body.length, form: form, sums: sums))
      finisher.begin(.put(world.uptime()))
      state.withLock { $0.sha256 = sums[.sha256] }
      let (sent, answer) = try await sender.put(held(body, sums), form: form, sums: sums, fresh: fresh)
      state.withLock { $0.encryptionWord = .parts }
      if case .algorithm = form, job.checksum == nil, sent.proof < .checksum {
        say(.checksumChanged(from: form, to: .md5, why: UploadMachine.givesNoneBack))
      }
      sayUnverified(sent.proof)
      let expected = Expectation(size: body.length, checksum: sent.checksum, md5: sent.md5, proof: sent.proof)
      return .putDone(finisher.judge(expected, ReportedObject(answer)))
    } catch {
      return .putFailed(error.at(job.place))
    }
  }

  private func wholeBody() throws(Failure) -> (any PartBody)? {
    if job.isReadWhole, case .file(let file) = job.source { return try FileBytes(file) }
    return try body(of: 1)
  }

  private func held(_ body: any PartBody, _ sums: [ChecksumAlgorithm: Checksum]) -> any PartBody {
    guard let slice = body as? PartSlice else { return body }
    return HeldSlice(slice: slice, sums: sums, world: world) { [progress] in progress.isStopped }
  }

  func read() async -> UploadMachine.Event {
    guard case .stream(let stream) = job.source else { return .ended }
    return await stream.read()
  }

  func confirm() async -> UploadMachine.Event {
    guard case .stream(let stream) = job.source else { return .confirmed(nil) }
    return .confirmed(await stream.judge()?.at(job.place))
  }

  func complete(_ receipts: [PartReceipt], uploadID: String) async -> UploadMachine.Event {
    do throws(Failure) {
      try confirmSource(receipts)
      if let ticket = job.ticket,
        let refusal = TicketState(ticket, receipts.map { ($0.number, $0.size) }).refusal(ticket, .wasRead)
      {
        throw refusal
      }
      return .completeDone(try await finisher.complete(receipts, uploadID: uploadID))
    } catch {
      return .completeFailed(await explained(error, receipts, uploadID: uploadID).at(job.place))
    }
  }

  /// Explains a failure of complete. Some stores accept parts of one size only, and say so at the end, with a code that
  /// also means that a part is missing. If no part is missing, the next stream to this store gets equal parts.
  private func explained(_ failure: Failure, _ receipts: [PartReceipt], uploadID: String) async -> Failure {
    let list = ListParts(job.address, uploadID: uploadID)
    if let ticket = job.ticket {
      return await ticket.explained(failure, completing: receipts) { () async throws(Failure) in
        try await client.allParts(list)
      }
    }
    guard failure.s3Code == "InvalidPart", case .stream = job.source, receipts.count > 1,
      Set(receipts.dropLast().map(\.size)).count > 1
    else { return failure }
    do throws(Failure) {
      let there = Dictionary(try await client.allParts(list).parts.map { ($0.number, $0) }) { _, last in last }
      let areThere = receipts.allSatisfy { receipt in
        there[receipt.number].map { $0.size == receipt.size && ETag($0.etag) == ETag(receipt.etag) } ?? false
      }
      guard areThere else { return failure }
    } catch {
      return failure
    }
    remember(.equalParts)
    var explained = failure
    explained.remedy = "the store requires parts of equal size: run it again with \(.equalParts)"
    if memory != nil {
      explained.remedy = "the store requires parts of equal size; run it again: the next run has equal parts"
    }
    return explained
  }

  func head(mustBeOurs: Bool) async -> UploadMachine.Event {
    do throws(Failure) {
      try learnMD5()
      return .headDone(try await finisher.head(mustBeOurs: mustBeOurs))
    } catch {
      return .headFailed(error.at(job.place))
    }
  }

  func inspect() async -> UploadMachine.Event {
    let check = SettingsCheck(
      client: client, address: job.address, asked: asked, asksAll: job.verifies,
      encryptionIsConfirmed: state.withLock { $0.encryptionWord != .none } && !finisher.contradictsEncryption)
    do throws(Failure) {
      var made = finisher.known
      made.size = finisher.expected?.size
      let inspection = try await check.run(made: made)
      if let warning = inspection.warning { tell(.warning(warning)) }
      return .inspected(inspection)
    } catch {
      return .inspectFailed(error.at(job.place))
    }
  }

  /// Computes the MD5 of a whole object without an answer: at a store that returns no checksum, only the ETag can be
  /// compared.
  private func learnMD5() throws(Failure) {
    guard job.etagMayBeMD5, var expected = finisher.expected, expected.parts == 1, expected.etag == nil,
      let whole = try body(of: 1), whole.length == expected.size
    else { return }
    expected.etag = try whole.checksums([.md5], unless: { progress.isStopped })[.md5].flatMap { ETag($0.hex) }
    finisher.expect(expected)
  }

  func abort(_ uploadID: String) async -> UploadMachine.Event {
    let abort = AbortMultipartUpload(job.address, uploadID: uploadID)
    return await client.failureOfAbort(abort).map { .abortFailed($0) } ?? .abortDone
  }

  /// Asks for the upload after an abort, when it may have had no parts, or after a lost answer to complete.
  func listAgain(_ uploadID: String, afterAbort: Bool) async -> UploadMachine.Event {
    do throws(Failure) {
      let isThere =
        afterAbort
        ? try await client.hasUpload(ListParts(job.address, uploadID: uploadID)) : try await finisher.hasParts(uploadID)
      return .listed(uploadStillThere: isThere)
    } catch {
      return .listFailed(error)
    }
  }
}
