import MultipartBasics

/// Performs the machine's actions for the download of one object.
final class Downloader: Performer {
  let client: S3Client
  let world: World
  let address: ObjectAddress
  let options: DownloadOptions
  let name: String
  /// What a batch knows about the object and wants from its download.
  let wanted: WantedFile?
  let stateFolder: String?
  let run: RunDriver<Downloader>
  let tell: @Sendable (DownloadEvent) -> Void
  let tasks = Tasks()
  let claims: RangeClaims
  private let seat = Locked((object: 0, since: Duration.zero))
  /// When the object started, as an uptime.
  var began: Duration { seat.withLock { $0.since } }
  /// The size of the ranges, unless the line asks for smaller ones.
  let rangeSize: Int64
  /// What earlier runs have learned about the line.
  private let line: LineClass?
  let etagMayBeMD5: Bool
  /// How many ranges may be in memory; nil: they go into a file.
  let ahead: Int?
  let kind: Kind

  enum Kind {
    case file(DownloadTarget)
    case stream(StreamTarget)

    var isStream: Bool { if case .stream = self { true } else { false } }

    func rangeSize(_ options: DownloadOptions) -> Int64 {
      options.partSize ?? (isStream ? DownloadOptions.orderedRangeSize : DownloadOptions.rangeSize)
    }
  }

  /// The receiver of bytes in order.
  enum StreamTarget {
    case descriptor(Int32)
    /// A named pipe or a device.
    case path(FilePath)
    case command([[UInt8]], errors: Int32?)
    case feed(ByteFeed)
  }

  /// What is known once the store has answered, and the target.
  struct Known: Sendable {
    var object: ObjectInfo?
    var plan = RangePlan(size: 0, rangeSize: 1)
    var algorithms: Set<ChecksumAlgorithm> = []
    var proof = ByteProof()
    var part: PartFile?
    /// The identity of the file once it has its name.
    var published: FileIdentity?
    var record: DownloadRecord?
    /// Whether the part file has what another run has recorded, and this one cannot: it stays.
    var sparesPart = false
    /// Whether it comes in one request, whose answer contains what a HEAD would have returned.
    var isListed = false
    /// Whether requests name the version that the HEAD has shown.
    var namesVersion = true
    /// The checksums of the bytes of that request.
    var body: StreamSums?
    var ordered: OrderedOutput?
    /// The command that receives the bytes, until it has succeeded.
    var command: ProducerProcess?
    var sums: [Int: [ChecksumAlgorithm: Checksum]] = [:]
    var beginnings: [Int: Beginning] = [:]
    var result: DownloadedObject?

    /// What an earlier run, or an answer that broke off, has left of a range.
    struct Beginning: Sendable {
      var length: Int64
      var sums: [ChecksumAlgorithm: Checksum]
      /// The bytes themselves, if they are not in the part file.
      var bytes: [UInt8] = []
      /// How much of it is of an earlier run.
      var resumed: Int64
    }
  }
  let known = Locked(Known())
  private let counters: Locked<TransferProgress>
  var progress: TransferProgress { counters.withLock { $0 } }

  /// How many ranges that are written in order are in memory at most, and no more bytes than these unless two ranges
  /// have more.
  private static let mostAhead = 12
  private static let mostInMemory: Int64 = 64 << 20

  convenience init(
    _ store: Store, key: String, _ output: DownloadOutput, _ options: DownloadOptions,
    tell: @escaping @Sendable (DownloadEvent) -> Void
  ) throws(Failure) {
    try store.check(options)
    let kind: Kind
    switch output.kind {
    case .descriptor(let descriptor, let name):
      try DownloadTarget.requireWritable(descriptor, name)
      kind = .stream(.descriptor(descriptor))
    case .command(let words, let errors): kind = .stream(.command(words, errors: errors))
    case .feed(let feed): kind = .stream(.feed(feed))
    case .file(let path):
      switch try DownloadTarget.look(at: path) {
      case .file(let target): kind = .file(target)
      case .descriptor(let number): kind = .stream(.descriptor(number))
      case .stream: kind = .stream(.path(path))
      }
    }
    var settings = store.settings.transfer.scheduling(
      hedges: options.hedges, isOne: true, isStream: kind.isStream, line: store.lessons()?.line, world: store.world)
    settings.partSize = kind.rangeSize(options)
    let run = RunDriver<Downloader>(
      settings, transport: store.client.transport, origin: store.client.signer.origin, world: store.world)
    self.init(store, key: key, kind, name: output.name, options, run, tell: tell)
  }

