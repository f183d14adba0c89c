import MultipartBasics
@testable import MultipartCore

/// A run of many objects against a model of a store, and then the same command again without a fault: pending requests,
/// used connections, and each object's end, all random by a seed.
struct SimMany {
  private enum Stage { case notBegun, preparing, sending, ending, ended }

  /// One object of the run, and what the store has of it.
  private struct Item {
    var plan: UploadPlan
    var stage = Stage.notBegun
    var outcome: UploadMachine.Outcome?
    /// Parts that are being sent or wait for a retry; 0 is the whole object.
    var underWay: Set<Int> = []
    var waiting: Set<Int> = []
    var unsent: Set<Int> = []
    var said: Set<String> = []
    // The store.
    var uploads: [String: Set<Int>] = [:]
    var lost: Set<String> = []
    var isThere = false
    // The record.
    var record: String?
  }

  private struct Out {
    var object: Int
    var action: UploadMachine.Action
    var isCancelled = false
  }

  let seed: UInt64
  private var dice: SimDice
  private var items: [Item] = []
  private var run: Run<UploadMachine>
  private var settings = RunSettings()
  private var out: [Out] = []
  private var timers: [Int] = []
  private var now = 0
  private var events = 0
  private var faults: Double
  private var isStopping = false
  private var created = 0
  private(set) var tally = SimTally()

  init(seed: UInt64) throws(Failure) {
    self.seed = seed
    dice = SimDice(seed: seed &* 0xA24B_AED4_963E_E407)
    let rates = [0, 0.02, 0.1, 0.3]
    faults = rates[dice.below(rates.count)]
    let count = dice.chance(0.1) ? 1 + dice.below(200) : 1 + dice.below(24)
    for _ in 0..<count {
      let parts = dice.chance(0.6) ? 1 : 2 + dice.below(dice.chance(0.1) ? 60 : 8)
      let size = Int64(parts) * S3Limits.smallestPart - Int64(dice.below(1 << 20))
      items.append(Item(plan: try UploadPlan(size: size, partSize: S3Limits.smallestPart)))
    }
    settings.concurrency = 1 + dice.below(16)
    if dice.chance(0.3) { settings.pace = Pace.Bounds(start: settings.concurrency, most: settings.concurrency * 2) }
    settings.buffers = dice.chance(0.5) ? .known : .possible
    settings.retry = RetryPolicy(tries: dice.chance(0.8) ? 10 : 2)
    settings.hedges = dice.chance(0.5)
    settings.seed = dice.word()
    settings.partSize = S3Limits.smallestPart
    run = Run(settings)
  }

  mutating func play() {
    let stopAt = dice.chance(0.3) ? 1 + dice.below(items.count * 8) : nil
    playOnce(stopAt: stopAt)
    guard tally.mistakes.isEmpty else { return }
    (faults, isStopping) = (0, false)
    playOnce(stopAt: nil)
    for (object, item) in items.enumerated() where tally.mistakes.isEmpty {
      if !item.isThere { mistake("object \(object) does not exist after a run without a fault") }
    }
  }

  // MARK: - A run

  private mutating func playOnce(stopAt: Int?) {
    tally.runs += 1
    (out, timers, events) = ([], [], 0)
    run = Run(settings)
    for object in items.indices {
      let item = items[object]
      items[object] = Item(
        plan: item.plan, uploads: item.uploads, lost: item.lost, isThere: item.isThere, record: item.record)
    }
    late = Array(items.indices)[...]
    // Some objects are found while others are sent.
    for _ in 0..<(dice.chance(0.5) ? items.count : 1 + dice.below(items.count)) { addNext() }
    take(run.begin(at: time))
    while tally.mistakes.isEmpty, items.contains(where: { $0.stage != .ended }) {
      events += 1
      if events > bound { return mistake("no end after \(events) events") }
      if events == stopAt {
        isStopping = true
        take(run.handle(.interrupted(Failure(.interrupted, "stopped")), at: time))
      } else {
        step()
      }
      check()
    }
    tally.events += events
    checkEnds()
  }

