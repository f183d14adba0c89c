import MultipartBasics

/// Performs the machine's actions for one object of a run, from the first request to the proof.
final class Uploader: Performer {
  let job: UploadJob
  let run: RunDriver<Uploader>
  let client: S3Client
  let world: World
  let sender: BodySender
  /// How the source is divided; a resumed upload keeps its own part size.
  var plan: UploadPlan { state.withLock { $0.plan } }
  let progress: TransferProgress
  let memory: StoreMemory?
  let tell: @Sendable (UploadEvent) -> Void
  let tasks = Tasks()
  let finisher: Finisher
  let asked: RequestedSettings
  let journal: UploadJournal?

  /// What is known about the object besides the state of its machine. A task of the object writes it before it posts
  /// its event.
  struct State: Sendable {
    /// The object's number in the run, and when it started; zero before it is offered.
    var number = 0
    var since = Duration.zero
    var plan: UploadPlan
    /// What to remember about the store once the upload has succeeded.
    var lesson: ChecksumForm?
    var hasSaidUnverified = false
    /// Which answers of this run have confirmed the requested encryption.
    var encryptionWord = EncryptionWord.none
    /// The answer to create has named another encryption than the requested one: no part is sent.
    var encryptionRefusal: Failure?
    /// If an upload is left behind although the object is complete, its record stays, to name what has to be aborted.
    var keepsRecord = false
    /// The checksum of the whole source, if it was computed.
    var sha256: Checksum?
    /// The object that was found to be identical to the source.
    var same: SameObject?
    /// The parts of the upload that is examined or resumed, as the store listed them.
    var parts: [Int: ListParts.Part] = [:]
    /// What the parts of that upload carry.
    var form: ChecksumForm?
    /// Unrecorded uploads, by ID.
    var foreign: [String: ForeignUpload] = [:]
    /// Uploads that this run created or adopted.
    var own: Set<String> = []
    /// A create was sent, and is not answered.
    var createIsOut = false
    /// The store did not list its uploads, so it is not asked again.
    var lacksList = false
    /// The task that looks for other uploads while parts are sent.
    var neighbours: Task<Void, Never>?
  }
  let state: Locked<State>
  /// The SHA-256 of the whole source, if it was computed.
  var sha256: Checksum? { state.withLock { $0.sha256 } }

  /// `memory` remembers that a store does not verify a checksum. Without a run the uploader has one of its own.
  init(
    job: UploadJob, client: S3Client, world: World, memory: StoreMemory? = nil, book: RecordBook? = nil,
    run: RunDriver<Uploader>? = nil, mayHaveRecord: Bool = true,
    tell: @escaping @Sendable (UploadEvent) -> Void = { _ in }
  ) throws(Failure) {
    let plan = try job.plan()
    state = Locked(State(plan: plan))
    self.job = job
    self.run =
      run
      ?? RunDriver<Uploader>(
        job.scheduling(plan, seed: UInt64(world.random() * 0x1p52), now: world.now()), transport: client.transport,
        origin: client.signer.origin, world: world)
    self.client = client
    self.world = world
    self.memory = memory
    self.tell = world.tracing(tell)
    progress = TransferProgress(
      total: job.source.size, parts: job.source.isStream ? nil : plan.partCount)
    asked = try job.requested()
    sender = BodySender(client: client, job: job, asked: asked, progress: progress)
    finisher = Finisher(
      client: client, job.address, conditions: job.conditions, requested: asked,
      isOpen: job.ticket?.signedSums.isEmpty ?? false)
    let target = RecordTarget(origin: client.signer.origin, bucket: job.bucket, key: job.key)
    if let book, !plan.isSingle || job.source.isStream || (mayHaveRecord && book.mayHave(target)) {
      journal = UploadJournal(book: book, target: target, digest: try job.digest()) { tell(.warning($0)) }
    } else {
      journal = nil
    }
  }

  /// The current activity; requests that wait for credentials count as sent.
  var activity: UploadActivity { client.activity(of: progress) }

  /// Deletes the record; called after the result was reported, or could not be. If the process is killed before that,
  /// the next run sees from the record that the object is complete, and sends nothing.
  func close() {
    journal?.close(keeps: state.withLock { $0.keepsRecord })
  }

  /// Runs this upload alone.
  func run() async throws(Failure) -> UploadedObject {
    let ended = Locked<Result<UploadedObject, Failure>?>(nil)
    await run.run { [self] door in
      if await door.enter() { await door.offer(self) } else { await endStream() }
    } ended: { _, result in
      ended.withLock { $0 = result }
    }
    guard let result = ended.withLock({ $0 }) else {
      throw (run.interruption ?? .interrupted).at(job.place)
    }
    return try result.get()
  }

  /// Whether `prepare` may wait for another run.
  var mayWait: Bool { journal != nil && job.waitForOtherUpload != nil }

