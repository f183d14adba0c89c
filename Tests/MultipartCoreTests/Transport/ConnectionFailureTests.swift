@testable import MultipartCore
import Support
import Testing

/// The failures of servers that cannot be reached, and whether they are retried.
@Suite(.timeLimit(.minutes(10))) struct ConnectionFailureTests {
  private func failure(_ transport: some Transport, _ url: String) async -> Failure? {
    guard case .failure(let failure) = await outcome(transport, Request(method: .get, url: url)) else { return nil }
    return failure
  }

  private func isOver(_ failure: Failure?) -> Bool {
    failure.map { RetryPolicy().wait(after: $0, attempt: 1, dice: 0) == nil } ?? false
  }

  @Test("A server with plain HTTP at an https address is recognised at once, with the URL that works")
  func plainServer() async throws {
    let server = try RawServer { connection, _ in
      _ = connection.receive()
      connection.answer("hello", status: "400 Bad Request")
    }
    let found = try #require(await failure(try plainTransport(), "https://127.0.0.1:\(server.port)/b"))
    #expect(found.code == .tls && isOver(found), "\(found)")
    #expect(found.message.contains("127.0.0.1 port \(server.port)") && !found.message.contains("error:"))
    #expect(
      found.remedy?.pieces.contains(.setting(.endpoint, .value("http://127.0.0.1:\(server.port)"))) == true)
  }

  @Test("A server that refuses TLS by an alert is reported at once; one that only closes may do so temporarily")
  func alert() async throws {
    let refusing = try RawServer { connection, _ in
      _ = connection.receive()
      connection.write([21, 3, 3, 0, 2, 2, 40])
    }
    let refused = try #require(await failure(try plainTransport(), "https://127.0.0.1:\(refusing.port)/"))
    #expect(refused.code == .tls && refused.message.contains("handshake_failure"), "\(refused)")
    let closing = try RawServer { connection, _ in _ = connection.receive() }
    let closed = try #require(await failure(try plainTransport(), "https://127.0.0.1:\(closing.port)/"))
    #expect(closed.code == .network && closed.triedInVain != nil && !isOver(closed), "\(closed)")
  }

  @Test("A server with TLS at an http address is recognised by its answer, with the URL that works")
  func tlsServer() async throws {
    let server = try RawServer { connection, _ in
      _ = connection.receive()
      connection.write([21, 3, 1, 0, 2, 2, 70])
    }
    let found = try #require(await failure(try plainTransport(), server.url + "/b"))
    #expect(found.code == .server && found.message.contains("127.0.0.1 port \(server.port)"), "\(found)")
    #expect(found.triedInVain != nil)
    #expect(found.remedy?.pieces.last == .setting(.endpoint, .value("https://127.0.0.1:\(server.port)")))
  }

  @Test(
    "A failure says how long an address that never answered was tried; if it has answered, the failure may pass"
  )
  func refusedConnection() async throws {
    var server: RawServer? = try RawServer { connection, _ in
      while connection.readRequest() != nil { connection.answer(headers: "Connection: close\r\n") }
    }
    let url = try #require(server).url + "/"
    let transport = try plainTransport()
    #expect(await outcome(transport, Request(method: .get, url: url)).status == 200)
    server = nil
    let known = try #require(await failure(transport, url))
    #expect(known.code == .network && known.triedInVain == nil, "\(known)")
    #expect(known.message.contains("127.0.0.1 port") && known.message.contains("Connection refused"))
    let clock = Guarded(Duration.seconds(100))
    let fresh = try CurlTransport(options: TransportOptions(), loops: 1) { clock.with { $0 } }
    #expect(await failure(fresh, url)?.triedInVain == .zero)
    clock.with { $0 += .seconds(7) }
    #expect(await failure(fresh, url)?.triedInVain == .seconds(7))
    // Another address has its own ten seconds.
    #expect(await failure(fresh, "http://no-such-host.invalid/")?.triedInVain == .zero)
  }

  @Test("A name without an address is named")
  func names() async throws {
    let nowhere = try #require(await failure(try plainTransport(), "http://no-such-host.invalid/"))
    #expect(nowhere.message == "the name no-such-host.invalid has no address" && nowhere.triedInVain != nil)
  }

  @Test(
    "An unreachable proxy is named in the failure, with where it was set and without its password",
    arguments: [false, true])
  func deadProxy(_ isOption: Bool) async throws {
    let address = "http://user:pAssw0rd@127.0.0.1:9"
    let settings = ProxySettings(option: isOption ? address : nil, environment: ["http_proxy": address])
    let found = try #require(
      await failure(try plainTransport { $0.proxy = settings }, "http://store.invalid:9000/"))
    #expect(found.message.contains("the proxy http://127.0.0.1:9: Connection refused"), "\(found)")
    #expect(isOption ? found.remedy?.settings == [.proxy] : found.remedy?.contains("http_proxy") == true)
    #expect(isOption || found.remedy?.contains("NO_PROXY=store.invalid") == true)
    #expect(!"\(found)".contains("pAssw0rd") && found.triedInVain != nil)
  }

  @Test(
    "An address that no proxy can have is a mistake, for which nobody waits",
    arguments: [
      "ftp://127.0.0.1:1", "socks9://h", "http://", "http://127.0.0.1:abc", "http:/127.0.0.1:3128", "a\r\nb", "h:99999",
      "http://u:pAssw0rd@", "https://a b:1", "u:pAssw0rd/w@h:1", "http://u:pAssw0rd#@h", "http://[::1", "http://[::1]x",
    ], [false, true])
  func noProxy(_ address: String, _ isOption: Bool) async throws {
    let settings = ProxySettings(option: isOption ? address : nil, environment: ["http_proxy": address])
    let found = try #require(
      await failure(try plainTransport { $0.proxy = settings }, "http://store.invalid:9000/"))
    #expect(found.code == (isOption ? .usage : .configuration), "\(found)")
    #expect(isOption ? found.message.settings == [.proxy] : found.message.contains("http_proxy"), "\(found)")
    #expect(!"\(found)".contains("pAssw0rd"))
    // A variable that is not used may say whatever it likes.
    if !isOption { try settings.check(for: "https://store.invalid/") }
  }

  @Test(
    "Every form of a proxy's address that libcurl knows is accepted",
    arguments: [
      "http://h:1", "HTTPS://h", "socks://h/", "socks4://h", "socks4a://h", "socks5://h:1080/", "socks5h://u:p@[::1]:1",
      "h", "h:3128", "u:p@w@h:3128", "http://h:3128/ignored", "10.0.0.1", "", "h:3128?x", "proxy.example.:1",
      "http://[fe80::1%25eth0]:1", " http://h:1 ",
    ])
  func proxies(_ address: String) throws {
    try ProxySettings(option: address, environment: [:]).check(for: "http://store.invalid/")
  }

  static let tunnels: [(String, Failure.Code, Bool)] = [
    ("407 Proxy Authentication Required", .credentials, true), ("403 Forbidden", .network, true),
    ("501 Not Implemented", .network, true),
    ("502 Bad Gateway", .network, false),
  ]

  @Test("A proxy that refuses to connect to the store is named, with its answer", arguments: tunnels)
  func tunnel(_ status: String, _ code: Failure.Code, _ over: Bool) async throws {
    let proxy = try RawServer { connection, _ in
      while connection.readHead() != nil { connection.answer(status: status) }
    }
    let found = try #require(
      await failure(try proxiedTransport(through: proxy.url, trusting: nil), "https://store.invalid/"))
    #expect(found.code == code && isOver(found) == over, "\(found)")
    #expect(found.message.contains(proxy.url) && found.triedInVain != nil)
  }

  @Test("A server that requires a certificate of its client is one that refuses TLS, and is reported at once")
  func clientCertificate() async throws {
    let fake = try FakeS3()
    let context = Guarded(UInt(bitPattern: fake.tlsContext))
    let server = try RawServer { connection, _ in
      if let context = OpaquePointer(bitPattern: context.with { $0 }) { connection.demandCertificate(with: context) }
    }
    let url = fake.tlsEndpoint.dropLast(String(fake.tlsPort).count) + "\(server.port)/"
    let found = try #require(await failure(try plainTransport { $0.caBundle = fake.caFile }, String(url)))
    #expect(found.code == .tls && isOver(found) && found.message.contains("certificate_required"), "\(found)")
  }

  @Test("A proxy that wants a password says so in the same words over HTTP and HTTPS")
  func picky() async throws {
    let proxy = try RawServer { connection, _ in
      while connection.readHead() != nil { connection.answer(status: "407 Proxy Authentication Required") }
    }
    let transport = try proxiedTransport(through: proxy.url, trusting: nil)
    let plain = try #require(await failure(transport, "http://store.invalid/"))
    let tunnel = try #require(await failure(transport, "https://store.invalid/"))
    #expect(plain.code == .credentials && plain.message == tunnel.message && plain.remedy == tunnel.remedy, "\(plain)")
    #expect(plain.message.contains(proxy.url), "\(plain)")
  }

  @Test("Each kind of refused certificate has its own message and remedy")
  func certificates() async throws {
    let fake = try FakeS3()
    let unknown = try #require(await failure(try plainTransport(), fake.tlsEndpoint + "/"))
    #expect(unknown.message.contains("authority that this machine does not trust"), "\(unknown)")
    #expect(unknown.remedy?.settings == [.caBundle])
    let trusting = try plainTransport { $0.caBundle = fake.caFile }
    let other = try #require(await failure(trusting, "https://other.localhost:\(fake.tlsPort)/"))
    #expect(other.code == .tls && other.message.contains("for another name"), "\(other)")
  }
}
