import MultipartBasics
import Testing

@testable import MultipartCore

@Suite("Runs of downloads")
struct DownloadRunTests {
  @Test(
    "1,000 random runs: every object ends, is right if reported so, no stored byte is requested again, the window holds"
  )
  func many() {
    for seed in 0..<1000 as Range<UInt64> {
      var play = DownloadPlay(seed: seed)
      play.play()
      #expect(play.mistakes.isEmpty, "seed \(seed): \(play.mistakes)")
    }
  }

  @Test("A slow range at the end is loaded a second time, and the first answer counts")
  func copies() {
    var settings = RunSettings()
    (settings.concurrency, settings.hedges) = (2, true)
    var run = Run<DownloadMachine>(settings)
    run.add(0, DownloadMachine(.init(rangeSize: 1 << 20)), partSize: 1 << 20)
    run.close()
    _ = run.begin(at: .zero)
    _ = run.handle(.of(0, .found), at: .zero)
    _ = run.handle(.of(0, .opened(ranges: 5, size: 5 << 20, have: [])), at: .zero)
    for range in 1...4 { _ = run.handle(.of(0, .rangeDone(.init(range: range))), at: .seconds(range)) }
    let orders = (5...40).flatMap { run.handle(.tick, at: .seconds($0)) }
    let copies = orders.filter { if case .act(0, .get(5, _, isCopy: true)) = $0 { true } else { false } }
    #expect(copies.count == 1)
    _ = run.handle(.of(0, .rangeDone(.init(range: 5))), at: .seconds(41))
    #expect(!run.isOver, "the other copy still answers")
    let last = run.handle(.of(0, .rangeFailed(5, Failure(.interrupted, "cancelled"))), at: .seconds(41))
    #expect(last.contains { if case .act(0, .prove) = $0 { true } else { false } })
  }

