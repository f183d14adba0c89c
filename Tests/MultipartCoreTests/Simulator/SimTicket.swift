import MultipartBasics
@testable import MultipartCore

/// A ticket that several machines use at once, each for its share, all random by its seed. Runs fail, are killed and
/// begin again; finally each share is run without a fault, and then the object must be the source.
final class SimTicket {
  private final class Run {
    let settings: SoloSettings
    var machine: SoloUpload
    var out: [SimRun.Out] = []
    var timers: [Int] = []
    var outcome: UploadMachine.Outcome?
    var events = 0
    var killAt: Int?
    var isTold = false

    init(_ settings: SoloSettings) {
      self.settings = settings
      machine = SoloUpload(settings)
    }
  }

  private struct Lane {
    var share: Range<Int>?
    var runs: Int
    var run: Run?
    var hasEndedWell = false
  }

  private struct Arrived {
    var isRight: Bool
    var at: Int
  }

  let seed: UInt64
  var tally = SimTally()
  private(set) var story: [String] = []
  private let tells: Bool
  private var dice: SimDice
  private var now = 0
  private let plan: UploadPlan
  private var lanes: [Lane] = []
  private var faults: Double
  /// The parts that the store has.
  private var parts: [Int: Arrived] = [:]
  private var isOpen = true
  private var isThere = false
  private var completing = 0

  private static let id = "issued"
  private static let partSize: Int64 = 5 << 20

  init(seed: UInt64, tells: Bool = false) throws(Failure) {
    self.seed = seed
    self.tells = tells
    dice = SimDice(seed: seed &* 0x9E6C_63D0_876A_9A63)
    faults = [0, 0.01, 0.05, 0.2][dice.below(4)]
    let count = 1 + dice.below(dice.chance(0.9) ? 12 : 200)
    plan = try UploadPlan(inParts: Self.partSize * Int64(count), of: Self.partSize)
    // A holder with another file has tried: the store has verified the checksum of what it lists.
    for number in 1...count where dice.chance(0.05) { parts[number] = Arrived(isRight: false, at: 0) }
    let shares = 1 + dice.below(8)
    for index in 0..<shares {
      lanes.append(Lane(share: 1 + count * index / shares..<1 + count * (index + 1) / shares, runs: 1 + dice.below(3)))
    }
    if dice.chance(0.3) {
      let first = 1 + dice.below(count)
      lanes.append(Lane(share: first..<first + 1 + dice.below(count - first + 1), runs: 1))
    }
    if dice.chance(0.3) { lanes.append(lanes[dice.below(shares)]) }
    if dice.chance(0.2) { lanes.append(Lane(share: nil, runs: 1)) }
  }

  func play() {
    tally.plays = 1
    while tally.mistakes.isEmpty, advance(\.runs) {}
    // Finally each share runs once more, without a fault.
    (faults, tally.seen["calm last runs"]) = (0, 1)
    for index in lanes.indices where !lanes[index].hasEndedWell { lanes[index].runs = 1 }
    // Every share may have found a part missing that another was still sending.
    while tally.mistakes.isEmpty, advance(\.runs) {}
    if isOpen { lanes[0].runs = 1 }
    while tally.mistakes.isEmpty, advance(\.runs) {}
    guard tally.mistakes.isEmpty else { return }
    if isThere == tally.seen.keys.contains("revoked") { mistake("in the end the object is there: \(isThere)") }
  }

  /// Performs one step of a share; false once none has anything to do.
  private func advance(_ runs: WritableKeyPath<Lane, Int>) -> Bool {
    let waiting = lanes.indices.filter { lanes[$0].run == nil && lanes[$0][keyPath: runs] > 0 }
    let running = lanes.indices.filter { lanes[$0].run != nil }
    guard !waiting.isEmpty || !running.isEmpty else { return false }
    now += dice.below(60)
    if !waiting.isEmpty, running.isEmpty || dice.chance(0.1) {
      begin(waiting[dice.below(waiting.count)])
      return true
    }
    if isOpen, faults > 0, dice.chance(0.0005) {
      tell("the ticket is revoked")
      tally.seen["revoked"] = 1
      isOpen = false
    }
    let ready = running.filter { lane in
      lanes[lane].run.map { !$0.out.isEmpty || ($0.timers.min() ?? .max) <= now } ?? false
    }
    guard !ready.isEmpty else {
      guard let next = running.compactMap({ lanes[$0].run?.timers.min() }).min() else {
        mistake("nothing is pending, but there is no end")
        return false
      }
      now = max(now, next)
      return true
    }
    step(ready[dice.below(ready.count)])
    return true
  }