  /// The options have been checked.
  init(
    _ store: Store, key: String, _ kind: Kind, name: String, _ options: DownloadOptions, _ run: RunDriver<Downloader>,
    wanted: WantedFile? = nil, tell: @escaping @Sendable (DownloadEvent) -> Void
  ) {
    (client, world) = (store.client, store.world)
    address = store.address(key, customerKey: options.customerKey)
    (self.kind, self.name, self.options) = (kind, name, options)
    (self.run, self.wanted) = (run, wanted)
    self.tell = world.tracing(tell)
    rangeSize = kind.rangeSize(options)
    claims = RangeClaims(isOneRange: wanted?.isOneRequest == true)
    line = if let wanted { wanted.line } else { store.lessons()?.line }
    ahead = kind.isStream ? max(2, min(Self.mostAhead, Int(Self.mostInMemory / rangeSize))) : nil
    etagMayBeMD5 = store.etagMayBeMD5
    stateFolder = store.options.stateFolder(store.world.environment)
    counters = Locked(TransferProgress(total: wanted?.object.size, parts: nil))
  }

  /// The size of the ranges, which depends on the line: where losses limit each connection, many are needed, and none is
  /// added while the ranges that have begun would take too long.
  func rangeSize(_ start: Int64, _ length: Int64, recorded: (RangePlan) -> Int64?) -> Int64 {
    guard options.partSize == nil, !kind.isStream, length > DownloadOptions.leastRangeSize else { return rangeSize }
    if let recorded = recorded(RangePlan(start: start, size: length, rangeSize: rangeSize)) { return recorded }
    switch line {
    case .buffered?, .slow?, .lossy?: return DownloadOptions.leastRangeSize
    case .fast?, .fastest?: return rangeSize
    case .modest?, .usual?, nil:
      guard let trip = client.transport.look()?.leastTrip, trip >= UploadJob.longTrip else { return rangeSize }
      return trip >= ObjectPace.longLine ? DownloadOptions.farRangeSize(length) : DownloadOptions.orderedRangeSize
    }
  }

  var place: Place { Place(file: name.isEmpty ? nil : name, bucket: address.bucket, key: address.key) }

  /// The target, once it is identical to the object.
  var file: FileIdentity? {
    if let published = known.withLock({ $0.published }) { return published }
    return if case .file(let target) = kind { target.found } else { nil }
  }

  func runAlone() async throws(Failure) -> DownloadedObject {
    let ended = Locked<Result<DownloadedObject, Failure>?>(nil)
    await run.run { [self] door in
      if await door.enter() { await door.offer(self) }
    } ended: { _, result in
      ended.withLock { $0 = result }
    }
    guard let result = ended.withLock({ $0 }) else {
      throw (run.interruption ?? .interrupted).at(place)
    }
    do throws(Failure) { return try result.get() } catch { throw error.at(place) }
  }

  // MARK: - Performer

  func prepare() async throws(Failure) -> Entrant<DownloadMachine> {
    Entrant(
      machine: DownloadMachine(
        DownloadMachine.Settings(rangeSize: rangeSize, ahead: ahead, isListed: wanted?.isOneRequest == true)),
      partSize: rangeSize, isOneRequest: wanted?.isOneRequest == true)
  }

  func begin(as object: Int) { seat.withLock { $0.object = object } }

  func perform(
    _ action: DownloadMachine.Action, for machine: DownloadMachine
  ) -> Performed<DownloadMachine.Event, DownloadedObject> {
    switch action {
    case .head:
      start()
      begin(.step) { await self.head() }
    case .open:
      start()
      begin(.step) { await self.open() }
    case .get(let range, let fresh, let isCopy):
      run.sends()
      begin(.part(.init(part: range, isCopy: isCopy))) { await self.get(range, fresh: fresh, isCopy: isCopy) }
    case .cancel(let range): tasks.cancel(range) { _ in false }
    case .prove: begin(.step) { await self.world.timed("proof", at: self.place) { await self.prove() } }
    case .publish: begin { await self.world.timed("publishing", at: self.place) { await self.publish() } }
    case .say(let event):
      if event == .reloads {
        known.withLock { ($0.sums, $0.beginnings) = ([:], [:]) }
        claims.forgetAll()
        progress.reset()
        progress.keep((0, 0))
      }
      tell(event)
    case .finish(let outcome): return .ended(end(outcome, machine))
    }
    return .begun
  }

  /// Starts the object, because its turn has come.
  private func start() { seat.withLock { if $0.since == .zero { $0.since = world.uptime() } } }

