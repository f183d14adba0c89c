import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// A clock that a test sets; sleeping advances it too.
private final class HandClock: Sendable {
  private let seconds = Guarded<Int64>(1_000_000)
  let sleeps = Guarded(0)

  func move(_ by: Int64) { seconds.with { $0 += by } }

  var world: World {
    World(
      now: { [seconds] in Timestamp(seconds: seconds.with { $0 }) },
      uptime: { [seconds] in .seconds(seconds.with { $0 }) },
      sleep: { [seconds, sleeps] duration in
        try Task.checkCancellation()
        seconds.with { at in at += duration.components.seconds }
        sleeps.with { $0 += 1 }
        await Task.yield()
      }, random: { 0.5 }, environment: [:])
  }

  var now: Int64 { seconds.with { $0 } }
}

/// A source whose answers are set by a test.
private final class Source: Sendable {
  struct Answer: Sendable {
    var id = "A"
    var expiration: Int64?
    var failure: Failure.Code?
    var mayAppear = false
  }

  let answer = Guarded(Answer())
  /// Called at each request to the source, to change the answer while it is running.
  let meanwhile = Guarded<(@Sendable (inout Answer) -> Void)?>(nil)
  let asked = Guarded(0)
  let gate = Guarded<[CheckedContinuation<Void, Never>]>([])
  let isSlow = Guarded(false)

  func ask() async throws(Failure) -> Credentials {
    asked.with { $0 += 1 }
    if isSlow.with({ $0 }) { await withCheckedContinuation { next in gate.with { $0.append(next) } } }
    let change = meanwhile.with { $0 }
    let answer = answer.with { answer in
      change?(&answer)
      return answer
    }
    if let code = answer.failure {
      var failure = Failure(code, "the source fails")
      failure.mayAppear = answer.mayAppear
      throw failure
    }
    return Credentials(
      accessKeyID: answer.id, secretAccessKey: Secret("s" + answer.id),
      expiration: answer.expiration.map { Timestamp(seconds: $0) }, source: "test")
  }

  func open() {
    isSlow.with { $0 = false }
    for next in gate.with({ waiting in
      defer { waiting = [] }; return waiting
    }) { next.resume() }
  }
}

