import MultipartBasics
@testable import MultipartCore
import Testing

@Suite struct BatchLedgerTests {
  private let said = Locked<[String]>([])
  private static let noBucket = Failure(.refused, "the bucket does not exist", s3Code: "NoSuchBucket")

  /// A ledger of a run in which so many objects are missing that their bucket is asked for.
  private func doubtful() -> BatchLedger {
    let world = World.ofProcess([:], upTo: 0) { [said] _, text in said.withLock { $0.append("\(text)") } }
    let ledger = BatchLedger(world, readsObjects: true, stopsAtFirstFailure: false) { _ in }
    let failure = Failure(.refused, "there is no object at the key")
    let result = BatchResult(source: "f", bucket: "b", key: "k", result: .failure(failure))
    let verdicts = (1...16).map { _ in ledger.failed(result, failure) }
    #expect(verdicts.dropLast().allSatisfy { $0 == .goOn } && verdicts.last == .doubtBucket)
    return ledger
  }

  @Test("A missing bucket ends the run, and this is said")
  func missing() {
    #expect(doubtful().ends(Self.noBucket))
    #expect(said.withLock { $0 } == ["the bucket does not exist"])
  }

  @Test("An object that was found while the bucket was asked for shows that there is one")
  func found() {
    let ledger = doubtful()
    ledger.ended(.skipped(SkippedSource(path: "g", reason: .link))) { $0.verified += 1 }
    #expect(!ledger.ends(Self.noBucket) && said.withLock { $0.isEmpty })
  }

  @Test("After the end of the run nothing is said")
  func over() {
    let ledger = doubtful()
    #expect(ledger.close().failed == 16)
    #expect(!ledger.ends(Self.noBucket) && said.withLock { $0.isEmpty })
  }

  @Test("What was stopped has not failed, and neither counts nor ends the run")
  func stopped() {
    let world = World.ofProcess([:], upTo: 0) { _, _ in }
    let ledger = BatchLedger(world, readsObjects: false, stopsAtFirstFailure: true) { _ in }
    for failure in [Failure.interrupted, .timeIsOver] {
      let result = BatchResult(source: "f", bucket: "b", key: "k", result: .failure(failure))
      #expect(ledger.failed(result, failure) == .goOn)
    }
    #expect(ledger.close() == BatchSummary())
  }
}