  /// When the object started, as an uptime.
  var began: Duration { state.withLock { $0.since } }

  /// The number of tasks in progress for the object and its run.
  var taskCount: Int { tasks.count + run.pendingTimers }

  /// Stops the run.
  func interrupt() { run.interrupt() }

  /// Checks the source, takes the destination's lock and reads the record of an earlier run. Call it once, before
  /// anything else.
  func prepare() async throws(Failure) -> Entrant<UploadMachine> {
    do throws(Failure) {
      try job.source.check()
      try await openJournal()
    } catch {
      await endStream()
      throw error
    }
    if let recorded = journal?.found?.header, recorded.source.size == job.source.size { keepCut(recorded.partSize) }
    if case .file(let file) = job.source, file.size > 0, !job.isReadWhole, !file.canBeMapped {
      world.log(1, "the file cannot be mapped into memory; it is read in pieces")
    }
    var settings = job.settings(plan: plan, signsPayload: client.signsPayload)
    settings.hasRecord = journal?.found != nil
    settings.inspects = !asked.isEmpty
    return Entrant(
      machine: UploadMachine(settings), partSize: plan.partSize, isOneRequest: plan.isSingle && !settings.isStream)
  }

  /// Binds the events to this object from now on.
  func begin(as object: Int) {
    let now = world.uptime()
    state.withLock { ($0.number, $0.since) = (object, now) }
    guard case .stream(let stream) = job.source else { return }
    stream.onFailure { [run] in run.post(.of(object, .readFailed($0))) }
  }

  /// Waits for a command that is still running to end: the process must not leave it behind.
  private func endStream() async {
    if case .stream(let stream) = job.source { await stream.stop(in: world) }
  }

  func show(_ machine: UploadMachine, _ retries: Retries) {
    if !job.source.isStream { cut(by: machine.settings.plan) }
    progress.show(machine.activity(retries))
    progress.keep(machine.kept)
  }

  var moved: [Int: Int64] { progress.moved }
  var place: Place { job.place }

  func totals(of object: UploadedObject) -> TraceTotals {
    TraceTotals(parts: object.parts, size: object.size, resumed: object.bytesResumed, evidence: object.evidence)
  }

  func stop() { progress.stop() }

  func paced(_ change: Pace.Change) { tell(.connections(change.connections, why: change.why)) }

  /// The machine has finished. The record of a success stays until `close`.
  private func end(_ outcome: UploadMachine.Outcome, _ machine: UploadMachine) -> Result<UploadedObject, Failure> {
    let isKept =
      outcome.isKept || (outcome.leavesRecord && journal?.found != nil) || !machine.abandoned.isEmpty
      || (outcome.isFailure && machine.leavesOldRecord)
    tasks.cancelAll()
    do throws(Failure) {
      let result = try result(outcome, machine)
      state.withLock { $0.keepsRecord = isKept }
      job.source.wasPublished()
      return .success(result)
    } catch {
      journal?.close(keeps: isKept)
      return .failure(error)
    }
  }

  func endUnfinished(_ machine: UploadMachine) -> Failure {
    tasks.cancelAll()
    let failure = unfinished(machine)
    journal?.close(keeps: true)
    return failure
  }

  var mustSettle: Bool {
    job.source.isStream || state.withLock { $0.neighbours != nil }
  }

  func settle(_ result: Result<UploadedObject, Failure>) async {
    switch result {
    case .success: await endLookAround()
    case .failure: await endStream()
    }
    state.withLock { $0.neighbours }?.cancel()
  }

  /// Takes the lock, because only one run at a time may upload to an object; a second one waits, or ends.
  private func openJournal() async throws(Failure) {
    guard let journal else { return }
    let start = world.uptime()
    var hasSaid = false
    while try !journal.open() {
      let holder = journal.holder
      if let interruption = run.interruption { throw interruption.at(job.place) }
      guard let patience = job.waitForOtherUpload, world.uptime() - start < patience else {
        throw Failure(
          .locked, "another run is uploading to this object" + (holder.map { " (process \($0))" } ?? ""),
          remedy: "wait for it to end, or use \(.waitForOtherUpload)"
        ).at(job.place)
      }
      progress.show(.waitingForRun)
      if !hasSaid { tell(.waitsForRun(process: holder)) }
      hasSaid = true
      guard (try? await world.sleep(.milliseconds(250))) != nil else { throw Failure.interrupted }
    }
  }

  /// Adopts the upload; returns whether it is in a record from now on.
  private func adopt(_ uploadID: String, _ machine: UploadMachine) -> Bool {
    // A ticket is its own record.
    guard let journal else { return job.ticket != nil }
    if let found = journal.found, isOfThisSource(found),
      found.header.uploadID.utf8.elementsEqual(uploadID.utf8)
    {
      return journal.resume()
    }
    return journal.begin(
      uploadID, job: job, partSize: plan.partSize, form: machine.form, receipts: machine.receipts.compactMap(\.self),
      created: finisher.begun ?? world.now())
  }

