import Foundation
import MultipartBasics
@testable import MultipartCore

/// One upload from its first run to its last, on one machine or several, against one store, all random by its seed.
final class SimPlay {
  let seed: UInt64
  var dice: SimDice
  let store: SimStore
  var now = 0
  var tally = SimTally()
  private let tells: Bool
  private(set) var story: [String] = []
  private var runCount = 0

  init(seed: UInt64, tells: Bool = false) {
    self.seed = seed
    self.tells = tells
    dice = SimDice(seed: seed &* 0xD134_2543_DE82_EF95)
    let kind = dice.chance(0.6) ? SimStoreKind.full : SimStoreKind.allCases[dice.below(SimStoreKind.allCases.count)]
    store = SimStore(kind: kind)
    store.dropsOptions = dice.chance(0.2)
    store.givesMoments = dice.chance(0.8)
  }

  func tell(_ text: @autoclosure () -> String) {
    guard tells else { return }
    let line = text()
    story.append("\(now) ms  " + (line.utf8.count > 500 ? String(line.prefix(500)) + "…" : line))
  }

  /// Describes the event without the names of modules and types, and without the nil fields of a failure.
  func brief(_ event: UploadMachine.Event) -> String {
    guard case .partsListed(let list) = event else { return short("\(event)") }
    // A dictionary is printed in another order each time.
    return "partsListed(\(list.sizes.keys.sorted()), \(short("\(list.form, default: "no form")")))"
  }

  func brief(_ event: Run<UploadMachine>.Event) -> String {
    guard case .sampled(let sample, let moved) = event else { return short("\(event)") }
    let parts = moved.sorted { $0.key < $1.key }.map { "\($0.key.part): \($0.value)" }
    return short("sampled(\(sample), moved: \(parts))")
  }

  func brief(_ action: UploadMachine.Action) -> String { short("\(action)") }

  private func short(_ text: String) -> String {
    var text = text
    for noise in ["MultipartCore.", "UploadMachine.", "Failure.Code.", "ChecksumForm.", "ChecksumAlgorithm."] {
      text = text.replacingOccurrences(of: noise, with: "")
    }
    while let start = text.range(of: ", status: "), let end = text.range(of: "remedy: nil") {
      text.removeSubrange(start.lowerBound..<end.upperBound)
    }
    return text
  }

  func mistake(_ text: String) {
    tell("MISTAKE: \(text)")
    if tally.mistakes.isEmpty { tally.mistakes.append(text) }
  }

  func saw(_ what: String) { tally.seen[what, default: 0] += 1 }

  // MARK: The whole

  /// Runs of one command, one after the other on the same machine or, without its record, on another.
  private struct Lane {
    var host: SimHost
    var command: SimCommand
    var runs: Int
    var run: SimRun?
  }

  func play() throws(Failure) {
    tally.plays = 1
    let file = makeFile(version: 16)
    var lanes = [Lane(host: host("a", file), command: makeCommand(file), runs: 1 + dice.below(3))]
    if dice.chance(0.15) {
      var other = dice.chance(0.6) ? file : makeFile(version: 17)
      if other != file, !file.isStream, !other.isStream, dice.chance(0.5) {
        other.base = file.version
        other.shared = min(file.parts, other.parts) - 1
      }
      lanes.append(Lane(host: host("b", other), command: makeCommand(other), runs: 1 + dice.below(2)))
    }
    tell("a store that is \(store.kind); \(lanes.count) machine(s)")
    if dice.chance(0.3) { writeOther(file) }
    if !file.isStream, file.parts > 1, dice.chance(0.15) { bringStrangers(file) }
    while tally.mistakes.isEmpty {
      let open = lanes.indices.filter { lanes[$0].runs > 0 || lanes[$0].run != nil }
      guard !open.isEmpty else { break }
      let index = open.count == 1 ? open[0] : open[dice.below(open.count)]
      guard let run = lanes[index].run else {
        lanes[index].runs -= 1
        lanes[index].run = try begin(lanes[index].host, lanes[index].command)
        continue
      }
      // Several steps of one machine, then several of another.
      for _ in 0..<(1 + dice.below(8)) where !run.isOver && tally.mistakes.isEmpty { step(run) }
      guard run.isOver else { continue }
      lanes[index].run = nil
      betweenRuns(&lanes[index])
    }
    if tally.mistakes.isEmpty, dice.chance(0.25) { try playCalmly(lanes[0].host, lanes[0].command) }
  }

  /// Runs the same command without a fault, which uploads the file.
  private func playCalmly(_ host: SimHost, _ last: SimCommand) throws(Failure) {
    var command = last
    command.mode = .auto
    command.formIsFree = true
    command.form = .algorithm(.crc64nvme)
    command.ifNoneMatch = false
    command.faults = 0
    command.killAt = nil
    command.stopAt = nil
    for request in store.late { store.land(request, at: now) }
    store.late = []
    // A store that drops options always drops them.
    if store.dropsOptions { command.asks = false }
    tell("a last run, calm")
    let run = try begin(host, command)
    while !run.isOver, tally.mistakes.isEmpty { step(run) }
    guard tally.mistakes.isEmpty else { return }
    if run.outcome?.isFailure != false { mistake("a run without a fault fails: \(run.outcomeTitle)") }
    saw("calm last runs")
  }