  private func begin(_ lane: Int) {
    lanes[lane].runs -= 1
    tally.runs += 1
    var settings = SoloSettings(
      plan: plan, concurrency: 1 + dice.below(6), retry: RetryPolicy(tries: 2 + dice.below(6)), form: .md5,
      seed: dice.word())
    settings.isTicket = true
    settings.share = lanes[lane].share
    settings.finds = true
    settings.keepsOn = [.network, .server, .throttled, .stalled, .interrupted]
    let run = Run(settings)
    if faults > 0, dice.chance(0.3) { run.killAt = 1 + dice.below(8 + plan.partCount) }
    lanes[lane].run = run
    tell("share \(lane) \(lanes[lane].share.map { "\($0)" } ?? "all") begins")
    take(lane, run, run.machine.begin(at: .milliseconds(now)))
  }

  private func step(_ lane: Int) {
    guard let run = lanes[lane].run else { return }
    if run.events == run.killAt { return kill(lane, run) }
    if faults > 0, !run.isTold, dice.chance(0.003) {
      run.isTold = true
      tally.faults["interrupted", default: 0] += 1
      tell("share \(lane) < interrupted")
      return take(lane, run, run.machine.handle(.interrupted(Failure(.interrupted, "stopped")), at: .milliseconds(now)))
    }
    if let next = run.timers.min(), next <= now {
      run.timers.removeAll { $0 <= now }
      tell("share \(lane) < tick")
      return take(lane, run, run.machine.handle(.tick, at: .milliseconds(now)))
    }
    feed(lane, run, answer(run, run.out.remove(at: dice.below(run.out.count))))
  }

  /// Kills a run; its requests may arrive nevertheless, even a complete.
  private func kill(_ lane: Int, _ run: Run) {
    tell("share \(lane) is killed")
    tally.faults["killed", default: 0] += 1
    for out in run.out {
      if case .complete = out.action { completing -= 1 }
      guard isOpen, dice.chance(0.5) else { continue }
      switch out.action {
      case .send(let number, _, _, _): parts[number] = Arrived(isRight: true, at: now)
      case .complete: publish(run)
      default: break
      }
    }
    close(lane, run)
  }

  private func close(_ lane: Int, _ run: Run) {
    tally.events += run.events
    lanes[lane].run = nil
  }

  // MARK: The machine

  private func feed(_ lane: Int, _ run: Run, _ event: UploadMachine.Event) {
    tell("share \(lane) < \(event)")
    take(lane, run, run.machine.handle(event, at: .milliseconds(now)))
  }

  private func take(_ lane: Int, _ run: Run, _ actions: [UploadMachine.Action]) {
    run.events += 1
    run.timers += run.machine.wakes.map(\.simulated)
    for action in actions {
      tell("share \(lane) > \(action)")
      take(lane, run, action)
    }
    if run.machine.misfits > 0 { mistake("nothing was waiting for an event") }
    if run.out.count(where: \.action.isTransfer) > run.settings.concurrency { mistake("more transfers than may be") }
    if run.events > 500 + 30 * plan.partCount { mistake("no end after \(run.events) events") }
    guard let outcome = run.outcome else { return }
    judge(outcome, run)
    if !outcome.isFailure { lanes[lane].hasEndedWell = true }
    close(lane, run)
  }

  private func take(_ lane: Int, _ run: Run, _ action: UploadMachine.Action) {
    if run.outcome != nil { mistake("an action after the end: \(action)") }
    switch action {
    case .say: break
    case .cancelTransfers: for index in run.out.indices { run.out[index].isCancelled = true }
    case .adopt:
      // There is no record, and none is needed.
      take(lane, run, run.machine.handle(.recorded(true), at: .milliseconds(now)))
    case .finish(let outcome):
      run.outcome = outcome
      if !run.out.isEmpty { mistake("the end comes while \(run.out) is pending") }
    case .create, .abort, .listAfterAbort, .put: mistake("who holds a ticket does \(action)")
    case .send(let number, _, _, _):
      if lanes[lane].share?.contains(number) == false { mistake("part \(number) is of another share") }
      tally.sends += 1
      run.out.append(SimRun.Out(action: action))
    case .complete:
      completing += 1
      if completing > 1 { tally.seen["two complete at once", default: 0] += 1 }
      run.out.append(SimRun.Out(action: action))
    default: run.out.append(SimRun.Out(action: action))
    }
  }

