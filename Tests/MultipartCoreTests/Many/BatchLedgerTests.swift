import MultipartBasics
@testable import MultipartCore
import Testing

@Suite struct BatchLedgerTests {
  private let said = Locked<[String]>([])
  private let ends = Locked(0)
  private let question = Locked<(@Sendable (Failure) -> Void)?>(nil)
  private static let noBucket = Failure(.refused, "the bucket does not exist", s3Code: "NoSuchBucket")

  private func ledger(stopsAtFirstFailure: Bool = false) -> BatchLedger {
    let world = World.ofProcess([:], upTo: 0) { [said] _, text in said.withLock { $0.append("\(text)") } }
    return BatchLedger(world, readsObjects: true, stopsAtFirstFailure: stopsAtFirstFailure) { _ in }
  }

  private func fail(
    _ ledger: BatchLedger, _ failure: Failure = Failure(.refused, "there is no object at the key"),
    isInterrupted: Bool = false
  ) {
    let result = BatchResult(source: "f", bucket: "b", key: "k", result: .failure(failure))
    ledger.failed(result, failure, isInterrupted: isInterrupted) { [question] isMissing in
      question.withLock { $0 = isMissing }
    } giveUp: { [ends] in
      ends.withLock { $0 += 1 }
    }
  }

  /// A run in which so many objects are missing that their bucket is asked for.
  private func doubtful() throws -> (BatchLedger, @Sendable (Failure) -> Void) {
    let ledger = ledger()
    for _ in 1...15 { fail(ledger) }
    #expect(question.withLock { $0 == nil })
    fail(ledger)
    return (ledger, try #require(question.withLock { $0 }))
  }

  @Test("A missing bucket ends the run, and this is said")
  func missing() throws {
    let (ledger, isMissing) = try doubtful()
    isMissing(Self.noBucket)
    #expect(ends.withLock { $0 } == 1 && said.withLock { $0 } == ["the bucket does not exist"])
    #expect(ledger.close(nil).summary.hasGivenUp)
  }

  @Test("An object that was found while the bucket was asked for shows that there is one")
  func found() throws {
    let (ledger, isMissing) = try doubtful()
    ledger.ended(.skipped(SkippedSource(path: "g", reason: .link))) { $0.verified += 1 }
    isMissing(Self.noBucket)
    #expect(ends.withLock { $0 } == 0 && said.withLock { $0.isEmpty } && !ledger.close(nil).summary.hasGivenUp)
  }

  @Test("After the end of the run nothing is said")
  func over() throws {
    let (ledger, isMissing) = try doubtful()
    #expect(ledger.close(nil).summary.failed == 16)
    isMissing(Self.noBucket)
    #expect(ends.withLock { $0 } == 0 && said.withLock { $0.isEmpty })
  }

  @Test("What was stopped has not failed, and neither counts nor ends the run")
  func stopped() {
    let ledger = ledger(stopsAtFirstFailure: true)
    for failure in [Failure.interrupted, .timeIsOver] { fail(ledger, failure, isInterrupted: true) }
    #expect(ledger.close(nil).summary == BatchSummary() && ends.withLock { $0 } == 0)
    fail(ledger)
    #expect(ends.withLock { $0 } == 1)
  }

  @Test("The totals of a run that was cut short say so, and why, unless the run stopped itself")
  func cutShort() {
    let search = Failure(.local, "the folder cannot be read")
    for stop in [Failure.interrupted, .timeIsOver, search] {
      let (summary, reason) = ledger().close(stop)
      #expect(summary.hasGivenUp && reason?.message == stop.message)
      let stopped = ledger(stopsAtFirstFailure: true)
      fail(stopped)
      #expect(stopped.close(stop).stop?.message == (stop.isInterruption ? nil : stop.message))
      #expect(stopped.now.summary.hasGivenUp)
    }
    let (summary, reason) = ledger().close(nil)
    #expect(!summary.hasGivenUp && reason == nil)
  }

  @Test("What was stopped in a run that goes on has failed: nothing else would tell of it")
  func stoppedAlone() {
    let told = Locked<[Failure]>([])
    let ledger = BatchLedger(.ofProcess([:], upTo: 0) { _, _ in }, readsObjects: true, stopsAtFirstFailure: false) {
      guard case .ended(let result) = $0, case .failure(let failure) = result.result else { return }
      told.withLock { $0.append(failure) }
    }
    fail(ledger, Failure(.interrupted, "another copy of the range was faster"))
    #expect(ledger.close(nil).summary.failed == 1)
    #expect(told.withLock { $0.map(\.code) } == [.local])
  }
}
