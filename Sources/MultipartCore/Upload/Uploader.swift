/// Performs the machine's actions: one upload of one file, from the first request to the proof.
package final class Uploader: Sendable {
  package let job: UploadJob
  let client: S3Client
  let world: World
  let sender: BodySender
  /// How the source is divided; a resumed upload keeps its own part size.
  package var plan: UploadPlan { planned.withLock { $0 } }
  private let planned: Locked<UploadPlan>
  /// The run's only one.
  private static let object = 0
  package let progress: UploadProgress
  let memory: StoreMemory?
  /// What to remember about the store once the upload has succeeded.
  let lesson = Locked<ChecksumForm?>(nil)
  let isUnverifiedSaid = Locked(false)
  let deadlineGrace = Locked(Duration.milliseconds(250))
  let tell: @Sendable (UploadEvent) -> Void
  private let events: AsyncStream<UploadRun.Event>
  let inbox: AsyncStream<UploadRun.Event>.Continuation
  let tasks = Tasks()
  /// The first one, for code that waits and receives no events.
  private let interruption = Locked<Failure?>(nil)
  let finisher: Finisher
  let asked: RequestedSettings
  /// Which answers of this run have confirmed the requested encryption.
  let encryptionWord = Locked(EncryptionWord.none)
  let journal: UploadJournal?
  /// If an upload is left behind although the object is complete, its record stays: it names what is to be aborted.
  private let keepsRecord = Locked(false)
  /// When the first part was sent, and when the last one arrived.
  let sending = Locked<(from: Duration, to: Duration)?>(nil)
  /// What the store listed about existing uploads.
  struct Known: Sendable {
    /// Of the upload that is examined or resumed.
    var parts: [Int: ListParts.Part] = [:]
    /// Unrecorded uploads, by ID.
    var foreign: [String: ForeignUpload] = [:]
    /// Created or adopted by this run.
    var own: Set<String> = []
    /// The store did not list its uploads: there is no need to ask again.
    var lacksList = false
    /// Looks for other uploads while parts are sent.
    var neighbours: Task<Void, Never>?
  }
  let known = Locked(Known())

  /// `memory` keeps the lesson that a store does not verify a checksum.
  package init(
    job: UploadJob, client: S3Client, world: World, memory: StoreMemory? = nil, book: RecordBook? = nil,
    tell: @escaping @Sendable (UploadEvent) -> Void = { _ in }
  ) throws(Failure) {
    // For a stream only the first part's size is planned here; its own plan gives the sizes of its pieces.
    let plan = try UploadPlan(
      size: job.source.size ?? 0, partSize: job.partSize, threshold: job.threshold, line: job.line)
    planned = Locked(plan)
    self.job = job
    self.client = client
    self.world = world
    self.memory = memory
    self.tell = tell
    progress = UploadProgress(
      total: job.source.size, parts: job.source.isStream ? nil : plan.partCount)
    asked = try job.requested()
    sender = BodySender(client: client, job: job, asked: asked, progress: progress)
    finisher = Finisher(
      client: client, bucket: job.bucket, key: job.key, conditions: job.conditions, customerKey: job.customerKey,
      common: job.common, requested: asked)
    (events, inbox) = AsyncStream.makeStream()
    let target = RecordTarget(origin: client.signer.origin, bucket: job.bucket, key: job.key)
    if let book, !plan.isSingle || job.source.isStream || book.mayHave(target) {
      journal = UploadJournal(book: book, target: target, digest: try job.digest()) { tell(.warning($0)) }
    } else {
      journal = nil
    }
  }

  /// The current one; requests that wait for credentials count as sent.
  package var activity: UploadActivity {
    client.signer.waitsForCredentials ? .waitingForCredentials : progress.activity
  }

  /// Stops the run: running transfers are cancelled, and the upload is kept for a later run or aborted. May be called
  /// from anywhere, at any time.
  package func interrupt(_ failure: Failure = Failure(.interrupted, "interrupted")) {
    interruption.withLock { $0 = $0 ?? failure }
    inbox.yield(.interrupted(failure))
    // After the event, so that the event is the cause of what this ends.
    progress.stop()
  }

  /// Called after the result was reported, or could not be: only then is the record deleted. If the process is killed
  /// before, the next run finds by it that the object is complete, and sends nothing.
  package func close() {
    journal?.close(keeps: keepsRecord.withLock { $0 })
  }

  package func run() async throws(Failure) -> UploadResult {
    do throws(Failure) {
      let result = try await upload()
      job.source.wasPublished()
      return result
    } catch {
      await endStream()
      throw error
    }
  }

  /// Returns once a command that was still running has ended: the process must not leave it behind.
  private func endStream() async {
    if case .stream(let stream) = job.source { await stream.stop(in: world) }
  }

  private func upload() async throws(Failure) -> UploadResult {
    try job.source.check()
    try await openJournal()
    if let recorded = journal?.found?.header, recorded.source.size == job.source.size { keepCut(recorded.partSize) }
    var isKept = false
    var isDone = false
    defer { if !isDone { journal?.close(keeps: isKept) } }
    var settings = job.settings(plan: plan, signsPayload: client.signsPayload)
    settings.hasRecord = journal?.found != nil
    settings.inspects = !asked.isEmpty
    var run = UploadRun(job.scheduling(plan, seed: UInt64(world.random() * 0x1p52)), settings)
    defer {
      inbox.finish()
      tasks.cancelAll()
      known.withLock { $0.neighbours }?.cancel()
    }
    if case .file(let file) = job.source, file.size > 0, !file.canBeMapped {
      world.log(1, "the file cannot be mapped into memory; it is read in pieces")
    }
    if case .stream(let stream) = job.source {
      stream.onFailure { [inbox] in inbox.yield(.of(Self.object, .readFailed($0))) }
    }
    if run[Self.object]?.isPut != true {
      client.transport.prepare(for: client.signer.origin)
      look()
    }
    var orders = run.begin(at: world.uptime())
    var events = events.makeAsyncIterator()
    while true {
      show(run)
      if let outcome = carryOut(orders, &run), let machine = run[Self.object] {
        isKept = outcome.isKept || !machine.abandoned.isEmpty || (outcome.isFailure && machine.leavesOldRecord)
        let result = try result(outcome, machine)
        await endLookAround()
        isDone = true
        keepsRecord.withLock { $0 = isKept }
        return result
      }
      guard let event = await events.next() else {
        isKept = true
        throw unfinished(run)
      }
      note(event)
      // No copy of the machine may be alive here: changing one of 10,000 parts would copy them all.
      orders = run.handle(event, at: world.uptime())
    }
  }

  private func show(_ run: UploadRun) {
    guard let machine = run[Self.object] else { return }
    if !job.source.isStream { cut(by: machine.settings.plan) }
    progress.show(machine.activity(run.scheduler))
    progress.keep(machine.kept)
  }

  /// Nil while the upload is under way.
  private func carryOut(_ orders: [UploadRun.Order], _ run: inout UploadRun) -> UploadMachine.Outcome? {
    var (orders, done) = (orders, 0)
    while done < orders.count, let machine = run[Self.object] {
      let action = orders[done].action
      done += 1
      switch action {
      case .finish(let outcome): return outcome
      case .adopt(let id):
        started(id)
        orders += run.handle(.of(Self.object, .recorded(adopt(id, machine))), at: world.uptime())
      default: perform(action, machine)
      }
    }
    return nil
  }

  /// Only one run at a time uploads to an object; a second one waits, or ends.
  private func openJournal() async throws(Failure) {
    guard let journal else { return }
    let start = world.uptime()
    var hasSaid = false
    while try !journal.open() {
      let who = journal.holder.map { " (process \($0))" } ?? ""
      if let interruption = interruption.withLock({ $0 }) { throw interruption.at(job.place) }
      guard let patience = job.lockPatience, world.uptime() - start < patience else {
        throw Failure(
          .locked, "another run of s3up is uploading to this object\(who)",
          remedy: "wait for it to end, or use \(.lockPatience)"
        ).at(job.place)
      }
      progress.show(.waitingForRun)
      if !hasSaid { tell(.warning("waits for another run of s3up that is uploading to this object\(who)")) }
      hasSaid = true
      guard (try? await world.sleep(.milliseconds(250))) != nil else { throw Failure(.interrupted, "interrupted") }
    }
  }

  private func adopt(_ uploadID: String, _ machine: UploadMachine) -> Bool {
    guard let journal else { return false }
    if let found = journal.found, found.header.source == job.source.identity,
      found.header.uploadID.utf8.elementsEqual(uploadID.utf8)
    {
      return journal.resume()
    }
    return journal.begin(
      uploadID, job: job, partSize: plan.partSize, form: machine.form, receipts: machine.receipts.compactMap(\.self),
      created: finisher.begun ?? world.now())
  }

  private func cut(by plan: UploadPlan) {
    guard self.plan != plan else { return }
    planned.withLock { $0 = plan }
    progress.plan(parts: plan.partCount)
  }

  /// A recorded upload is resumed with its own part size, unless another was requested.
  private func keepCut(_ partSize: Int64) {
    guard job.partSize == nil, !job.source.isStream, !plan.isSingle, let size = job.source.size,
      let own = try? UploadPlan(size: size, partSize: partSize), !own.isSingle
    else { return }
    cut(by: own)
  }

  private func perform(_ action: UploadMachine.Action, _ machine: UploadMachine) {
    let uploadID = machine.uploadID ?? ""
    switch action {
    case .find: begin { await self.find() }
    case .listParts(let id): begin { await self.listParts(id) }
    case .verify(let part): begin(.source) { await self.verify(part) }
    case .read: begin(.source) { await self.read() }
    case .confirm: begin { await self.confirm() }
    case .check: begin { await self.check() }
    case .create(let form):
      // What was confirmed belongs to an upload that is gone, and nothing of it is running any more.
      progress.reset()
      begin { await self.create(form) }
    case .send(let part, let form, _, let fresh):
      let now = world.uptime()
      sending.withLock { $0 = $0 ?? (now, now) }
      begin(.part(.init(part: part))) { await self.send(part, form, uploadID: uploadID, fresh: fresh) }
    case .sendCopy(let part, let form, let fresh):
      world.log(1, "part \(part) would take longer than a second try; it is also sent on another connection")
      begin(.part(.init(part: part, isCopy: true))) {
        await self.send(part, form, uploadID: uploadID, fresh: fresh, isCopy: true)
      }
    case .cancelPart(let part): tasks.cancel(part) { self.isSent($0) }
    case .put(let form, _, let fresh):
      begin(.source) { await self.put(form, fresh: fresh) }
    case .complete:
      let receipts = machine.receipts.compactMap(\.self)
      begin { await self.complete(receipts, uploadID: uploadID) }
    case .head(let mustBeOurs): begin { await self.head(mustBeOurs: mustBeOurs) }
    case .inspect: begin { await self.inspect() }
    case .cancelTransfers:
      tasks.cancelTransfers()
      if case .stream(let stream) = job.source { Task { [world] in await stream.stop(in: world) } }
    case .abort(let id): begin { await self.abort(id) }
    case .listAfterAbort(let id): begin { await self.listAgain(id) }
    case .listAfterLoss: begin { await self.listAgain(uploadID) }
    case .wait(let until): after(until - world.uptime()) { $0.yield(.tick) }
    case .say(let notice): heed(notice)
    case .adopt, .finish: break
    }
  }

  /// All of it is in the kernel, which sends it even if the connection is closed: its answer tells the part's ETag,
  /// which on some stores differs for each copy.
  private func isSent(_ transfer: UploadProgress.Transfer) -> Bool {
    guard let gone = progress.moved(transfer), let body = try? body(of: transfer.part) else { return false }
    return gone >= body.length
  }

  private func begin(_ role: Tasks.Role = .other, _ work: @escaping @Sendable () async -> UploadMachine.Event) {
    tasks.begin(role) { [inbox] in inbox.yield(.of(Self.object, await work())) }
  }

  private func after(
    _ wait: Duration, _ then: @escaping @Sendable (AsyncStream<UploadRun.Event>.Continuation) -> Void
  ) {
    tasks.begin { [world, inbox] in
      guard (try? await world.sleep(max(.zero, wait))) != nil else { return }
      then(inbox)
    }
  }

  /// Samples the line ten times a second, and more often while its speed is unknown. The next sample begins once this
  /// one was handled, so that none queue up behind a disk that is slow to write the record.
  private func look() {
    tasks.begin { [self] in
      guard (try? await world.sleep(isYoung ? LoopBody.firstLook : LoopBody.look)) != nil,
        let sample = client.transport.look()
      else { return }
      let moved = progress.moved.map { (Slot(object: Self.object, part: $0), $1) }
      inbox.yield(.sampled(sample, moved: Dictionary(uniqueKeysWithValues: moved)))
    }
  }

  private var isYoung: Bool { sending.withLock { $0.map { world.uptime() - $0.from < .seconds(1) } ?? true } }

  private func note(_ event: UploadRun.Event) {
    if case .interrupted(let failure) = event { after(grace(after: failure)) { $0.finish() } }
    if case .sampled = event { look() }
    if case .of(_, .created(let id, _)) = event { started(id) }
    guard case .of(_, .partDone(let receipt)) = event else { return }
    let now = world.uptime()
    sending.withLock { $0?.to = now }
    // Another upload may still need the bytes of a part that failed, but not those of one that arrived.
    if case .stream(let stream) = job.source {
      stream.release(receipt.number)
      if let warning = stream.warning(after: receipt.number) { tell(.warning(warning)) }
    }
  }

  private func started(_ uploadID: String) {
    lookAround(except: uploadID)
    let isKnown = !job.source.isStream
    tell(
      .started(
        uploadID: uploadID, size: job.source.size, parts: isKnown ? plan.partCount : nil, partSize: plan.partSize))
  }

  func heed(_ notice: UploadMachine.Notice) {
    tell(UploadEvent(notice))
    switch notice {
    case .steppedDown(let from, let to, _): learn(from, to)
    case .startsAnew, .retry, .leftBehind, .leftAlone, .resumes, .paced, .waitsForQuiet, .passedBy: break
    }
  }

  private func result(_ outcome: UploadMachine.Outcome, _ machine: UploadMachine) throws(Failure) -> UploadResult {
    guard case .completed(let evidence) = outcome else {
      let cause = machine.cause ?? Failure(.local, "the upload ended without a reason")
      throw outcome.isKept ? kept(machine, cause) : leftBehind(machine, machine.abandoned.last, cause)
    }
    remember()
    return UploadResult(
      size: finisher.expected?.size ?? plan.size, parts: max(1, machine.receipts.count), object: finisher.known,
      sum: finisher.expected?.sum, evidence: evidence, bytesSent: progress.bytesSent,
      bytesResumed: machine.wasComplete ? plan.size : machine.kept.bytes, retries: machine.retries)
  }

  /// The time after an interruption was not enough to show that the upload is gone.
  private func unfinished(_ run: UploadRun) -> Failure {
    guard let machine = run[Self.object] else { return Failure(.local, "the upload ended without a result") }
    let cause = machine.cause ?? machine.interruption ?? Failure(.interrupted, "interrupted")
    let aborts = job.abortsOnInterrupt && cause.code == .interrupted
    if machine.isRecorded, !aborts, !job.source.isStream { return kept(machine, cause) }
    return leftBehind(machine, machine.ownUploadID ?? machine.abandoned.last, cause)
  }

  private func kept(_ machine: UploadMachine, _ failure: Failure) -> Failure {
    var failure = failure.at(job.place)
    failure.isResumable = true
    failure.place.uploadID = machine.uploadID
    let done = machine.receipts.count { $0 != nil }
    let known = "\(done) of \(machine.receipts.count) parts are at the store"
    failure.remedy = (failure.remedy.map { $0 + "; " } ?? "") + "run the same command again to resume: \(known)"
    return failure
  }

  private func leftBehind(_ machine: UploadMachine, _ uploadID: String?, _ failure: Failure) -> Failure {
    var failure = failure.at(job.place)
    // The run ended before it reached the recorded upload, which a later one can still resume.
    failure.isResumable = machine.leavesOldRecord && journal?.found != nil
    guard let id = uploadID else { return maybeBegun(machine, failure) }
    failure.place.uploadID = id
    failure.message += "; its parts could not be shown to be gone"
    failure.remedy = "abort the upload: \(run: job.abort(id))"
    return failure
  }

  /// A create whose outcome is unknown may have left an upload. It has no parts, and looks like one that another
  /// machine has just begun, so a person has to tell them apart.
  private func maybeBegun(_ machine: UploadMachine, _ failure: Failure) -> Failure {
    guard machine.createWasLost || machine.isCreating, known.withLock({ $0.own.isEmpty }) else { return failure }
    var failure = failure
    failure.message += "; an upload without parts may be left, whose id did not arrive"
    failure.remedy =
      (failure.remedy.map { $0 + "; " } ?? "")
      + "\(run: .listUploads(bucket: job.bucket, key: job.key)) lists them"
    return failure
  }
}