  func cut(by plan: UploadPlan) {
    guard self.plan != plan else { return }
    state.withLock { $0.plan = plan }
    progress.plan(parts: plan.partCount)
  }

  /// Keeps the part size of a recorded upload, unless a different one was requested.
  private func keepCut(_ partSize: Int64) {
    guard job.partSize == nil, !job.source.isStream, !plan.isSingle, let size = job.source.size,
      let own = try? UploadPlan(size: size, partSize: partSize), !own.isSingle
    else { return }
    cut(by: own)
  }

  func perform(
    _ action: UploadMachine.Action, for machine: UploadMachine
  ) -> Performed<UploadMachine.Event, UploadedObject> {
    let uploadID = machine.uploadID ?? ""
    switch action {
    case .finish(let outcome): return .ended(end(outcome, machine))
    // Immediately, before a part of it is sent.
    case .adopt(let id):
      started(id)
      return .answered(.recorded(adopt(id, machine)))
    case .find: begin { await self.find() }
    case .listParts(let id): begin { await self.listParts(id) }
    case .verify(let part): begin(.step) { await self.timed("comparing", part) { await self.verify(part) } }
    case .read: begin(.step) { await self.timed("reading") { await self.read() } }
    case .confirm: begin { await self.confirm() }
    case .check: begin { await self.check() }
    case .create(let form):
      // The confirmed parts belong to an upload that is gone, and none of its requests is still running.
      progress.reset()
      begin { await self.create(form) }
    case .send(let part, let form, _, let fresh):
      run.sends()
      begin(.part(.init(part: part))) { await self.send(part, form, uploadID: uploadID, fresh: fresh) }
    case .sendCopy(let part, let form, let fresh):
      world.log(1, "part \(part) would take longer than a second try; also sending it on another connection")
      begin(.part(.init(part: part, isCopy: true))) {
        await self.send(part, form, uploadID: uploadID, fresh: fresh, isCopy: true)
      }
    case .cancelPart(let part): tasks.cancel(part) { self.isSent($0) }
    case .takeBack(let part): tasks.cancel(part) { _ in false }
    case .put(let form, _, let fresh):
      begin(.step) { await self.put(form, fresh: fresh) }
    case .complete:
      let receipts = machine.receipts.compactMap(\.self)
      begin { await self.complete(receipts, uploadID: uploadID) }
    case .head(let mustBeOurs): begin { await self.head(mustBeOurs: mustBeOurs) }
    case .inspect: begin { await self.inspect() }
    case .cancelTransfers:
      tasks.cancelTransfers()
      if case .stream(let stream) = job.source { Task { [world] in await stream.stop(in: world) } }
    case .cancelParts: tasks.cancelParts()
    case .release(let part): if case .stream(let stream) = job.source { stream.release(part) }
    case .abort(let id): begin { await self.abort(id) }
    case .listAfterAbort(let id): begin { await self.listAgain(id, afterAbort: true) }
    case .listAfterLoss: begin { await self.listAgain(uploadID, afterAbort: false) }
    case .say(let event): say(event)
    }
    return .begun
  }

  private func timed(
    _ what: String, _ part: Int? = nil, _ work: () async -> UploadMachine.Event
  ) async -> UploadMachine.Event {
    await world.timed(what, at: Place(key: job.key, part: part), work)
  }

  /// Whether all of it is in the kernel, which sends it even if the connection is closed: its answer contains the
  /// part's ETag, which on some stores differs for each copy.
  private func isSent(_ transfer: TransferProgress.Transfer) -> Bool {
    guard let gone = progress.moved(transfer), let body = try? body(of: transfer.part) else { return false }
    return gone >= body.length
  }

  private func begin(_ role: Tasks.Role = .other, _ work: @escaping @Sendable () async -> UploadMachine.Event) {
    let object = state.withLock { $0.number }
    tasks.begin(role) { [run] in run.post(.of(object, await work())) }
  }

  func note(_ event: UploadMachine.Event) {
    switch event {
    case .created(let id, _, _):
      state.withLock { $0.createIsOut = false }
      started(id)
    case .createFailed: state.withLock { $0.createIsOut = false }
    case .partDone(let receipt):
      run.arrived()
      if case .stream(let stream) = job.source, let warning = stream.warning(after: receipt.number) {
        tell(.warning(warning))
      }
    default: break
    }
  }

  func started(_ uploadID: String) {
    lookAround(except: uploadID)
    let isKnown = !job.source.isStream
    tell(
      .started(
        uploadID: uploadID, size: job.source.size, parts: isKnown ? plan.partCount : nil, partSize: plan.partSize))
  }

  func say(_ event: UploadEvent) {
    tell(event)
    if case .checksumChanged(let from, let to, _) = event { learn(from, to) }
  }
}