  private func host(_ name: String, _ file: SimFile) -> SimHost {
    let host = SimHost(name: name, file: file)
    host.diskWorks = !dice.chance(0.05)
    return host
  }

  /// Prepares the next run, which has the record, or is on another machine that has none; a lifecycle rule of the store
  /// may have run.
  private func betweenRuns(_ lane: inout Lane) {
    for request in store.late where dice.chance(0.7) { store.land(request, at: now) }
    store.late = []
    if dice.chance(0.05), !store.uploads.isEmpty {
      tell("a lifecycle rule ends what is unfinished")
      saw("lifecycle rules")
      store.uploads = []
    }
    if dice.chance(0.15) {
      lane.host = SimHost(name: lane.host.name + "'", file: lane.host.file)
      saw("runs without the record")
    } else if dice.chance(0.06), !lane.host.file.isStream {
      tell("the file of \(lane.host.name) is rewritten")
      lane.host.rewrite()
    }
    let file = lane.host.file
    lane.command = dice.chance(0.3) ? makeCommand(file) : perturbed(lane.command, file)
  }

  /// Another client puts an object to the key, with the same bytes or others.
  private func writeOther(_ file: SimFile) {
    var contents = (1...file.parts).map { file.content($0) }
    if dice.chance(0.3) { contents[0] = SimFile.garbage }
    store.object = SimObject(
      contents: contents, size: file.size, modified: now - 1, isAsAsked: dice.chance(0.3) && now == 0)
    tell("another writer puts an object to the key")
    saw("objects of other writers")
  }

  // MARK: Dice

  /// Makes a file; most are short, a few hundred of a hundred thousand have 100 to 1,000 parts, and a handful 10,000,
  /// each of 5 GiB.
  private func makeFile(version: Int) -> SimFile {
    let size = dice.unit()
    let parts =
      if size < 0.00006 {
        10_000
      } else if size < 0.003 {
        100 + dice.below(901)
      } else if size < 0.12 {
        1
      } else if size < 0.8 {
        2 + dice.below(5)
      } else {
        2 + dice.below(29)
      }
    let partSize = parts == S3Limits.mostParts ? S3Limits.largestPart : S3Limits.smallestPart
    let tail = dice.chance(0.2) ? partSize : 1 + Int64(dice.below(Int(partSize)))
    var file = SimFile(version: version, parts: parts, tail: tail)
    file.partSize = partSize
    file.isStream = dice.chance(0.2)
    return file
  }

  private func makeCommand(_ file: SimFile) -> SimCommand {
    var command = SimCommand()
    let mode = dice.unit()
    command.mode = mode < 0.5 ? .auto : mode < 0.8 ? .adopt : mode < 0.92 ? .never : .require
    command.abortsOnInterrupt = dice.chance(0.2)
    command.ifNoneMatch = dice.chance(0.15)
    command.formIsFree = dice.chance(0.8)
    command.form = dice.chance(0.75) ? .algorithm(.crc64nvme) : dice.chance(0.5) ? .md5 : .nothing
    command.concurrency = 1 + dice.below(dice.chance(0.8) ? 8 : 32)
    command.adapts = dice.chance(0.5)
    command.buffers = [Buffers.none, .possible, .possible, .known][dice.below(4)]
    command.lineRate = dice.chance(0.5) ? 1 << dice.below(20) : nil
    command.tries = dice.chance(0.7) ? 10 : 1 + dice.below(5)
    command.verifies = dice.chance(0.15)
    command.asks = dice.chance(0.2)
    command.signs = dice.chance(0.3)
    return perturbed(command, file)
  }

  private func perturbed(_ old: SimCommand, _ file: SimFile) -> SimCommand {
    var command = old
    let rates = [0, 0.01, 0.03, 0.08, 0.2, 0.45]
    command.faults = rates[dice.below(file.parts > 100 ? 4 : rates.count)]
    let length = 6 + file.parts * 3 / 2
    command.killAt = dice.chance(0.25) ? 1 + dice.below(length) : nil
    command.stopAt = dice.chance(0.15) ? 1 + dice.below(length) : nil
    command.stop = dice.chance(0.75) ? .interrupted : .deadline
    return command
  }

  // MARK: Steps

  private func begin(_ host: SimHost, _ command: SimCommand) throws(Failure) -> SimRun {
    runCount += 1
    tally.runs += 1
    let run = try SimRun(name: "\(host.name)\(runCount)", host: host, command: command, seed: dice.word())
    tell("\(run.name) begins: \(run.file), \(command), record \(run.found?.uploadID ?? "none")")
    take(run, run.machine.begin(at: .milliseconds(now)))
    return run
  }