  @Test("A slow range at the end of which one copy fails depends on the other", arguments: [true, false])
  func copyFails(_ arrives: Bool) {
    var settings = RunSettings()
    (settings.concurrency, settings.hedges) = (2, true)
    var run = Run<DownloadMachine>(settings)
    run.add(0, DownloadMachine(.init(rangeSize: 1 << 20)), partSize: 1 << 20)
    run.close()
    _ = run.begin(at: .zero)
    _ = run.handle(.of(0, .found), at: .zero)
    _ = run.handle(.of(0, .opened(ranges: 5, size: 5 << 20, have: [])), at: .zero)
    for range in 1...4 { _ = run.handle(.of(0, .rangeDone(.init(range: range))), at: .seconds(range)) }
    let orders = (5...40).flatMap { run.handle(.tick, at: .seconds($0)) }
    #expect(orders.contains { if case .act(0, .get(5, _, isCopy: true)) = $0 { true } else { false } })
    let first = run.handle(.of(0, .rangeFailed(5, Failure(.network, "reset"))), at: .seconds(41))
    #expect(!first.contains { if case .act(0, .cancel) = $0 { true } else { false } }, "the other copy goes on")
    let event = arrives ? DownloadMachine.Event.rangeDone(.init(range: 5)) : .rangeFailed(5, Failure(.network, "reset"))
    let last = run.handle(.of(0, event), at: .seconds(42))
    #expect(
      last.contains {
        switch $0 {
        case .act(0, .prove): arrives
        case .act(0, .say(.retry(5, _, _, _, _))): !arrives
        default: false
        }
      })
  }

  @Test("Ranges of another size than planned are requested as such")
  func recut() {
    var run = Run<DownloadMachine>(RunSettings())
    run.add(0, DownloadMachine(.init(rangeSize: 8 << 20)), partSize: 8 << 20)
    run.close()
    _ = run.begin(at: .zero)
    _ = run.handle(.of(0, .found), at: .zero)
    let orders = run.handle(.of(0, .opened(ranges: 3, size: 9 << 20, have: [], rangeSize: 4 << 20)), at: .zero)
    #expect(Self.gets(orders) == [1, 2, 3])
    #expect(run.scheduler.flyingBytes == 9 << 20)
  }

  @Test("On a long line a short object has many ranges, and none is below 1 MiB or above 4 MiB")
  func farRanges() {
    let mebi: Int64 = 1 << 20
    let sizes = [1, mebi, 64 * mebi, 256 * mebi, 256 * mebi + 1, 512 * mebi, 1024 * mebi, .max]
    #expect(sizes.map { DownloadOptions.farRangeSize($0) / mebi } == [1, 1, 1, 1, 2, 2, 4, 4])
    #expect(DownloadOptions.farRangeSize(700 * mebi) == 3 * mebi)
  }

  @Test("A download that could not be proven is repeated once over other connections, and then fails")
  func reloads() {
    var run = Run<DownloadMachine>(RunSettings())
    run.add(0, DownloadMachine(.init(rangeSize: 1 << 20)), partSize: 1 << 20)
    run.close()
    _ = run.begin(at: .zero)
    _ = run.handle(.of(0, .found), at: .zero)
    var orders = run.handle(.of(0, .opened(ranges: 2, size: 2 << 20, have: [1])), at: .zero)
    #expect(Self.gets(orders) == [2], "what is there is not loaded")
    _ = run.handle(.of(0, .rangeDone(.init(range: 2))), at: .zero)
    orders = run.handle(.of(0, .refuted(Failure(.dataMismatch, "another sum"))), at: .zero)
    #expect(Self.gets(orders) == [1, 2])
    for range in 1...2 { _ = run.handle(.of(0, .rangeDone(.init(range: range))), at: .zero) }
    orders = run.handle(.of(0, .refuted(Failure(.dataMismatch, "another sum"))), at: .zero)
    #expect(orders.contains { if case .act(0, .finish(.failed(.dataMismatch))) = $0 { true } else { false } })
  }

  @Test("If a list says enough, the object is requested at once; a HEAD is sent only if it has been replaced since")
  func listed() {
    var run = Run<DownloadMachine>(RunSettings())
    run.add(0, DownloadMachine(.init(rangeSize: 1 << 20, isListed: true)), partSize: 1 << 20)
    run.close()
    #expect(Self.actions(run.begin(at: .zero)) == [.open])
    let one = DownloadMachine.Event.opened(ranges: 1, size: 1000, have: [])
    #expect(Self.actions(run.handle(.of(0, one), at: .zero)) == [.get(1, fresh: false)])
    let asked = run.handle(.of(0, .rangeFailed(1, RangeSink.replaced)), at: .zero)
    #expect(Self.actions(asked) == [.head])
    #expect(Self.actions(run.handle(.of(0, .found), at: .zero)) == [.open])
    _ = run.handle(.of(0, .opened(ranges: 3, size: 3 << 20, have: [])), at: .zero)
    let again = run.handle(.of(0, .rangeFailed(2, RangeSink.replaced)), at: .zero)
    #expect(!Self.actions(again).contains(.head), "what HEAD has told is not asked once more")
    for range in [1, 3] { _ = run.handle(.of(0, .rangeFailed(range, RangeSink.replaced)), at: .zero) }
    #expect(run.isOver)
  }

  private static func actions(_ orders: [Run<DownloadMachine>.Order]) -> [DownloadMachine.Action] {
    orders.compactMap { if case .act(_, let action) = $0 { action } else { nil } }
  }

  @Test("For a reader in order, only as many ranges begin as the reader's position allows")
  func ordered() {
    var run = Run<DownloadMachine>(RunSettings())
    run.add(0, DownloadMachine(.init(rangeSize: 1 << 20, ahead: 3)), partSize: 1 << 20)
    run.close()
    _ = run.begin(at: .zero)
    _ = run.handle(.of(0, .found), at: .zero)
    #expect(Self.gets(run.handle(.of(0, .opened(ranges: 9, size: 9 << 20, have: [])), at: .zero)) == [1, 2, 3])
    #expect(Self.gets(run.handle(.of(0, .rangeDone(.init(range: 2))), at: .zero)) == [])
    _ = run.handle(.of(0, .rangeDone(.init(range: 1))), at: .zero)
    #expect(Self.gets(run.handle(.of(0, .passedOn(2)), at: .zero)) == [4, 5])
  }

  private static func gets(_ orders: [Run<DownloadMachine>.Order]) -> [Int] {
    orders.compactMap { if case .act(_, .get(let range, _, _)) = $0 { range } else { nil } }
  }
}

/// A run of several downloads from a store that fails, refuses, and replaces objects.
private struct DownloadPlay {
  private struct Out {
    var object: Int
    var action: DownloadMachine.Action
    var isCancelled = false
  }

