import MultipartBasics
@testable import MultipartCore
import Testing

@testable import s3up

@Suite(.timeLimit(.minutes(15))) struct CredentialWatchTests {
  private let now = Timestamp(seconds: 1_800_000_000)

  @Test("An upload that ends before its credentials expire gives no warning; one that does not names both times")
  func both() {
    let end = Timestamp(seconds: now.seconds + 600)
    #expect(CredentialWatch.warning(now: now, eta: .seconds(600), end: end) == nil)
    let text = CredentialWatch.warning(now: now, eta: .seconds(601), end: end)
    #expect(text?.contains("expire at 2027-01-15T08:10:00Z") == true, "\(text ?? "")")
    #expect(text?.contains("ends at 2027-01-15T08:10:01Z") == true)
    #expect(CredentialWatch.warning(now: now, eta: .seconds(1), end: now)?.contains("expired at") == true)
  }
}
