import MultipartBasics
import Testing

@testable import MultipartCore

@Suite struct DeadlineTests {
  @Test("An upload that is kept has the whole time; one that must be aborted reserves time for that")
  func split() {
    let kept = RunDriver<Uploader>.split(.seconds(60), aborts: false)
    #expect(kept.wait == .seconds(60) && kept.grace <= .milliseconds(500))
    for (left, grace) in [(Duration.seconds(60), Duration.seconds(4)), (.seconds(8), .seconds(2)), (.zero, .zero)] {
      let stream = RunDriver<Uploader>.split(left, aborts: true)
      #expect(stream.grace == grace && stream.wait + stream.grace == left)
    }
  }

  /// The work runs beside the handler of the cancellation, so that a run which learns of it only there is now and then
  /// too late.
  @Test("A run whose caller was cancelled before is interrupted before its work begins")
  func cancelledBefore() async throws {
    let late = Locked(0)
    for _ in 1...20_000 {
      let driver = RunDriver<Uploader>(
        RunSettings(), transport: ScriptedStore { _, _ in Response(status: 200) }, origin: "http://store.invalid",
        world: .ofProcess([:], upTo: 0) { _, _ in })
      await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try? await driver.perform(deadline: nil) {
          if driver.interruption == nil { late.withLock { $0 += 1 } }
        }
      }
      .value
    }
    #expect(late.withLock { $0 } == 0)
  }
}
