import CCurl
import Testing

@testable import MultipartCore

@Suite struct CurlFailureTests {
  @Test("A broken connection suggests TLS only if the port has not answered in plain HTTP", arguments: [false, true])
  func wayToTLS(hasAnswered: Bool) throws {
    var trouble = CurlTrouble(code: CURLE_RECV_ERROR, place: "http://store.test:9000")
    trouble.hasAnswered = hasAnswered
    let failure = Failure(trouble)
    #expect(failure.code == .network)
    #expect(failure.remedy?.description.contains("https://store.test:9000") == (hasAnswered ? nil : true))
  }
}
