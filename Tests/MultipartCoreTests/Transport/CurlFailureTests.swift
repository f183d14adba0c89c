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

  @Test("What answers without TLS through a proxy is not asked in plain HTTP, but the proxy is named")
  func foreignProxy() throws {
    var trouble = CurlTrouble(code: CURLE_SSL_CONNECT_ERROR, place: "https://store.test")
    trouble.isForeign = true
    #expect(Failure(trouble).remedy?.description.contains("http://store.test") == true)
    trouble.proxy = ProxyName("http://proxy.test:3128", source: .variable("HTTPS_PROXY"))
    let failure = Failure(trouble)
    #expect(failure.code == .tls && failure.message.description.contains("http://proxy.test:3128"))
    #expect(failure.remedy?.description == "check the proxy (HTTPS_PROXY), or bypass it: export NO_PROXY=store.test")
  }
}
