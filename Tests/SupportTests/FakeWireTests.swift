import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// Requests over the line, and the server's start and stop.
@Suite(.timeLimit(.minutes(15))) struct FakeWireTests {
  @Test("TLS is served for localhost, 127.0.0.1 and virtual hosts, to clients that trust its authority")
  func tls() async throws {
    let (fake, client) = try openStore()
    let body = randomBytes(300_000, seed: 5)
    let trusting = ["--cacert", fake.caFile]
    var secure = client
    secure.extra = trusting
    #expect(try await secure.call("PUT", "\(fake.tlsEndpoint)/bucket/a", body: body).status == 200)
    #expect(try await secure.call("GET", "https://127.0.0.1:\(fake.tlsPort)/bucket/a").body == body)
    secure.extra = trusting + ["--resolve", "bucket.s3.test:\(fake.tlsPort):127.0.0.1"]
    #expect(try await secure.call("GET", "https://\(fake.virtualHost(tls: true))/a").body == body)
    secure.extra = trusting + ["--resolve", "elsewhere.test:\(fake.tlsPort):127.0.0.1"]
    #expect(try await secure.call("GET", "https://elsewhere.test:\(fake.tlsPort)/a").exit == 60)
    #expect(try await client.call("GET", "\(fake.tlsEndpoint)/bucket/a").exit == 60)
    #expect(fake.requests.allSatisfy { $0.secure })
  }

  @Test("a virtual host names the bucket on the plain port too, and the signature holds")
  func virtualHost() async throws {
    let fake = try FakeS3()
    var client = CurlClient(fake: fake)
    client.extra = ["--resolve", "bucket.s3.test:\(fake.port):127.0.0.1"]
    #expect(try await client.call("PUT", "http://\(fake.virtualHost())/x/y", body: [1]).status == 200)
    #expect(fake.object("x/y")?.bytes == [1])
    #expect(
      try await client.call("HEAD", "http://\(fake.virtualHost())/").headers["x-amz-bucket-region"] == "us-east-1")
  }

  @Test("a client that does not speak TLS is disconnected, and stops no other")
  func noTLS() async throws {
    let (fake, client) = try openStore()
    let waiting = try RawClient(fake.tlsPort)
    // An alert may come before the end.
    #expect(try RawClient(fake.tlsPort).exchange("GET / HTTP/1.1\r\n\r\n").utf8.count < 20)
    var secure = client
    secure.extra = ["--cacert", fake.caFile]
    #expect(try await secure.call("GET", "\(fake.tlsEndpoint)/bucket?list-type=2").status == 200)
    _ = consume waiting
  }

  @Test("connections are kept, and counted")
  func keepAlive() async throws {
    let (fake, _) = try openStore()
    fake.putObject("a", bytes: [1])
    let url = "\(fake.endpoint)/bucket/a"
    #expect(try await curl([url, url, url]).stdout == [1, 1, 1])
    #expect(fake.requests.map(\.connection) == [1, 1, 1])
    #expect(fake.counters.connections == 1)
  }

  @Test("100-continue is answered, chunked bodies and missing lengths are refused")
  func bodies() async throws {
    let (fake, client) = try openStore()
    let folder = try TemporaryDirectory()
    let file = try folder.write(randomBytes(50_000, seed: 1), to: "f")
    let lag = Lag()
    let waited = try await curl(
      ["-i", "-T", file, "-H", "Expect: 100-continue", "--expect100-timeout", "20", "\(fake.endpoint)/bucket/k"])
    #expect(waited.output.hasPrefix("HTTP/1.1 100 Continue"))
    #expect(.seconds(waited.seconds) - lag.sofar < .seconds(15))
    let chunked = try await curl(["-T", "-", "\(fake.endpoint)/bucket/k2"], input: .bytes([1, 2, 3]))
    #expect(chunked.output.contains("<Code>NotImplemented</Code>"))
    #expect(fake.object("k2") == nil)
    let none = try RawClient(fake.port).exchange("PUT /bucket/k HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(none.hasPrefix("HTTP/1.1 411 "))
    #expect(none.contains("<Code>MissingContentLength</Code>"))
    #expect(try await client.call("HEAD", "/bucket/none").status == 404)
  }

  @Test(
    "what is not HTTP, or has too long a head, is refused and the connection ends",
    arguments: [
      "nonsense\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "GET /a?%zz HTTP/1.1\r\n\r\n",
      "GET /a HTTP/1.1\r\nHost : x\r\n\r\n",
      "PUT /bucket/k HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "PUT /bucket/k HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 40_000),
    ])
  func hostile(_ request: String) throws {
    let (fake, _) = try openStore()
    #expect(try RawClient(fake.port).exchange(request).hasPrefix("HTTP/1.1 400 "))
  }

  @Test("two requests sent at once are answered in their order")
  func pipelined() throws {
    let (fake, _) = try openStore()
    let put = "PUT /bucket/k HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
    let get = "GET /bucket/k HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    let answer = try RawClient(fake.port).exchange(put + get)
    #expect(answer.components(separatedBy: "HTTP/1.1 200 OK").count == 3)
    #expect(answer.hasSuffix("\r\n\r\nabc"))
  }

  @Test("after HEAD, 204 and 304 no body follows, whatever the script says")
  func bodiless() async throws {
    for (method, action) in [
      ("GET", Fault.Action.error(status: 204, code: "Odd")), ("GET", .error(status: 304, code: "Odd")),
      ("HEAD", .errorIn200(code: "Odd")), ("HEAD", .error(status: 500, code: "Odd")),
      ("HEAD", .trickle(spaces: 2, milliseconds: 1)), ("HEAD", .document(status: 200, text: "Odd", type: "text/html")),
      ("GET", .document(status: 204, text: "Odd", type: "text/html")),
    ] {
      let (fake, _) = try openStore(faults: [Fault(.init(nth: 1), action)])
      let first = "\(method) /bucket/a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
      let second = "GET /bucket/b HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
      let text = try RawClient(fake.port).exchange(first + second)
      let heads = text.components(separatedBy: "\r\n\r\n")
      #expect(heads.count >= 2 && heads[1].hasPrefix("HTTP/1.1 "), "\(action) \(method): \(text)")
      let lengths = heads[0].components(separatedBy: "Content-Length:").count - 1
      #expect(lengths == (method == "HEAD" ? 1 : 0), "\(heads[0])")
    }
  }

  @Test("stop ends connections that are idle, and returns")
  func stop() async throws {
    let (fake, client) = try openStore(faults: [Fault(.all, .stall())])
    async let hanging = client.call("GET", "/bucket/a")
    #expect(await fake.wait { !$0.isEmpty })
    let idle = try RawClient(fake.port)
    try await until("two connections are open") { fake.counters.openConnections >= 2 }
    fake.stop()
    #expect(try await hanging.exit == 52)
    #expect(try idle.exchange("") == "")
    #expect(try await client.call("GET", "/bucket/a").exit == 7)
  }
}

/// A plain socket: sends text, reads until the end.
struct RawClient: ~Copyable {
  private let descriptor: Int32

  init(_ port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, 16) }
    }
    guard code == 0 else { throw SystemError("connect") }
  }

  deinit { close(descriptor) }

  func exchange(_ text: String) throws -> String {
    let bytes = Array(text.utf8)
    guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { throw SystemError("send") }
    var out: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count < 0, errno == EAGAIN { throw SystemError("recv") }
      guard count > 0 else { return String(decoding: out, as: UTF8.self) }
      out += chunk[..<count]
    }
  }
}
