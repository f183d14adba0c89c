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
}