  private func judge(_ outcome: UploadMachine.Outcome, _ run: Run) {
    switch outcome {
    case .completed:
      tally.ends["completed", default: 0] += 1
      if !isThere { mistake("success without the object") }
    case .sharing(let missing):
      tally.ends["sharing", default: 0] += 1
      if missing < 1 { mistake("nothing is missing, and nobody completes it") }
    case .failed(let code, let isKept):
      tally.ends["failed \(code.rawValue)\(isKept ? " kept" : "")", default: 0] += 1
      if faults == 0, isOpen || isThere { mistake("without a fault it fails: \(code.rawValue)") }
    case .unchanged, .skipped, .planned: mistake("\(outcome)")
    }
  }

  private func mistake(_ text: String) {
    tell("MISTAKE: \(text)")
    if tally.mistakes.isEmpty { tally.mistakes.append("seed \(seed): \(text)") }
  }

  private func tell(_ text: @autoclosure () -> String) { if tells { story.append("\(now) ms  \(text().prefix(300))") } }

  // MARK: The store

  private var gone: Failure { Failure(.uploadGone, "NoSuchUpload", status: 404) }

  private func answer(_ run: Run, _ out: SimRun.Out) -> UploadMachine.Event {
    let failure = out.isCancelled ? nil : fault(out.action)
    switch out.action {
    case .find: return .found([UploadMachine.Candidate(uploadID: Self.id, use: .own)])
    case .listParts:
      if let failure { return .partsListFailed(failure) }
      return isOpen ? .partsListed(list()) : .partsListFailed(gone)
    case .verify(let number):
      if out.isCancelled { return .verifyFailed(number, Failure(.interrupted, "cancelled")) }
      return parts[number]?.isRight == true ? .partVerified(receipt(number)) : .partRejected(number)
    case .send(let number, _, _, _):
      let arrives = isOpen && (out.isCancelled || failure != nil ? dice.chance(0.3) : true)
      if arrives { parts[number] = Arrived(isRight: true, at: now) }
      if out.isCancelled { return .partFailed(number, Failure(.interrupted, "cancelled")) }
      if let failure { return .partFailed(number, failure) }
      return isOpen ? .partDone(receipt(number)) : .partFailed(number, gone)
    case .complete:
      completing -= 1
      if let failure {
        if isOpen, dice.chance(0.5) { publish(run) }
        return .completeFailed(failure)
      }
      guard isOpen else { return .completeFailed(gone) }
      publish(run)
      return .completeDone(.proven(evidence: "sum"))
    case .head:
      if let failure { return .headFailed(failure) }
      return .headDone(isThere ? .proven(evidence: "sum") : .absent)
    case .listAfterLoss:
      if let failure { return .listFailed(failure) }
      return .listed(uploadStillThere: isOpen)
    default:
      mistake("\(out.action) has no answer")
      return .findFailed(Failure(.local, ""))
    }
  }

  private func fault(_ action: UploadMachine.Action) -> Failure? {
    switch action {
    case .find, .verify: return nil
    default: guard dice.chance(faults) else { return nil }
    }
    let codes: [Failure.Code] = [.network, .stalled, .throttled, .server]
    let code = codes[dice.below(codes.count)]
    tally.faults["\(action.name) \(code.rawValue)", default: 0] += 1
    return Failure(code, "told to fail")
  }

  private func receipt(_ number: Int) -> PartReceipt {
    PartReceipt(number: number, size: plan.range(of: number).length, etag: "\(number)", proof: .etag)
  }

  /// Lists the parts as the uploader reads them: parts with other bytes than the ticket signs do not count.
  private func list() -> UploadMachine.PartList {
    let right = parts.filter(\.value.isRight)
    var list = UploadMachine.PartList(sizes: right.mapValues { _ in Self.partSize }, form: .md5)
    list.receipts = right.keys.sorted().map(receipt)
    if let last = right.values.map({ $0.at / 1000 }).max() {
      list.latest = right.filter { $0.value.at / 1000 >= last - 1 }.keys.sorted()
    }
    return list
  }

  private func publish(_ run: Run) {
    let named = run.machine.receipts.compactMap { $0?.number }
    guard named == Array(1...plan.partCount) else { return mistake("complete names the parts \(named)") }
    guard parts.values.count(where: \.isRight) == plan.partCount else { return mistake("parts are missing") }
    (isOpen, isThere) = (false, true)
  }
}

extension UploadMachine.Action {
  fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}