  /// The objects that are not yet added to the run.
  private var late: ArraySlice<Int> = []

  private var time: Duration { .milliseconds(now) }
  private var bound: Int { items.reduce(200) { $0 + 60 * (4 + $1.plan.partCount) } }

  private mutating func addNext() {
    guard let object = late.popFirst() else { return }
    let item = items[object]
    var upload = UploadMachine.Settings(plan: item.plan, form: .algorithm(.crc64nvme), formIsFree: true)
    upload.finds = true
    upload.hasRecord = item.record != nil
    upload.keepsOn = [.network, .server, .throttled, .stalled, .interrupted]
    run.add(object, UploadMachine(upload), partSize: item.plan.partSize)
    if late.isEmpty { run.close() }
  }

  private mutating func step() {
    if !late.isEmpty, dice.chance(0.2) || (out.isEmpty && timers.isEmpty) {
      addNext()
      return take(run.begin(at: time))
    }
    now += dice.chance(0.01) ? 15_000 : dice.below(100)
    if settings.pace != nil, dice.chance(0.05) {
      take(run.handle(.sampled(LineSample(at: time, delivered: Int64(now) * 1000)), at: time))
    }
    if let next = timers.min(), next <= now || out.isEmpty {
      now = max(now, next)
      timers.removeAll { $0 <= now }
      return take(run.handle(.tick, at: time))
    }
    guard !out.isEmpty else { return mistake("nothing is pending, but there is no end") }
    let index = dice.below(out.count)
    out.swapAt(index, out.count - 1)
    let next = out.removeLast()
    guard let event = answer(next) else { return }
    take(run.handle(.of(next.object, event), at: time))
  }

  private mutating func take(_ orders: [Run<UploadMachine>.Order]) {
    timers += orders.wakes.map(\.simulated)
    for case .act(let object, let action) in orders { take(object, action) }
  }

  private mutating func take(_ object: Int, _ action: UploadMachine.Action) {
    if items[object].stage == .notBegun { items[object].stage = .preparing }
    if items[object].stage == .ended { mistake("object \(object) acts after its end: \(action)") }
    switch action {
    case .say(.retry(let part, _, _, _, _)):
      if let part { items[object].waiting.insert(part) }
      if part == nil, items[object].plan.isSingle, items[object].stage == .sending { items[object].waiting.insert(0) }
      return
    case .say(.leftBehind(let id)):
      items[object].said.insert(id)
      return
    case .say: return
    case .adopt(let id):
      items[object].record = id
      items[object].stage = .sending
      items[object].unsent = Set(1...items[object].plan.partCount).subtracting(items[object].uploads[id] ?? [])
      return
    case .cancelTransfers:
      items[object].stage = .ending
      return cancel(object) { _ in true }
    case .cancelPart(let part), .takeBack(let part): return cancel(object) { $0 == part }
    case .finish(let outcome):
      items[object].outcome = outcome
      items[object].stage = .ended
      tally.ends[outcome.isFailure ? "failed" : "completed", default: 0] += 1
      if out.contains(where: { $0.object == object }) { mistake("object \(object) ends while a request is pending") }
      return
    case .send(let part, _, _, _): begin(object, part)
    case .put:
      items[object].stage = .sending
      begin(object, 0)
    case .sendCopy: tally.seen["copies", default: 0] += 1
    // An earlier run's upload is examined, and perhaps aborted, before the object sends anything: it keeps its
    // connection.
    case .complete, .abort, .listAfterAbort, .listAfterLoss, .head:
      if items[object].stage != .preparing { items[object].stage = .ending }
    case .find, .listParts, .create: items[object].stage = .preparing
    default: break
    }
    if case .abort(let id) = action, !id.hasPrefix("\(object)-") { mistake("object \(object) aborts \(id)") }
    out.append(Out(object: object, action: action))
  }

