import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// Possible answers of servers, and their results.
@Suite(.timeLimit(.minutes(10))) struct CurlAnswerTests {
  /// A server that gives every request these bytes and ends the connection.
  private func saying(_ text: String, resets: Bool = false) throws -> RawServer {
    try RawServer { connection, _ in
      guard connection.readRequest() != nil else { return }
      connection.write(text)
      if resets { connection.resetsOnClose() }
    }
  }

  private func get(_ url: String, most: Int = 8 << 20, stall: Duration = .seconds(30)) -> Request {
    Request(method: .get, url: url, stallTimeout: stall, maximumAnswer: most)
  }

  @Test("An answer over the limit is refused, and one of exactly that length is not")
  func longBody() async throws {
    let transport = try plainTransport()
    let server = try saying("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "x", count: 1000))
    #expect(try await transport.send(get(server.url, most: 1000)).body.count == 1000)
    let result = await outcome(transport, get(server.url, most: 999))
    #expect(result.code == .server)
    #expect(result.message?.contains("999") == true)
  }

  @Test("An endless body is cut off at the limit")
  func endlessBody() async throws {
    let server = try RawServer { connection, _ in
      guard connection.readRequest() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      let piece = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
      while connection.write(piece) {}
    }
    #expect(await outcome(try plainTransport(), get(server.url, most: 1 << 20)).code == .server)
  }

  @Test("Headers over the limit are refused, a long one or endless ones")
  func longHeaders() async throws {
    let transport = try plainTransport()
    let one = try saying("HTTP/1.1 200 OK\r\nx-long: " + String(repeating: "x", count: 400 << 10) + "\r\n\r\n")
    #expect(try #require(await outcome(transport, get(one.url)).code) != .usage)
    let endless = try RawServer { connection, _ in
      guard connection.readRequest() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\n")
      while connection.write("x-more: " + String(repeating: "x", count: 1000) + "\r\n") {}
    }
    #expect(try #require(await outcome(transport, get(endless.url)).code) != .usage)
    let interim = try RawServer { connection, _ in
      guard connection.readRequest() != nil else { return }
      while connection.write("HTTP/1.1 100 Continue\r\n\r\n") {}
    }
    #expect(try #require(await outcome(transport, get(interim.url)).code) == .server)
  }

  @Test(
    "An answer that is not HTTP is a server failure, not wrong usage",
    arguments: [
      "SSH-2.0-OpenSSH_9.2\r\n", "\0\0\0\0", "HTTP/9.9 200 OK\r\n\r\n", "220 mail ESMTP\r\n", "HTTP/1.1\r\n\r\n",
      "{\"error\": 1}", "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
  func garbage(text: String) async throws {
    let server = try saying(text)
    let result = await outcome(try plainTransport(), get(server.url))
    #expect([.server, .network].contains(try #require(result.code)), "\(result)")
  }

  @Test(
    "An answer that is compressed unasked is a server failure",
    arguments: ["gzip", "x-gzip, chunked", "deflate", "br", "zstd", "gzip, br, zstd"])
  func compressed(coding: String) async throws {
    let transport = try plainTransport()
    let server = try saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    let result = await outcome(transport, get(server.url))
    #expect([.server, .network].contains(try #require(result.code)), "\(result)")
  }

  @Test(
    "An answer that offers another protocol, or asks for other credentials, is an ordinary answer",
    arguments: [
      (200, "HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n"),
      (101, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\0\0\0\u{4}\0\0\0\0\0"),
      (401, "HTTP/1.1 401 No\r\nWWW-Authenticate: Negotiate\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"),
      (307, "HTTP/1.1 307 Away\r\nLocation: ldap://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n"),
      (
        200,
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Domain=localhost\r\nAlt-Svc: h2=\"127.0.0.1:1\"\r\nContent-Length: 0\r\n\r\n"
      ),
    ])
  func otherProtocols(status: Int, text: String) async throws {
    let transport = try plainTransport()
    let server = try saying(text)
    for _ in 0..<2 { #expect(try await transport.send(get(server.url)).status == status) }
  }

  @Test(
    "A SOCKS proxy is not offered Kerberos, and one that wants it anyway is a failure", arguments: [false, true])
  func socks(insists: Bool) async throws {
    let store = try RawServer { connection, _ in
      while connection.readRequest() != nil { connection.answer("through") }
    }
    let offered = Guarded<[UInt8]?>(nil)
    let port = store.port
    let proxy = try RawServer { connection, _ in
      guard let count = connection.readBody(2)?.last, let methods = connection.readBody(Int(count)) else { return }
      offered.with { $0 = methods }
      connection.write([5, insists ? 1 : 0])
      guard let length = connection.readBody(5)?.last, connection.readBody(Int(length) + 2) != nil else { return }
      connection.write([5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
      connection.splice(to: port)
    }
    let transport = try proxiedTransport(through: "socks5h://127.0.0.1:\(proxy.port)", trusting: nil)
    let result = await outcome(transport, get("http://store.invalid/"))
    #expect(insists ? result.code == .network : (try? result.get())?.body == Array("through".utf8), "\(result)")
    #expect(offered.with { $0 } == [0])
  }

  @Test("A URL without a server is wrong usage")
  func badURL() async throws {
    let transport = try plainTransport()
    for url in ["ftp://127.0.0.1/x", "http://", "", "http://127.0.0.1:99999/", "file:///etc/passwd"] {
      #expect(await outcome(transport, get(url)).code == .usage, "\(url)")
    }
  }

  @Test("A refused connection is a network failure with a remedy")
  func refused() async throws {
    let port = try RawServer { _, _ in }.port
    let result = await outcome(try plainTransport(), get("http://127.0.0.1:\(port)/"))
    #expect(result.code == .network)
    guard case .failure(let failure) = result else { return }
    #expect(failure.remedy?.contains("endpoint") == true)
  }

  @Test("A name that does not resolve is a network failure")
  func noHost() async throws {
    #expect(await outcome(try plainTransport(), get("http://store.invalid/")).code == .network)
  }

  @Test("An answer shorter than its Content-Length, or a connection that is reset, counts as no answer")
  func truncated() async throws {
    let transport = try plainTransport()
    let short = try saying("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
    #expect(await outcome(transport, get(short.url)).code == .network)
    let head = try saying("HTTP/1.1 200 OK\r\nContent-Le")
    #expect(await outcome(transport, get(head.url)).code == .network)
    let reset = try saying("", resets: true)
    #expect(await outcome(transport, get(reset.url)).code == .network)
    let empty = try saying("")
    #expect(await outcome(transport, get(empty.url)).code == .network)
    let chunks = try saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    #expect(await outcome(transport, get(chunks.url)).code == .network)
  }

  @Test("Headers are read with any spacing and case, and those of interim answers are dropped")
  func headers() async throws {
    let server = try saying(
      "HTTP/1.1 100 Continue\r\nx-interim: yes\r\n\r\nHTTP/1.1 503 Slow Down\r\nRETRY-AFTER:7  \r\netag:\t\"a\"\r\n"
        + "x-empty:\r\nx-colon: a:b\r\nContent-Length: 0\r\n\r\n")
    let response = try await plainTransport().send(get(server.url))
    #expect(response.status == 503)
    #expect(response.headers["Retry-After"] == "7")
    #expect(response.headers["ETag"] == "\"a\"")
    #expect(response.headers["x-empty"]?.isEmpty == true)
    #expect(response.headers["x-colon"] == "a:b")
    #expect(response.headers["x-interim"] == nil)
  }

  @Test("A server that sends nothing, or reads nothing, stalls within the timeout")
  func stalls() async throws {
    let transport = try plainTransport()
    let silent = try RawServer { connection, _ in connection.untilClosed() }
    let half = try RawServer { connection, _ in
      guard connection.readRequest() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
      connection.untilClosed()
    }
    let deaf = try RawServer { connection, _ in
      _ = connection.readHead()
      connection.untilHungUp()
    }
    var long = get(deaf.url, stall: .milliseconds(300))
    long.method = .put
    long.body = .source(CountingBody(length: 1 << 30))
    for request in [get(silent.url, stall: .milliseconds(300)), get(half.url, stall: .milliseconds(300)), long] {
      let result = try await finishes("a stalled request", within: .seconds(60)) { await outcome(transport, request) }
      #expect(result.code == .stalled, "\(result)")
    }
  }

  @Test("An early refusal in the middle of a body is the answer")
  func earlyAnswer() async throws {
    let server = try RawServer { connection, _ in
      _ = connection.readHead()
      connection.answer("<Error/>", status: "403 Forbidden", headers: "Connection: close\r\n")
      connection.untilClosed()
    }
    let body = RequestBody.source(CountingBody(length: 64 << 20))
    let result = await outcome(
      try plainTransport(), Request(method: .put, url: server.url + "/", body: body, stallTimeout: .seconds(5)))
    #expect(result.status == 403)
  }

  /// Collects the body, and may refuse it.
  private final class Sink: BodySink {
    let got = Guarded<[UInt8]>([])
    let refuses: Bool

    init(refuses: Bool = false) { self.refuses = refuses }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
      got.with { $0 += bytes }
      return !refuses
    }
  }

  @Test("A sink gets the body of a success but not of an error; if it refuses, the request ends")
  func sink() async throws {
    let transport = try plainTransport()
    for (status, gets) in [("200 OK", true), ("206 Partial Content", true), ("404 Not Found", false)] {
      let server = try saying("HTTP/1.1 \(status)\r\nContent-Length: 4\r\n\r\nbody")
      let sink = Sink()
      var request = get(server.url)
      request.sink = sink
      let response = try await transport.send(request)
      #expect(sink.got.with { $0 } == (gets ? Array("body".utf8) : []))
      #expect(response.body == (gets ? [] : Array("body".utf8)))
    }
    let server = try saying("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")
    var request = get(server.url)
    request.sink = Sink(refuses: true)
    #expect(await outcome(transport, request).code == .local)
  }
}