@Suite(.timeLimit(.minutes(15))) struct CredentialKeeperTests {
  private let clock = HandClock()
  private let source = Source()
  private let said = Guarded<[String]>([])
  private let refusal = Failure(.credentialsExpired, "the store refused the token", s3Code: "ExpiredToken")

  private func keeper(patience: Duration? = nil) -> CredentialKeeper {
    CredentialKeeper(
      world: clock.world, patience: patience, say: { [said] text in said.with { $0.append(text.description) } }
    ) {
      [source] () async throws(Failure) in try await source.ask()
    }
  }

  /// Waits until the background work is done.
  private func settle(_ condition: @Sendable () -> Bool) async {
    for _ in 0..<100_000 where !condition() { await Task.yield() }
  }

  @Test("Credentials without an expiry are looked up once, however many callers ask at once")
  func once() async throws {
    let keeper = keeper()
    source.isSlow.with { $0 = true }
    let ids = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<20 { group.addTask { try await keeper.current().credentials.accessKeyID } }
      await settle { [source] in source.gate.with { !$0.isEmpty } }
      source.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ids == Array(repeating: "A", count: 20))
    clock.move(1_000_000)
    _ = try await keeper.current()
    #expect(source.asked.with { $0 } == 1)
  }

  @Test("A file that is empty while it is rewritten is read again, if there were credentials before")
  func rewritten() async throws {
    let keeper = keeper()
    let generation = try await keeper.current().generation
    clock.move(10)
    source.answer.with { ($0.id, $0.failure, $0.mayAppear) = ("B", .credentials, true) }
    source.meanwhile.with { [source] in
      $0 = { answer in if source.asked.with({ $0 }) == 4 { answer.failure = nil } }
    }
    #expect(try await keeper.renew(after: generation, cause: refusal))
    #expect(source.asked.with { $0 } == 4)
    // Nothing has appeared: the wait is short.
    source.meanwhile.with { $0 = nil }
    source.answer.with { $0.failure = .credentials }
    clock.move(10)
    await #expect(throws: Failure.self) { try await keeper.renew(after: generation + 1, cause: refusal) }
    #expect(source.asked.with { $0 } == 9)
  }

  @Test("After twenty parts are refused together the source is asked once, and each part is sent again")
  func refusedTogether() async throws {
    let keeper = keeper()
    let generation = try await keeper.current().generation
    clock.move(10)
    source.answer.with { $0.id = "B" }
    source.isSlow.with { $0 = true }
    let refusal = refusal
    let renewed = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 { group.addTask { try await keeper.renew(after: generation, cause: refusal) } }
      await settle { [source] in source.gate.with { !$0.isEmpty } }
      source.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(renewed == Array(repeating: true, count: 20))
    #expect(source.asked.with { $0 } == 2)
    // A request that was refused earlier, but reports it late, does not cause another request to the source.
    clock.move(100)
    #expect(try await keeper.renew(after: generation, cause: refusal))
    #expect(source.asked.with { $0 } == 2)
    #expect(try await keeper.current().credentials.accessKeyID == "B")
  }

  @Test(
    "They are renewed before they expire, while the old ones still sign; a source that fails then is not a failure")
  func ahead() async throws {
    let keeper = keeper()
    source.answer.with { $0.expiration = clock.now + 3600 }
    _ = try await keeper.current()
    clock.move(3200)
    _ = try await keeper.current()
    #expect(source.asked.with { $0 } == 1)
    clock.move(200)
    source.answer.with { $0.failure = .network }
    #expect(try await keeper.current().credentials.accessKeyID == "A")
    await settle { [source] in source.asked.with { $0 } == 2 }
    // The message is not repeated at each request.
    #expect(try await keeper.current().credentials.accessKeyID == "A")
    #expect(source.asked.with { $0 } == 2)
    clock.move(60)
    source.answer.with { $0 = Source.Answer(id: "B", expiration: clock.now + 3600) }
    _ = try await keeper.current()
    await settle { [source] in source.asked.with { $0 } == 3 }
    for _ in 0..<1000 { if try await keeper.current().generation == 2 { break } else { await Task.yield() } }
    #expect(try await keeper.current().credentials.accessKeyID == "B")
  }

  @Test("Credentials for 20 s are renewed in the last quarter, and after they expire requests wait")
  func short() async throws {
    let keeper = keeper()
    source.answer.with { $0.expiration = clock.now + 20 }
    _ = try await keeper.current()
    clock.move(14)
    _ = try await keeper.current()
    #expect(source.asked.with { $0 } == 1)
    clock.move(6)
    source.answer.with { $0 = Source.Answer(id: "B", expiration: clock.now + 20) }
    #expect(try await keeper.current().credentials.accessKeyID == "B")
  }

  /// The seconds that requests wait for a source that hangs from `start` on, with credentials that last 20 seconds.
  private func delay(from start: Int64, requests: Int) async throws -> Int64 {
    let (clock, source) = (clock, source)
    let keeper = CredentialKeeper(
      world: clock.world, alarm: { left in if source.isSlow.with({ $0 }) { clock.move(left.components.seconds) } },
      source: { () async throws(Failure) in try await source.ask() })
    source.answer.with { $0.expiration = clock.now + 20 }
    _ = try await keeper.current()
    clock.move(start)
    source.isSlow.with { $0 = true }
    defer { source.open() }
    let before = clock.now
    for _ in 0..<requests { #expect(try await keeper.current().credentials.accessKeyID == "A") }
    return clock.now - before
  }

  @Test("While credentials are valid, a source that hangs delays a request only until they expire")
  func hangsWhileValid() async throws {
    #expect(try await delay(from: 17, requests: 1) == 3)
  }

  @Test("Once they have expired, a source that hangs delays the first request for half a minute, and no other")
  func hangsAfterwards() async throws {
    #expect(try await delay(from: 21, requests: 3) == 30)
  }

  @Test("Seemingly expired credentials are used if there are no others, because the clock may be wrong")
  func endedBySight() async throws {
    let keeper = keeper()
    source.answer.with { $0.expiration = clock.now - 100_000 }
    for _ in 0..<3 {
      clock.move(5)
      #expect(try await keeper.current().credentials.accessKeyID == "A")
    }
  }

  @Test("Where the clock is ahead of each new session's end, a source is asked once a minute, not for each request")
  func endedOnArrival() async throws {
    let keeper = keeper()
    source.meanwhile.with { change in
      change = { [clock] in
        $0.id += "x"
        $0.expiration = clock.now - 3600
      }
    }
    for _ in 0..<100 {
      clock.move(1)
      _ = try await keeper.current()
      await Task.yield()
    }
    #expect(source.asked.with { $0 } <= 3)
  }

  @Test(
    "Without patience a refusal fails at once, with the source's reason, or the store's if the source has nothing new"
  )
  func impatient() async throws {
    let keeper = keeper()
    let generation = try await keeper.current().generation
    clock.move(10)
    #expect(try await !keeper.renew(after: generation, cause: refusal))
    clock.move(10)
    source.answer.with { $0.failure = .credentials }
    let refusal = refusal
    let failure = await #expect(throws: Failure.self) { try await keeper.renew(after: generation, cause: refusal) }
    #expect(failure?.message == "the source fails")
    #expect(failure?.isSettled == true)
    #expect(clock.sleeps.with { $0 } == 0)
  }

  @Test("With patience it waits until a source has new credentials, and reports that once a minute")
  func patient() async throws {
    let keeper = keeper(patience: .seconds(1800))
    let generation = try await keeper.current().generation
    source.meanwhile.with { $0 = { [clock] in if clock.now >= 1_000_000 + 300 { $0.id = "B" } } }
    #expect(try await keeper.renew(after: generation, cause: refusal))
    #expect((300..<310).contains(clock.now - 1_000_000))
    let minutes = (clock.now - 1_000_000) / 60
    #expect((Int(minutes)...Int(minutes) + 1).contains(said.with { $0.count }))
    #expect(said.with { $0.first }?.contains("the store refused the token") == true)
  }

  @Test("The wait ends after its limit, and for a cancelled caller at once")
  func patienceEnds() async throws {
    let keeper = keeper(patience: .seconds(600))
    let generation = try await keeper.current().generation
    #expect(try await !keeper.renew(after: generation, cause: refusal))
    #expect(clock.now - 1_000_000 >= 600)

    let other = self.keeper(patience: .seconds(600))
    let first = try await other.current().generation
    source.isSlow.with { $0 = true }
    clock.move(10)
    let stuck = Task { [refusal] in try await other.renew(after: first, cause: refusal) }
    await settle { [source] in source.gate.with { !$0.isEmpty } }
    stuck.cancel()
    await #expect(throws: Failure.self) { try await stuck.value }
    source.open()
  }

  @Test("All requests share one wait: a request that is refused after it is over does not start it again")
  func onePatience() async throws {
    let keeper = keeper(patience: .seconds(12))
    let generation = try await keeper.current().generation
    let start = clock.now
    #expect(try await !keeper.renew(after: generation, cause: refusal))
    #expect(clock.now - start == 12)
    #expect(try await !keeper.renew(after: generation, cause: refusal))
    #expect(clock.now - start == 12)
    // New credentials end the wait; the next wait has its full time.
    source.answer.with { $0.id = "B" }
    clock.move(100)
    #expect(try await keeper.renew(after: generation, cause: refusal))
    let next = clock.now
    #expect(try await !keeper.renew(after: generation + 1, cause: refusal))
    #expect(clock.now - next == 12)
  }

  @Test("The last look is at the end of the wait, and finds credentials that appeared until then")
  func lastLook() async throws {
    let keeper = keeper(patience: .seconds(12))
    let generation = try await keeper.current().generation
    let (start, clock) = (clock.now, clock)
    source.meanwhile.with { $0 = { answer in if clock.now - start >= 12 { answer.id = "B" } } }
    #expect(try await keeper.renew(after: generation, cause: refusal))
    #expect(clock.now - start == 12)
  }

  @Test("A source that does not answer is waited for only until the end of the wait")
  func silentSource() async throws {
    let clock = clock
    let keeper = CredentialKeeper(
      world: clock.world, patience: .seconds(12), alarm: { clock.move($0.components.seconds) },
      source: { [source] () async throws(Failure) in try await source.ask() })
    source.isSlow.with { $0 = true }
    let start = clock.now
    let failure = await #expect(throws: Failure.self) { try await keeper.current() }
    #expect(failure?.code == .credentials && failure?.message.settings == [.waitForCredentials])
    #expect(clock.now - start == 12)
    source.open()
  }

  @Test("A source that stops answering during a renewal is waited for only until the end of the wait")
  func fallsSilent() async throws {
    let (clock, rung) = (clock, Guarded(false))
    let keeper = CredentialKeeper(
      world: clock.world, patience: .seconds(12),
      alarm: { [source] left in
        guard source.isSlow.with({ $0 }) else { return }
        clock.move(left.components.seconds)
        rung.with { $0 = true }
      },
      source: { [source] () async throws(Failure) in try await source.ask() })
    let generation = try await keeper.current().generation
    source.isSlow.with { $0 = true }
    defer { source.open() }
    let start = clock.now
    let renewal = Task { [refusal] in try await keeper.renew(after: generation, cause: refusal) }
    try await until("the wait is ended") { rung.with { $0 } }
    #expect(try await !renewal.value)
    #expect(clock.now - start == 12)
  }

  @Test("Without credentials at the start the whole run fails once; with patience it waits")
  func start() async throws {
    source.answer.with { $0.failure = .credentials }
    let hasty = keeper()
    for _ in 0..<3 {
      clock.move(10)
      await #expect(throws: Failure.self) { try await hasty.current() }
    }
    #expect(source.asked.with { $0 } == 1)
    let patient = keeper(patience: .seconds(1800))
    source.meanwhile.with { $0 = { [clock] in if clock.now >= 1_000_000 + 300 { $0.failure = nil } } }
    #expect(try await patient.current().credentials.accessKeyID == "A")
    #expect(said.with { !$0.isEmpty })
  }
}