  private func begin(_ role: Tasks.Role = .other, _ work: @escaping @Sendable () async -> DownloadMachine.Event) {
    tasks.begin(role) { [self] in post(await work()) }
  }

  func post(_ event: DownloadMachine.Event) {
    let object = seat.withLock { $0.object }
    run.post(.of(object, event))
  }

  func note(_ event: DownloadMachine.Event) {
    if case .rangeDone = event { run.arrived() }
  }

  func show(_ machine: DownloadMachine, _ retries: Retries) {
    let activity: UploadActivity =
      switch machine.state {
      case _ where retries.next != nil && progress.connections == 0:
        retries.next.map { .waitingToRetry(why: $0.why, until: $0.until) } ?? .starting
      case .idle, .asking, .opening: .starting
      case .loading: retries.activity(.receiving)
      case .proving, .publishing: .checking
      case .stopping, .done: .stopping
      }
    progress.show(activity)
  }

  func paced(_ change: Pace.Change) { tell(.connections(change.connections, why: change.why)) }

  var moved: [Int: Int64] { progress.moved }
  var activity: UploadActivity { client.activity(of: progress) }

  func totals(of object: DownloadedObject) -> TraceTotals {
    TraceTotals(parts: object.parts, size: object.size, resumed: object.bytesResumed, evidence: object.evidence)
  }

  func stop() {
    progress.stop()
    known.withLock { $0.ordered }?.stop()
    tasks.cancelTransfers()
  }

  func endUnfinished(_ machine: DownloadMachine) -> Failure {
    tasks.cancelAll()
    kill()
    let failure = run.interruption ?? .interrupted
    return leave(failure)
  }

  /// Whether a command must end before it sees the end of its input, which it would take for that of the object. For
  /// this it has its own group, and our end of the pipe stays open.
  var mustSettle: Bool { known.withLock { $0.command } != nil }
  func settle(_ result: Result<DownloadedObject, Failure>) async {
    await known.withLock { $0.command }?.terminate(grace: Self.grace, in: world)
  }
  private static let grace = Duration.seconds(2)

  func kill() { known.withLock { $0.command }?.kill() }

  func count(total: Int64, ranges: Int) { counters.withLock { $0 = TransferProgress(total: total, parts: ranges) } }

  // MARK: - The end

  private func end(
    _ outcome: DownloadMachine.Outcome, _ machine: DownloadMachine
  ) -> Result<DownloadedObject, Failure> {
    tasks.cancelAll()
    if case .failed = outcome {
      return .failure(leave(machine.failure ?? .interrupted))
    }
    known.withLock { $0.record }?.close(keeps: false)
    guard var result = known.withLock({ $0.result }) else {
      return .failure(Failure(.local, "the download has no result"))
    }
    result.retries = machine.retries
    result.bytesReceived = progress.bytesSent
    result.bytesResumed = progress.bytesResumed
    return .success(result)
  }

  /// Adds to the failure whether the next run can resume; otherwise nothing is left.
  private func leave(_ failure: Failure) -> Failure {
    var failure = failure
    let (part, record, isSpared) = known.withLock { ($0.part, $0.record, $0.sparesPart) }
    // If the target is in the way, or the store refuses one of the ranges, those on disk still belong to the object.
    let mayPass = Failure.Code.passing.union([.precondition, .refused]).contains(failure.code)
    // A part file that was not opened may be another run's: the record stays as it was found.
    let keeps = record?.hasRanges == true && (part.map { mayPass && $0.isThere } ?? true)
    if !keeps, !isSpared { part?.remove() }
    record?.close(keeps: keeps)
    failure.isResumable = keeps
    // Before the object was looked at, nothing of an earlier run was touched.
    let left = mayPass && known.withLock { $0.object == nil } ? earlierPart : nil
    if left != nil { failure.isResumable = true }
    if failure.isResumable, failure.code == .interrupted {
      failure.remedy = failure.remedy ?? "run the same command again to resume"
    } else if keeps {
      failure.reassure("what has arrived is kept for the next run")
    }
    if let left { failure.reassure("what an earlier run has downloaded is kept in \(SafeText.oneLine(left.text))") }
    if case .file = kind, [.sourceChanged, .dataMismatch].contains(failure.code) {
      failure.reassure("nothing was written under the target's name")
    }
    return failure
  }
}

extension DownloadMachine {
  func standing(isTransferring: Bool) -> Bool { if case .loading = state { isTransferring } else { false } }
}