  private mutating func cancel(_ object: Int, _ isMeant: (Int) -> Bool) {
    for index in out.indices where out[index].object == object {
      switch out[index].action {
      case .send(let part, _, _, _): if isMeant(part) { out[index].isCancelled = true }
      case .sendCopy(let part, _, _): if isMeant(part) { out[index].isCancelled = true }
      case .put: out[index].isCancelled = true
      default: break
      }
    }
  }

  private mutating func begin(_ object: Int, _ part: Int) {
    if !items[object].underWay.insert(part).inserted { mistake("part \(part) of \(object) is out twice") }
    items[object].waiting.remove(part)
    items[object].unsent.remove(part)
    tally.sends += 1
  }

  // MARK: - What must hold

  private mutating func check() {
    let transfers = items.reduce(0) { $0 + $1.underWay.count }
    if transfers > max(settings.concurrency, settings.pace?.most ?? 0) { mistake("\(transfers) transfers at once") }
    for object in items.indices where (run[object]?.misfits ?? 0) > 0 { mistake("nothing waited for an event") }
    guard !isStopping, tally.mistakes.isEmpty else { return }
    let taken = transfers + items.reduce(0) { $0 + ($1.stage == .preparing ? 1 : 0) + $1.waiting.count }
    guard taken < run.scheduler.width else { return }
    let busy = items.count { $0.stage != .notBegun && $0.stage != .ended }
    if let idle = items.firstIndex(where: { $0.stage == .sending && !$0.unsent.isEmpty }) {
      mistake("\(run.scheduler.width - taken) places are free, and object \(idle) could send")
    }
    // Objects that are added late have higher numbers.
    if busy < run.scheduler.width, items.prefix(late.first ?? items.count).contains(where: { $0.stage == .notBegun }) {
      mistake("\(run.scheduler.width - taken) places are free, and an object is not begun")
    }
  }

  private mutating func checkEnds() {
    guard tally.mistakes.isEmpty else { return }
    for object in items.indices {
      let item = items[object]
      guard let outcome = item.outcome, let upload = run[object] else { return mistake("object \(object) has no end") }
      if !outcome.isFailure, !item.isThere { mistake("object \(object) is a success, but does not exist") }
      if outcome.isFailure, upload.cause == nil { mistake("object \(object) failed without a cause") }
      for id in item.uploads.keys where !item.said.contains(id) && !item.lost.contains(id) {
        let isKept = outcome.isKept || (outcome.isFailure && upload.leavesOldRecord)
        if !(isKept && item.record == id) { mistake("upload \(id) is left unreported") }
      }
      let keeps = outcome.isKept || (outcome.isFailure && upload.leavesOldRecord) || !upload.abandoned.isEmpty
      if !keeps { items[object].record = nil }
      run.remove(object)
      if run[object] != nil { mistake("object \(object) stays in memory") }
    }
  }

  private mutating func mistake(_ text: String) {
    if tally.mistakes.isEmpty { tally.mistakes.append("seed \(seed): \(text)") }
  }

  // MARK: - The store

  private var isFault: Bool {
    mutating get { faults > 0 && dice.chance(faults) }
  }

  private mutating func fault() -> Failure {
    let codes: [Failure.Code] = [.network, .stalled, .throttled, .server, .refused]
    return Failure(codes[dice.below(dice.chance(0.95) ? 4 : 5)], "told to fail")
  }

  private var gone: Failure { Failure(.uploadGone, "NoSuchUpload", status: 404) }