  func step(_ run: SimRun) {
    now += dice.below(120)
    strangersGoOn()
    if run.events + 1 == run.command.killAt { return kill(run) }
    if run.events + 1 == run.command.stopAt, run.stops == 0 {
      tally.faults["stop \(run.command.stop.rawValue)", default: 0] += 1
      return stop(run)
    }
    if run.stops == 1, dice.chance(0.02) { return stop(run) }
    if let limit = run.limit, now > limit { return endUnfinished(run) }
    if !store.late.isEmpty, dice.chance(0.1) {
      store.land(store.late.remove(at: dice.below(store.late.count)), at: now)
    }
    if run.command.faults > 0, !store.uploads.isEmpty, dice.chance(0.0005) {
      tell("a lifecycle rule ends what is unfinished")
      saw("lifecycle rules")
      store.uploads = []
    }
    if run.command.faults > 0, dice.chance(0.002) { writeOther(run.file) }
    if run.command.adapts, dice.chance(0.1) { look(run) }
    if run.isOver { return }
    let next = run.timers.min()
    if let next, next <= now { return tick(run) }
    guard !run.out.isEmpty else {
      guard let next else { return mistake("\(run.name): nothing is pending, but there is no end") }
      now = next
      strangersGoOn()
      return tick(run)
    }
    let index = dice.below(run.out.count)
    let out = run.out[index]
    run.out.swapAt(index, run.out.count - 1)
    run.out.removeLast()
    answer(run, out)
  }

  private func tick(_ run: SimRun) {
    run.timers.removeAll { $0 <= now }
    feed(run, .tick)
  }

  /// Samples a line of fixed speed, or one that is fast, slow or lossy at random. Time passes while requests are
  /// pending.
  private func look(_ run: SimRun) {
    if let rate = run.command.lineRate {
      let passed = 500 + dice.below(8000)
      now += passed
      run.delivered += Int64(rate * passed / 1000)
    } else {
      run.delivered += Int64(dice.below(1 << (4 + dice.below(24))))
    }
    var sample = LineSample(at: .milliseconds(now), delivered: run.delivered)
    run.segments += Int64(dice.below(10_000))
    if dice.chance(0.05) { run.lostSegments += Int64(dice.below(100)) }
    (sample.segments, sample.lost) = (run.segments, run.lostSegments)
    sample.leastTrip = .milliseconds(10)
    sample.roundTrip = .milliseconds(10 + dice.below(10))
    sample.load = dice.unit()
    feed(run, .sampled(sample, moved: moved(run)))
  }

  /// The bytes that have moved; if something buffers, all bytes of a part may be taken at once.
  private func moved(_ run: SimRun) -> [Slot: Int64] {
    var moved: [Slot: Int64] = [:]
    for case .send(let part, _, _, _) in run.out.map(\.action) {
      let size = run.file.size(part)
      moved[Slot(object: 0, part: part)] = dice.chance(0.6) ? size : Int64(dice.unit() * Double(size))
    }
    return moved
  }

  private func stop(_ run: SimRun) {
    run.stops += 1
    if run.limit == nil { run.limit = now + 4000 }
    feed(run, .interrupted(Failure(run.stops == 1 ? run.command.stop : .interrupted, "stopped")))
  }

  /// Kills the run, as SIGKILL or a power failure would: pending requests may still reach the store, and the record's
  /// last lines may be lost.
  private func kill(_ run: SimRun) {
    tell("\(run.name) is killed")
    tally.faults["killed", default: 0] += 1
    for out in run.out { letLand(run, out, chance: 0.5) }
    if dice.chance(0.5) { run.host.record?.lose(dice.below(8)) }
    tally.ends["killed", default: 0] += 1
    run.isOver = true
    close(run)
  }

  /// Ends a run whose time after an interruption is over: pending requests are dropped, and the upload is recorded or
  /// named.
  private func endUnfinished(_ run: SimRun) {
    tell("\(run.name) ends without waiting any longer")
    for out in run.out { letLand(run, out, chance: 0.5) }
    if let id = run.machine.uploadID, !(run.machine.isRecorded && !run.command.abortsOnInterrupt) {
      store.upload(id)?.excuse = "named at the end of the time"
    }
    tally.ends["unfinished in time", default: 0] += 1
    run.isOver = true
    close(run)
  }

  /// Lets the store process a request after the client has given up its answer.
  func letLand(_ run: SimRun, _ out: SimRun.Out, chance: Double) {
    guard dice.chance(chance) else { return }
    switch out.action {
    case .send(let number, _, _, _):
      guard let id = run.machine.uploadID, !run.sourceChanged else { return }
      store.late.append(
        .part(upload: id, number: number, content: run.file.content(number), size: run.file.size(number)))
    case .create(let form):
      store.create(form, at: now).excuse = "create's answer was lost"
      saw("uploads whose create was lost")
    case .complete:
      guard let id = run.machine.uploadID else { return }
      store.late.append(.complete(upload: id, contents: contents(run), file: run.file, run: run))
    case .abort(let id): store.remove(id)
    default: break
    }
  }

  func contents(_ run: SimRun) -> [Int] {
    run.machine.receipts.map { $0.map(SimRun.content) ?? 0 }
  }

  func close(_ run: SimRun) {
    tally.events += run.events
    tally.sends += run.sends
  }
}
