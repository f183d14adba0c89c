import Foundation
@testable import MultipartCore
import Support
import Testing

/// TLS and proxies. The fake store answers unsigned requests with 403, which is an answer.
@Suite(.timeLimit(.minutes(10))) struct CurlTLSTests {
  private func get(_ url: String) -> Request { Request(method: .get, url: url) }

  @Test("An unknown authority is refused, a known one accepted, and any one without verification")
  func authority() async throws {
    let fake = try FakeS3()
    let url = fake.tlsEndpoint + "/bucket"
    let refused = await outcome(try plainTransport(), get(url))
    #expect(refused.code == .tls)
    guard case .failure(let failure) = refused else { return }
    #expect(failure.remedy?.settings == [.caBundle])
    #expect(await outcome(try plainTransport { $0.caBundle = fake.caFile }, get(url)).status == 403)
    #expect(await outcome(try plainTransport { $0.verifiesTLS = false }, get(url)).status == 403)
    // No request reached the store from the one that did not trust it.
    #expect(fake.requests.count == 2)
  }

  @Test("A certificate for another name is refused, and accepted without verification")
  func wrongName() async throws {
    let fake = try FakeS3()
    // The certificate has the loopback address, but not another one of the same network.
    let proxy = try RawServer { connection, _ in
      guard connection.readHead() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\n\r\n")
      connection.splice(to: fake.tlsPort)
    }
    var settings = ProxySettings()
    settings.https = proxy.url
    let (caFile, through) = (fake.caFile, settings)
    let url = "https://other.example/bucket"
    let trusting = try plainTransport {
      $0.caBundle = caFile
      $0.proxy = through
    }
    #expect(await outcome(trusting, get(url)).code == .tls)
    #expect(fake.requests.isEmpty)
    let blind = try plainTransport {
      $0.verifiesTLS = false
      $0.proxy = through
    }
    #expect(await outcome(blind, get(url)).status != nil)
  }

  @Test("A missing bundle, or one without a certificate, is a configuration failure")
  func badBundle() async throws {
    let fake = try FakeS3()
    let empty = try fake.directory.write("no certificate", to: "empty.pem")
    for bundle in [fake.directory.path("nothing.pem"), empty] {
      let result = await outcome(try plainTransport { $0.caBundle = bundle }, get(fake.tlsEndpoint + "/"))
      #expect(result.code == .configuration, "\(result)")
    }
  }

  @Test("A server without TLS is not sent plain HTTP")
  func plainServer() async throws {
    let heard = Guarded<[UInt8]>([])
    let server = try RawServer { connection, _ in
      if let bytes = connection.receive() { heard.with { $0 += bytes } }
      connection.answer()
    }
    let result = await outcome(try plainTransport(), get("https://127.0.0.1:\(server.port)/secret-path"))
    #expect(result.status == nil)
    #expect(!String(decoding: heard.with { $0 }, as: UTF8.self).contains("secret-path"))
  }

  @Test("A body is sent unchanged over TLS")
  func body() async throws {
    let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
    let transport = try plainTransport { $0.caBundle = fake.caFile }
    let sent = SentCounter()
    let response = try await transport.send(
      Request(
        method: .put, url: fake.tlsEndpoint + "/bucket/key", body: .source(CountingBody(length: 3_000_001)),
        onSent: sent.add))
    #expect(response.status == 200)
    #expect(fake.object("key")?.bytes == CountingBody.bytes(3_000_001))
    #expect(sent.sum == 3_000_001)
  }

  @Test("Plain requests go through the proxy with their complete URL, and hosts of no_proxy bypass it")
  func proxy() async throws {
    let seen = Guarded<[String]>([])
    let proxy = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        seen.with { $0.append(String(request.head.split(separator: "\r\n").first ?? "")) }
        connection.answer("proxy")
      }
    }
    let store = try RawServer { connection, _ in
      while connection.readRequest() != nil { connection.answer("store") }
    }
    let environment = ["http_proxy": proxy.url, "no_proxy": "localhost,127.0.0.1"]
    let settings = ProxySettings(option: nil, environment: environment)
    let transport = try plainTransport { $0.proxy = settings }
    let far = try await transport.send(get("http://store.invalid/a/../b"))
    #expect(far.body == Array("proxy".utf8))
    #expect(seen.with { $0 } == ["GET http://store.invalid/a/../b HTTP/1.1"])
    #expect(try await transport.send(get(store.url + "/")).body == Array("store".utf8))
    // The option --proxy applies to all hosts.
    let asked = ProxySettings(option: proxy.url, environment: environment)
    let all = try plainTransport { $0.proxy = asked }
    #expect(try await all.send(get(store.url + "/")).body == Array("proxy".utf8))
  }

  @Test("TLS goes through a tunnel of the proxy, whose own answer is not the store's")
  func tunnel() async throws {
    let fake = try FakeS3()
    let asked = Guarded<[String]>([])
    let proxy = try RawServer { connection, _ in
      guard let head = connection.readHead() else { return }
      asked.with { $0.append(String(head.split(separator: "\r\n").first ?? "")) }
      connection.write("HTTP/1.1 200 Connection established\r\nx-from-proxy: 1\r\n\r\n")
      connection.splice(to: fake.tlsPort)
    }
    let transport = try proxiedTransport(through: proxy.url, trusting: fake.caFile)
    let response = try await transport.send(get(fake.tlsEndpoint + "/bucket"))
    #expect(response.status == 403)
    #expect(response.headers["x-from-proxy"] == nil)
    #expect(asked.with { $0 } == ["CONNECT localhost:\(fake.tlsPort) HTTP/1.1"])
  }

  @Test("A proxy that refuses the tunnel is a network failure")
  func refusedTunnel() async throws {
    let proxy = try RawServer { connection, _ in
      guard connection.readHead() != nil else { return }
      connection.answer("no", status: "403 Forbidden")
    }
    var settings = ProxySettings()
    settings.https = proxy.url
    let through = settings
    let result = await outcome(try plainTransport { $0.proxy = through }, get("https://store.invalid/"))
    #expect(result.code == .network, "\(result)")
  }

  @Test("The variables that name a proxy, and which of them count")
  func variables() {
    let both = ["http_proxy": "h", "https_proxy": "s", "all_proxy": "a", "no_proxy": "n"]
    var settings = ProxySettings(option: nil, environment: both)
    #expect(settings.http == "h")
    #expect(settings.https == "s")
    #expect(settings.bypass == "n")
    settings = ProxySettings(option: "o", environment: both)
    #expect(settings.http == "o")
    #expect(settings.https == "o")
    #expect(settings.bypass == nil)
    settings = ProxySettings(option: nil, environment: ["ALL_PROXY": "a", "HTTP_PROXY": "h", "HTTPS_PROXY": "s"])
    #expect(settings.http == "h")
    #expect(settings.https == "s")
    // In a CGI program HTTP_PROXY is a header of the request.
    let cgi = ["ALL_PROXY": "a", "HTTP_PROXY": "attacker", "REQUEST_METHOD": "GET"]
    #expect(ProxySettings(option: nil, environment: cgi).http == "a")
    settings = ProxySettings(option: nil, environment: ["http_proxy": "", "all_proxy": ""])
    #expect(settings.http == nil)
  }
}