  private var dice: SimDice
  private var run: Run<DownloadMachine>
  private var out: [Out] = []
  private var timers: [Int] = []
  private var now = 0
  /// Whether the store has replaced the object since the HEAD.
  private var isReplaced: [Bool]
  private var ranges: [Int] = []
  private var arrived: [Int: Set<Int>] = [:]
  /// The ranges that an earlier run has left, and has proven.
  private var left: [Int: Set<Int>] = [:]
  /// Ranges that have arrived with wrong bytes.
  private var wrong: [Int: Set<Int>] = [:]
  private var reloads: Set<Int> = []
  private var ends: [Int: DownloadMachine.Outcome] = [:]
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
    isReplaced = (0..<1 + dice.below(12)).map { _ in false }
    for object in isReplaced.indices {
      let ahead = dice.chance(0.3) ? 1 + dice.below(3) : nil
      let isListed = dice.chance(0.3)
      run.add(
        object, DownloadMachine(.init(rangeSize: 1 << 20, ahead: isListed ? nil : ahead, isListed: isListed)),
        partSize: 1 << 20)
      ranges.append(isListed ? 1 : dice.below(10))
      if ahead == nil, !isListed {
        left[object] = Set((0..<ranges[object]).map { $0 + 1 }.filter { _ in dice.chance(0.3) })
      }
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
    for object in isReplaced.indices {
      guard let end = ends[object] else { return mistakes.append("object \(object) has no end") }
      if end == .done, arrived[object, default: []].count != ranges[object] {
        mistakes.append("object \(object) is not whole")
      }
      if end == .done, !wrong[object, default: []].isEmpty { mistakes.append("object \(object) is wrong") }
      if faults == 0, !replaces, stopAt == nil, end != .done {
        mistakes.append("object \(object) failed without a fault")
      }
    }
  }

  private mutating func step() {
    now += dice.below(100)
    if replaces, dice.chance(0.02) { isReplaced[dice.below(isReplaced.count)] = true }
    if let next = timers.min(), next <= now || out.isEmpty {
      now = max(now, next)
      timers.removeAll { $0 <= now }
      return take(run.handle(.tick, at: .milliseconds(now)))
    }
    guard !out.isEmpty else { return mistakes.append("nothing is pending, but there is no end") }
    let next = out.remove(at: dice.below(out.count))
    let event = answer(next)
    take(run.handle(.of(next.object, event), at: .milliseconds(now)))
    guard case .rangeDone = event, run[next.object]?.settings.ahead != nil else { return }
    let have = arrived[next.object, default: []]
    let place = (1...10).first { !have.contains($0) } ?? 10
    take(run.handle(.of(next.object, .passedOn(place - 1)), at: .milliseconds(now)))
  }

  private mutating func answer(_ next: Out) -> DownloadMachine.Event {
    let isFault = dice.chance(faults)
    switch next.action {
    case .get(let range, _, _):
      if next.isCancelled, dice.chance(0.8) { return .rangeFailed(range, Failure(.interrupted, "cancelled")) }
      if isReplaced[next.object] { return .rangeFailed(range, RangeSink.replaced) }
      if isFault { return .rangeFailed(range, Failure(dice.chance(0.3) ? .throttled : .network, "fault")) }
      // The first of two copies counts.
      if arrived[next.object, default: []].insert(range).inserted, dice.chance(faults / 4) {
        wrong[next.object, default: []].insert(range)
      }
      return .rangeDone(.init(range: range))
    case .open:
      if isFault { return .openFailed(Failure(.local, "no room")) }
      let count = ranges[next.object]
      let have = left[next.object, default: []]
      arrived[next.object, default: []].formUnion(have)
      return .opened(ranges: count, size: Int64(count) << 20, have: have)
    case .prove:
      if arrived[next.object, default: []].count != ranges[next.object] { mistakes.append("proven too early") }
      if dice.chance(faults / 4) { return .proofFailed(Failure(.local, "not readable")) }
      return wrong[next.object, default: []].isEmpty ? .proven : .refuted(Failure(.dataMismatch, "another sum"))
    case .publish: return isFault ? .publishFailed(Failure(.local, "no room")) : .published
    default: return isFault ? .headFailed(Failure(.network, "reset")) : .found
    }
  }

  private mutating func take(_ orders: [Run<DownloadMachine>.Order]) {
    for order in orders {
      switch order {
      case .wake(let time): timers.append(time.simulated)
      case .paced: break
      case .act(let object, .cancel(let range)):
        for index in out.indices where out[index].object == object {
          if case .get(range, _, _) = out[index].action { out[index].isCancelled = true }
        }
      case .act(let object, .finish(let outcome)):
        if ends[object] != nil { mistakes.append("object \(object) ends twice") }
        if out.contains(where: { $0.object == object }) { mistakes.append("object \(object) ends too early") }
        ends[object] = outcome
      case .act(let object, .say(.reloads)):
        if !reloads.insert(object).inserted { mistakes.append("object \(object) is loaded a third time") }
        (arrived[object], wrong[object], left[object]) = ([], [], [])
      case .act(_, .say): break
      case .act(let object, .get(let range, _, _)) where left[object, default: []].contains(range):
        mistakes.append("range \(range) of object \(object) is loaded again")
      case .act(let object, let action):
        out.append(Out(object: object, action: action))

      }
    }
    let firsts = out.count { if case .get(_, _, isCopy: false) = $0.action { true } else { false } }
    if firsts > run.scheduler.settings.concurrency { mistakes.append("\(firsts) transfers at once") }
  }
}
