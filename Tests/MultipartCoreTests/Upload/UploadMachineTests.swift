@testable import MultipartCore
import Support
import Testing

// With a thread sanitizer the orders of two faults take a quarter of an hour.
@Suite(.timeLimit(.minutes(45))) struct UploadMachineTests {
  private static func settings(
    parts: Int, concurrency: Int = 2, tries: Int = 3, checksFirst: Bool = false, verifies: Bool = false
  ) throws -> SoloSettings {
    let part: Int64 = 5 << 20
    return SoloSettings(
      plan: try UploadPlan(size: part * Int64(parts), partSize: part), concurrency: concurrency,
      retry: RetryPolicy(tries: tries), form: .algorithm(.crc64nvme), formIsFree: true, checksFirst: checksFirst,
      alwaysVerifies: verifies, seed: 1)
  }

  private struct Seen: Sendable {
    var ends: [String: Int] = [:]
    var mistakes: [String] = []
  }

  /// Plays every order of answers with up to `faults` bad ones, and counts the ends.
  private func explore(_ faults: Int, _ play: @escaping @Sendable () throws -> MachinePlay) async throws -> [String:
    Int]
  {
    let seen = try await aside {
      var seen = Seen()
      Self.walk(try play(), faults, &seen)
      return seen
    }
    for mistake in seen.mistakes { Issue.record("\(mistake)") }
    return seen.ends
  }

  private static func walk(_ play: MachinePlay, _ faults: Int, _ seen: inout Seen) {
    // A few mistakes are enough to find the fault.
    guard seen.mistakes.count < 10 else { return }
    guard play.mistakes.isEmpty else {
      seen.mistakes += play.mistakes.map { "\($0)" }
      return
    }
    if let outcome = play.outcome {
      var last = play
      last.judgeEnd()
      seen.mistakes += last.mistakes.map { "\($0): \(outcome), after \(last.history)" }
      seen.ends[outcome.title + (last.machine.abandoned.isEmpty ? "" : " left behind"), default: 0] += 1
      return
    }
    for choice in play.choices(faults: faults > 0) {
      var next = play
      choice.play(&next)
      walk(next, faults - (choice.isFault ? 1 : 0), &seen)
    }
  }

  @Test("Whatever order two faults and an interruption come in, an upload in parts ends, proven or cleaned up")
  func everyOrderOfParts() async throws {
    let ends = try await explore(3) { try MachinePlay(Self.settings(parts: 2, checksFirst: true)) }
    #expect(ends["completed"].map { $0 > 100 } == true)
    #expect(ends["failed interrupted"].map { $0 > 10 } == true)
    #expect(ends["failed sourceChanged"].map { $0 > 10 } == true)
    #expect(ends["failed precondition"].map { $0 > 1 } == true)
  }

  @Test("Whatever order three faults come in, a single PutObject ends, proven or failed")
  func everyOrderOfPut() async throws {
    for object in [MachinePlay.Object.none, .older] {
      let ends = try await explore(3) { try MachinePlay(Self.settings(parts: 1, verifies: true), object: object) }
      #expect(ends["completed"].map { $0 > 10 } == true)
      #expect(ends["failed refused"].map { $0 > 1 } == true)
    }
  }

  @Test("Whatever order three faults come in, an older object is never taken for the new one")
  func everyOrderOverAnOlderObject() async throws {
    for records in [true, false] {
      for tries in [1, 2] {
        var settings = try Self.settings(parts: 1, tries: tries)
        settings.plan = try UploadPlan(size: 6 << 20, partSize: 5 << 20)
        settings.concurrency = 1
        settings.keepsOn = [.network, .throttled, .server, .interrupted]
        let ends = try await explore(3) { [settings] in MachinePlay(settings, records: records, object: .older) }
        #expect(ends["completed"].map { $0 > 10 } == true)
        #expect(ends["failed network" + (records ? " kept" : "")].map { $0 > 1 } == true)
      }
    }
  }

  @Test("Whatever order two faults come in, an object's requested settings are checked before it is a success")
  func everyOrderOfInspecting() async throws {
    for parts in [1, 2] {
      var settings = try Self.settings(parts: parts)
      settings.inspects = true
      settings.keepsOn = [.network, .interrupted]
      let ends = try await explore(2) { [settings] in MachinePlay(settings, records: true) }
      #expect(ends["completed"].map { $0 > 5 } == true)
      #expect(ends["failed refused"].map { $0 > 1 } == true)
    }
  }

  @Test("Three parts, three at once, two faults: every order ends in success or leaves nothing")
  func threeParts() async throws {
    let ends = try await explore(2) { try MachinePlay(Self.settings(parts: 3, concurrency: 3)) }
    #expect(ends["completed"].map { $0 > 1000 } == true)
  }

  @Test(
    "Whatever order two faults come in, an unfinished upload is resumed, left alone, or aborted",
    arguments: [true, false])
  func everyOrderOfResume(isOwn: Bool) async throws {
    for left in [[], [1], [2, 3], [1, 2, 3]] {
      var settings = try Self.settings(parts: 3)
      settings.finds = true
      settings.keepsOn = [.network, .throttled, .interrupted]
      let ends = try await explore(2) { [settings] in MachinePlay(settings, left: left, leftIsOwn: isOwn, records: true)
      }
      #expect(ends["completed"].map { $0 > 20 } == true)
      #expect(ends["failed interrupted kept"].map { $0 > 5 } == true)
    }
  }

  @Test("With one try for every request, three faults still leave nothing behind unreported")
  func noRetries() async throws {
    let ends = try await explore(3) { try MachinePlay(Self.settings(parts: 2, tries: 1)) }
    #expect(ends["failed network left behind"].map { $0 > 1 } == true)
    #expect(ends["failed network"].map { $0 > 10 } == true)
  }
}

extension UploadMachine.Outcome {
  var title: String {
    switch self {
    case .completed: "completed"
    case .unchanged: "unchanged"
    case .skipped: "skipped"
    case .planned: "planned"
    case .sharing: "sharing"
    case .failed(let code, let isKept): "failed \(code.rawValue)" + (isKept ? " kept" : "")
    }
  }
}
