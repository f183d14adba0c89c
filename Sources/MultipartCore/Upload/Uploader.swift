/// Does what the machine says: one upload of one file, from the first request to the proof.
package final class Uploader: Sendable {
  let job: UploadJob
  let client: S3Client
  let world: World
  let sender: BodySender
  package let plan: UploadPlan
  package let progress: UploadProgress
  private let memory: StoreMemory?
  /// What is to be remembered of the store once the upload has succeeded.
  private let lesson = Locked<ChecksumForm?>(nil)
  let tell: @Sendable (UploadNews) -> Void
  private let events: AsyncStream<UploadMachine.Event>
  private let inbox: AsyncStream<UploadMachine.Event>.Continuation
  let finisher: Finisher

  /// `memory` is where the lesson goes that a store does not verify a checksum.
  package init(
    job: UploadJob, client: S3Client, world: World, memory: StoreMemory? = nil,
    tell: @escaping @Sendable (UploadNews) -> Void = { _ in }
  ) throws(Failure) {
    plan = try UploadPlan(size: job.file.size, partSize: job.partSize)
    self.job = job
    self.client = client
    self.world = world
    self.memory = memory
    self.tell = tell
    progress = UploadProgress(total: job.file.size, parts: plan.partCount)
    sender = BodySender(client: client, job: job, progress: progress)
    finisher = Finisher(
      client: client, bucket: job.bucket, key: job.key, conditions: job.conditions, customerKey: job.customerKey,
      common: job.common)
    (events, inbox) = AsyncStream.makeStream()
  }

  /// Stops the upload: what is under way is cancelled, and the upload aborted. May be called from anywhere, at any time.
  package func interrupt(_ failure: Failure = Failure(.interrupted, "interrupted")) {
    inbox.yield(.interrupted(failure))
  }

  package func run() async throws(Failure) -> UploadResult {
    try job.file.checkUnchanged()
    var machine = UploadMachine(
      job.settings(
        plan: plan, signsPayload: client.signsPayload, seed: UInt64(world.random() * 0x1p52)))
    var tasks = Tasks()
    defer { tasks.cancelAll() }
    inbox.yield(.start)
    for await event in events {
      tasks.forget(event)
      note(event)
      if case .interrupted = event {
        // The store has 4 s to end the upload; then the run ends, whatever is still out.
        tasks.add(after(.seconds(4)) { $0.finish() })
      }
      for action in machine.handle(event, at: world.uptime()) {
        if case .finish(let outcome) = action { return try result(outcome, machine) }
        perform(action, machine, &tasks)
      }
    }
    throw unfinished(machine)
  }

  private func perform(_ action: UploadMachine.Action, _ machine: UploadMachine, _ tasks: inout Tasks) {
    let uploadID = machine.uploadID ?? ""
    switch action {
    case .check: tasks.add(event { await self.check() })
    case .create(let form): tasks.add(event { await self.create(form) })
    case .send(let part, let form, _, let fresh):
      tasks.parts[part] = event { await self.send(part, form, uploadID: uploadID, fresh: fresh) }
    case .put(let form, _, let fresh):
      tasks.parts[0] = event { await self.put(form, fresh: fresh) }
    case .complete:
      let receipts = machine.receipts.compactMap(\.self)
      tasks.add(event { await self.complete(receipts, uploadID: uploadID) })
    case .head: tasks.add(event { await self.head() })
    case .cancelTransfers: for task in tasks.parts.values { task.cancel() }
    case .abort: tasks.add(event { await self.abort(uploadID) })
    case .listAfterAbort: tasks.add(event { await self.listAfterAbort(uploadID) })
    case .wait(let until):
      tasks.add(after(until - world.uptime()) { $0.yield(.tick) })
    case .say(let notice): heed(notice)
    case .finish: break
    }
  }

  private func event(_ work: @escaping @Sendable () async -> UploadMachine.Event) -> Task<Void, Never> {
    Task { inbox.yield(await work()) }
  }

  private func after(
    _ wait: Duration, _ then: @escaping @Sendable (AsyncStream<UploadMachine.Event>.Continuation) -> Void
  ) -> Task<Void, Never> {
    Task {
      guard (try? await world.sleep(max(.zero, wait))) != nil else { return }
      then(inbox)
    }
  }

  private func note(_ event: UploadMachine.Event) {
    if case .created(let id) = event { tell(.started(uploadID: id, plan: plan)) }
  }

  func heed(_ notice: UploadMachine.Notice) {
    tell(.notice(notice))
    switch notice {
    case .steppedDown(let from, let to, _): learn(from, to)
    case .startsAnew: progress.reset()
    case .retry, .leftBehind: break
    }
  }

  /// Where the payload is signed, what was refused or not verified is CRC64NVME; whether MD5 would be is not known.
  ///
  /// Kept only when the upload succeeds: a store that refuses something else in words that name nothing ("a header you
  /// sent is not implemented") refuses each lesser checksum in turn, and must not be believed to verify none.
  private func learn(_ from: ChecksumForm, _ to: ChecksumForm) {
    guard memory != nil, job.checksum == nil else { return }
    lesson.withLock { $0 = from == .md5 ? to : ChecksumForm.md5 }
  }

  private func remember() {
    guard let memory, let lesson = lesson.withLock({ $0 }) else { return }
    do throws(Failure) {
      try memory.remember(lesson, for: client.signer.origin, now: world.now())
    } catch {
      world.log(1, "what was learnt of the store cannot be kept: \(error.message)")
    }
  }

  private func result(_ outcome: UploadMachine.Outcome, _ machine: UploadMachine) throws(Failure) -> UploadResult {
    guard case .completed(let evidence) = outcome else {
      throw leftBehind(machine, machine.cause ?? Failure(.local, "the upload ended without a reason"))
    }
    remember()
    return UploadResult(
      size: job.file.size, parts: plan.partCount, object: finisher.known, sum: finisher.expected?.sum,
      evidence: evidence, bytesSent: progress.bytesSent, retries: machine.retries)
  }

  /// The time after an interruption was not enough to show that the upload is gone.
  private func unfinished(_ machine: UploadMachine) -> Failure {
    var ended = machine
    if let id = machine.uploadID { ended.abandoned.append(id) }
    return leftBehind(ended, machine.cause ?? Failure(.interrupted, "interrupted"))
  }

  private func leftBehind(_ machine: UploadMachine, _ failure: Failure) -> Failure {
    var failure = failure.at(job.place)
    guard let id = machine.abandoned.last else { return failure }
    failure.place.uploadID = id
    failure.message += "; its parts could not be shown to be gone"
    failure.hint = "end the upload: s3up abort s3://\(job.bucket)/\(job.key) --upload-id \(id)"
    return failure
  }

  /// The tasks of the requests that are out. Parts can be cancelled one by one; the rest only at the end.
  struct Tasks {
    var parts: [Int: Task<Void, Never>] = [:]
    private var others: [Task<Void, Never>] = []

    mutating func add(_ task: Task<Void, Never>) {
      if others.count >= 64 { others.removeFirst(32) }
      others.append(task)
    }

    mutating func forget(_ event: UploadMachine.Event) {
      switch event {
      case .partDone(let receipt): parts[receipt.number] = nil
      case .partFailed(let number, _): parts[number] = nil
      case .putDone, .putFailed: parts[0] = nil
      default: break
      }
    }

    func cancelAll() {
      for task in parts.values { task.cancel() }
      for task in others { task.cancel() }
    }
  }
}