  private mutating func answer(_ out: Out) -> UploadMachine.Event? {
    let object = out.object
    let id = run[object]?.uploadID ?? ""
    let failure = isFault ? fault() : nil
    switch out.action {
    case .find:
      let record = items[object].record
      let use: UploadMachine.Candidate.Use = items[object].plan.isSingle ? .stale("it is single") : .own
      return .found(record.map { [UploadMachine.Candidate(uploadID: $0, use: use)] } ?? [])
    case .listParts(let id):
      if let failure { return .partsListFailed(failure) }
      guard let parts = items[object].uploads[id] else { return .partsListFailed(gone) }
      let sizes = parts.map { ($0, items[object].plan.range(of: $0).length) }
      return .partsListed(
        UploadMachine.PartList(sizes: Dictionary(uniqueKeysWithValues: sizes), form: .algorithm(.crc64nvme)))
    case .verify(let part): return .partVerified(receipt(object, part))
    case .create: return createAnswer(object, failure)
    case .send(let part, _, _, _), .sendCopy(let part, _, _):
      return sendAnswer(object, part, id, out.isCancelled ? Failure(.interrupted, "cancelled") : failure)
    case .put:
      items[object].underWay.remove(0)
      if out.isCancelled { return .putFailed(Failure(.interrupted, "cancelled")) }
      if let failure {
        if failure.code == .network, dice.chance(0.3) { items[object].isThere = true }
        return .putFailed(failure)
      }
      items[object].isThere = true
      items[object].stage = .ending
      return .putDone(.proven(evidence: "sum"))
    case .complete:
      if let failure {
        if failure.code == .network, items[object].uploads[id] != nil, dice.chance(0.4) { complete(object, id) }
        return .completeFailed(failure)
      }
      guard items[object].uploads[id] != nil else { return .completeFailed(gone) }
      complete(object, id)
      return .completeDone(.proven(evidence: "sum"))
    case .head:
      if let failure { return .headFailed(failure) }
      return .headDone(items[object].isThere ? .proven(evidence: "sum") : .absent)
    case .abort(let id):
      if let failure { return .abortFailed(failure) }
      return items[object].uploads.removeValue(forKey: id) == nil ? .abortFailed(gone) : .abortDone
    case .listAfterAbort(let id):
      return failure.map { .listFailed($0) } ?? .listed(uploadStillThere: items[object].uploads[id] != nil)
    case .listAfterLoss:
      return failure.map { .listFailed($0) } ?? .listed(uploadStillThere: items[object].uploads[id] != nil)
    default:
      mistake("\(out.action) has no answer")
      return nil
    }
  }

  private mutating func createAnswer(_ object: Int, _ failure: Failure?) -> UploadMachine.Event {
    created += 1
    let id = "\(object)-\(created)"
    if let failure {
      if failure.code == .network, dice.chance(0.3) {
        items[object].uploads[id] = []
        items[object].lost.insert(id)
      }
      return .createFailed(failure)
    }
    items[object].uploads[id] = []
    items[object].record = id
    items[object].stage = .sending
    items[object].unsent = Set(1...items[object].plan.partCount)
    return .created(uploadID: id, isRecorded: true)
  }

  private mutating func sendAnswer(
    _ object: Int, _ part: Int, _ id: String, _ failure: Failure?
  ) -> UploadMachine.Event {
    let isLast = !out.contains { other in
      guard other.object == object else { return false }
      switch other.action {
      case .send(part, _, _, _), .sendCopy(part, _, _): return true
      default: return false
      }
    }
    if isLast { items[object].underWay.remove(part) }
    if failure != nil || items[object].uploads[id] == nil {
      // It was stopped to make room, and neither of its transfers has arrived.
      if failure?.code == .interrupted, isLast, items[object].uploads[id]?.contains(part) == false {
        items[object].unsent.insert(part)
      }
      return .partFailed(part, failure ?? gone)
    }
    items[object].uploads[id]?.insert(part)
    return .partDone(receipt(object, part))
  }

  private mutating func complete(_ object: Int, _ id: String) {
    guard let parts = items[object].uploads[id], parts.count == items[object].plan.partCount else {
      return mistake("complete of \(id) with parts missing")
    }
    items[object].uploads[id] = nil
    items[object].isThere = true
  }

  private func receipt(_ object: Int, _ part: Int) -> PartReceipt {
    PartReceipt(number: part, size: items[object].plan.range(of: part).length, etag: "e\(part)", proof: .checksum)
  }
}
