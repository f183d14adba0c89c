import Testing

@testable import MultipartCore

@Suite("A run whose objects go down")
struct DownloadRunTests {
  @Test(
    "300 random runs: every object ends, is whole if it says so, is never a mixture, and the window is never exceeded")
  func many() {
    for seed in 0..<300 as Range<UInt64> {
      var play = DownloadPlay(seed: seed)
      play.play()
      #expect(play.mistakes.isEmpty, "seed \(seed): \(play.mistakes)")
    }
  }

  @Test("A slow range at the end is loaded a second time, and the first answer counts")
  func copies() {
    var settings = RunSettings()
    (settings.concurrency, settings.hedges) = (2, true)
    var run = Run<RangeMachine>(settings)
    run.add(0, RangeMachine(ranges: 5, size: 1 << 20), partSize: 1 << 20)
    run.close()
    _ = run.begin(at: .zero)
    _ = run.handle(.of(0, .headDone(version: 1)), at: .zero)
    for range in 1...4 { _ = run.handle(.of(0, .rangeDone(.init(range: range, version: 1))), at: .seconds(range)) }
    let orders = (5...40).flatMap { run.handle(.tick, at: .seconds($0)) }
    let copies = orders.filter { if case .act(0, .get(5, isCopy: true)) = $0 { true } else { false } }
    #expect(copies.count == 1)
    _ = run.handle(.of(0, .rangeDone(.init(range: 5, version: 1))), at: .seconds(41))
    #expect(!run.isOver, "the other copy still answers")
    _ = run.handle(.of(0, .rangeFailed(5, Failure(.interrupted, "cancelled"))), at: .seconds(41))
    #expect(run.isOver && run[0]?.received.count == 5)
  }
}

/// A run of several downloads from a store that fails, refuses, and replaces objects.
private struct DownloadPlay {
  private struct Out {
    var object: Int
    var action: RangeMachine.Action
    var isCancelled = false
  }

  private var dice: SimDice
  private var run: Run<RangeMachine>
  private var out: [Out] = []
  private var timers: [Int] = []
  private var now = 0
  private var versions: [Int]
  private var ends: [Int: Failure.Code?] = [:]
  private let faults: Double
  private let replaces: Bool
  private(set) var mistakes: [String] = []

  init(seed: UInt64) {
    dice = SimDice(seed: seed)
    faults = [0, 0.05, 0.3][dice.below(3)]
    replaces = dice.chance(0.3)
    var settings = RunSettings()
    settings.concurrency = 1 + dice.below(8)
    settings.hedges = dice.chance(0.5)
    settings.retry = RetryPolicy(tries: dice.chance(0.8) ? 10 : 2)
    settings.seed = dice.word()
    run = Run(settings)
    versions = (0..<1 + dice.below(12)).map { _ in 1 }
    for object in versions.indices {
      run.add(object, RangeMachine(ranges: 1 + dice.below(9), size: 1 << 20), partSize: 1 << 20)
    }
    run.close()
  }

  mutating func play() {
    let stopAt = dice.chance(0.2) ? dice.below(60) : nil
    take(run.begin(at: .zero))
    var events = 0
    while mistakes.isEmpty, !run.isOver {
      events += 1
      guard events < 10_000 else { return mistakes.append("no end") }
      if events == stopAt {
        take(run.handle(.interrupted(Failure(.interrupted, "stopped")), at: .milliseconds(now)))
      } else {
        step()
      }
    }
    for object in versions.indices {
      guard let end = ends[object] else { return mistakes.append("object \(object) has no end") }
      guard let machine = run[object] else { continue }
      if end == nil, machine.received.count != machine.ranges { mistakes.append("object \(object) is not whole") }
      if faults == 0, !replaces, stopAt == nil, end != nil {
        mistakes.append("object \(object) failed without a fault")
      }
    }
  }

  private mutating func step() {
    now += dice.below(100)
    if replaces, dice.chance(0.02) { versions[dice.below(versions.count)] += 1 }
    if let next = timers.min(), next <= now || out.isEmpty {
      now = max(now, next)
      timers.removeAll { $0 <= now }
      return take(run.handle(.tick, at: .milliseconds(now)))
    }
    guard !out.isEmpty else { return mistakes.append("nothing is pending, but there is no end") }
    let next = out.remove(at: dice.below(out.count))
    take(run.handle(.of(next.object, answer(next)), at: .milliseconds(now)))
  }

  private mutating func answer(_ next: Out) -> RangeMachine.Event {
    let isFault = dice.chance(faults)
    guard case .get(let range, _) = next.action else {
      return isFault ? .headFailed(Failure(.network, "reset")) : .headDone(version: versions[next.object])
    }
    if next.isCancelled, dice.chance(0.8) { return .rangeFailed(range, Failure(.interrupted, "cancelled")) }
    if isFault { return .rangeFailed(range, Failure(dice.chance(0.3) ? .throttled : .network, "fault")) }
    return .rangeDone(.init(range: range, version: versions[next.object]))
  }

  private mutating func take(_ orders: [Run<RangeMachine>.Order]) {
    for order in orders {
      switch order {
      case .wake(let time): timers.append(time.simulated)
      case .paced: break
      case .act(let object, .cancel(let range)):
        for index in out.indices where out[index].object == object {
          if case .get(range, _) = out[index].action { out[index].isCancelled = true }
        }
      case .act(let object, .finish(let code)):
        if ends[object] != nil { mistakes.append("object \(object) ends twice") }
        if out.contains(where: { $0.object == object }) { mistakes.append("object \(object) ends too early") }
        ends[object] = .some(code)
      case .act(let object, let action): out.append(Out(object: object, action: action))
      }
    }
    let firsts = out.count { if case .get(_, isCopy: false) = $0.action { true } else { false } }
    if firsts > run.scheduler.settings.concurrency { mistakes.append("\(firsts) transfers at once") }
  }
}
