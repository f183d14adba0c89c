import MultipartBasics
@testable import MultipartCore
import Testing

@Suite("Lock", .timeLimit(.minutes(15)))
struct LockTests {
  @Test("no increment is lost among tasks")
  func countsAreWhole() async {
    let counter = Locked(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<1000 { counter.withLock { $0 += 1 } } }
      }
    }
    #expect(counter.withLock { $0 } == 8000)
  }

  @Test("an error thrown under the lock releases it")
  func errorReleases() {
    let lock = Lock()
    #expect(throws: Failure.self) {
      try lock.withLock { () throws(Failure) in throw Failure(.local, "thrown under the lock") }
    }
    #expect(lock.withLock { true })
  }
}
