import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// How much of a body was sent, and how much the other side has.
@Suite struct AcknowledgedTests {
  @Test("Bytes in the local buffer count as sent but not as acknowledged; those that the other side has count as both")
  func buffered() async throws {
    // The server reads nothing, and keeps the connection until the other side gives it up (POLLRDHUP).
    let server = try RawServer { connection, _ in
      var watched = pollfd(fd: connection.socket, events: 0x2000, revents: 0)
      _ = poll(&watched, 1, 60_000)
    }
    let transport = try plainTransport()
    defer { transport.stop() }
    let (sent, acknowledged) = (Locked<Int64>(0), Locked<Int64>(0))
    var request = Request(
      method: .put, url: "http://127.0.0.1:\(server.port)/", body: .bytes([UInt8](repeating: 1, count: 64 << 20)),
      stallTimeout: .seconds(2))
    request.onSent = { count in sent.withLock { $0 += count } }
    request.onAcknowledged = { all in acknowledged.withLock { $0 = all } }
    #expect(await outcome(transport, request).code == .stalled)
    let (out, there) = (sent.withLock { $0 }, acknowledged.withLock { $0 })
    #expect(there > 0 && there < out, "\(there) of \(out)")
  }
}

@Suite(.timeLimit(.minutes(10))) struct CurlRequestTests {
  private typealias Seen = Guarded<[(head: String, body: [UInt8])]>

  /// A server that answers every request with 200 and records it.
  private func recorder(_ seen: Seen, headers: String = "", body: String = "ok") throws -> RawServer {
    try RawServer { connection, _ in
      while let request = connection.readRequest() {
        seen.with { $0.append(request) }
        connection.answer(request.head.hasPrefix("HEAD") ? "" : body, headers: headers)
      }
    }
  }

  @Test("A PUT carries its source's bytes with Content-Length, without Expect and without chunks")
  func put() async throws {
    let seen = Seen([])
    let server = try recorder(seen)
    let transport = try plainTransport()
    let sent = SentCounter()
    let size = 1_000_003
    let response = try await transport.send(
      Request(
        method: .put, url: server.url + "/bucket/key", headers: ["x-amz-meta-a": "b c"],
        body: .source(CountingBody(length: Int64(size))), onSent: sent.add))
    #expect(response.status == 200)
    #expect(response.body == Array("ok".utf8))
    let (head, body) = try #require(seen.with { $0.first })
    #expect(body == CountingBody.bytes(size))
    let lines = head.split(separator: "\r\n").map(String.init)
    #expect(lines.first == "PUT /bucket/key HTTP/1.1")
    #expect(lines.contains("Content-Length: \(size)"))
    #expect(lines.contains("x-amz-meta-a: b c"))
    #expect(!head.lowercased().contains("expect:"))
    #expect(!head.lowercased().contains("transfer-encoding"))
    #expect(sent.sum == Int64(size))
    #expect(sent.steps.allSatisfy { $0 > 0 })
  }

  @Test(
    "Bytes, no body and other methods are sent as they are",
    arguments: [
      (HTTPMethod.put, RequestBody.bytes([1, 2, 3]), 3), (.put, .none, 0), (.put, .bytes([]), 0),
      (.post, .bytes(Array("<x/>".utf8)), 4), (.post, .none, 0), (.delete, .none, 0), (.get, .none, 0),
      (.head, .none, 0),
    ])
  func methods(method: HTTPMethod, body: RequestBody, length: Int) async throws {
    let seen = Seen([])
    let server = try recorder(seen)
    let transport = try plainTransport()
    // Two requests use one handle: the second shows that nothing of the first is left on it.
    for _ in 0..<2 {
      let response = try await transport.send(Request(method: method, url: server.url + "/k", body: body))
      #expect(response.status == 200)
    }
    for (head, bytes) in seen.with({ $0 }) {
      #expect(head.hasPrefix("\(method.rawValue) /k HTTP/1.1\r\n"))
      #expect(bytes.count == length)
      if method == .put || method == .post { #expect(head.contains("Content-Length: \(length)")) }
      #expect(!head.lowercased().contains("content-type:"))
    }
    #expect(seen.with { $0.count } == 2)
  }

  @Test("A header without a value, or with blanks alone, is sent empty, as it is signed", arguments: ["", " \t"])
  func emptyHeader(_ value: String) async throws {
    let seen = Seen([])
    let server = try recorder(seen)
    _ = try await plainTransport().send(
      Request(method: .get, url: server.url + "/", headers: ["x-amz-empty": value, "x-amz-full": "1"]))
    let lines = try #require(seen.with { $0.first }).head.components(separatedBy: "\r\n")
    #expect(lines.contains { $0.trimmingCharacters(in: .whitespaces) == "x-amz-empty:" })
    #expect(lines.contains("x-amz-full: 1"))
  }

  @Test(
    "A path is sent as it is written",
    arguments: [
      "/a/../b//c", "/./x", "//", "/a%2Fb%20c", "/bucket/..", "/k?partNumber=1&uploadId=a%2Bb%3D", "/%F0%9F%8C%8D",
      "/a;b:c@d!$&'()*,=", "/?uploads=",
    ])
  func paths(path: String) async throws {
    let seen = Seen([])
    let server = try recorder(seen)
    _ = try await plainTransport().send(Request(method: .get, url: server.url + path))
    #expect(seen.with { $0.first }?.head.hasPrefix("GET \(path) HTTP/1.1\r\n") == true)
  }

  @Test("A connection is kept and reused, and a new one is used if requested")
  func keepAlive() async throws {
    let seen = Seen([])
    let server = try recorder(seen)
    let transport = try plainTransport()
    for _ in 0..<20 { _ = try await transport.send(Request(method: .put, url: server.url + "/", body: .bytes([1]))) }
    #expect(server.connections == 1)
    var fresh = Request(method: .get, url: server.url + "/")
    fresh.freshConnection = true
    _ = try await transport.send(fresh)
    #expect(server.connections == 2)
  }

  @Test("If a kept connection has been closed, the whole body is sent again on another one")
  func staleConnection() async throws {
    let seen = Seen([])
    let size = 300_000
    let server = try RawServer { connection, number in
      guard let first = connection.readRequest() else { return }
      seen.with { $0.append(first) }
      connection.answer("\(number)")
      guard number == 1 else { return }
      // The head of the next request is read, and the connection is reset instead of an answer.
      _ = connection.readHead()
      connection.resetsOnClose()
    }
    let transport = try plainTransport()
    let request = Request(
      method: .put, url: server.url + "/", body: .source(CountingBody(length: Int64(size))))
    _ = try await transport.send(request)
    let sent = SentCounter()
    var second = request
    second.onSent = sent.add
    let result = await outcome(transport, second)
    // libcurl sends the request again if nothing of an answer has arrived; once bytes of the body were sent, it may
    // leave that to us.
    if result.status == 200 {
      #expect(server.connections == 2)
      #expect(seen.with { $0.last?.body } == CountingBody.bytes(size))
      #expect(sent.sum == Int64(size))
    } else {
      #expect(result.code == .network)
    }
  }

  @Test("A server that closes its side while the body is sent, and reads nothing more, is not waited for")
  func halfClosed() async throws {
    let server = try RawServer { connection, _ in
      guard connection.readHead() != nil else { return }
      shutdown(connection.socket, Int32(SHUT_WR))
      // The body is not read: the connection stays open, and nothing moves on it.
      connection.untilHungUp()
    }
    let transport = try plainTransport()
    let result = await outcome(
      transport,
      Request(
        method: .put, url: server.url + "/", body: .source(CountingBody(length: 64 << 20)), stallTimeout: .seconds(90)))
    #expect(result.code == .network)
    #expect(result.message?.contains("closed the connection before it answered") == true)
  }

  @Test("A slow line that still sends what is in the socket's buffer has not stalled")
  func slowLine() async throws {
    let server = try RawServer { connection, _ in
      var small: Int32 = 4096
      setsockopt(connection.socket, SOL_SOCKET, SO_RCVBUF, &small, 4)
      guard connection.readHead() != nil else { return }
      // This is the slow line itself, not a wait for something: it takes longer than the stall timeout, in shorter
      // steps.
      for _ in 0..<25 {
        guard connection.readBody(40_000) != nil else { return }
        usleep(200_000)
      }
      connection.answer("all")
    }
    let transport = try plainTransport()
    let result = await outcome(
      transport,
      Request(
        method: .put, url: server.url + "/", body: .source(CountingBody(length: 1_000_000)),
        stallTimeout: .milliseconds(1700)))
    #expect(result.status == 200, "\(result)")
  }

  @Test(
    "A request that must not be sent twice fails if a kept connection breaks; libcurl does not repeat it",
    arguments: [0, 5])
  func onlyOnce(_ length: Int) async throws {
    let heads = Seen([])
    let server = try RawServer { connection, number in
      guard let first = connection.readRequest() else { return }
      heads.with { $0.append(first) }
      connection.answer("\(number)")
      guard number == 1, let second = connection.readRequest() else { return }
      heads.with { $0.append(second) }
      connection.resetsOnClose()
    }
    let transport = try plainTransport()
    var request = Request(
      method: .post, url: server.url + "/", body: .bytes(Array(repeating: 7, count: length)))
    request.mayBeResent = false
    _ = try await transport.send(request)
    let result = await outcome(transport, request)
    #expect(result.code == .network)
    #expect(heads.with { $0.count } == 2)
    #expect(await outcome(transport, request).status == 200)
  }

  @Test("A kept connection that the server has closed causes no failure")
  func closedMeanwhile() async throws {
    let closed = Gate()
    let server = try RawServer { connection, number in
      guard let request = connection.readRequest() else { return }
      connection.answer(String(request.body.count))
      // The connection ends after the first answer, without a header that announces it.
      guard number == 1 else { return connection.untilClosed() }
      shutdown(connection.socket, Int32(SHUT_RDWR))
      closed.open()
    }
    let transport = try plainTransport()
    for turn in 0..<2 {
      let response = try await transport.send(
        Request(method: .put, url: server.url + "/", body: .source(CountingBody(length: 100_000))))
      #expect(response.body == Array("100000".utf8))
      if turn == 0 { await closed.wait() }
    }
    #expect(server.connections == 2)
  }

  @Test("A hundred concurrent requests on one loop each get their own answer")
  func hundred() async throws {
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        let path = request.head.split(separator: " ").dropFirst().first ?? ""
        connection.answer("\(path) \(request.body.count)")
      }
    }
    let transport = try plainTransport { $0.connections = 8 }
    let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for index in 0..<100 {
        group.addTask {
          let body = RequestBody.source(CountingBody(length: Int64(index * 1000)))
          let response = try await transport.send(Request(method: .put, url: server.url + "/\(index)", body: body))
          return (index, String(decoding: response.body, as: UTF8.self))
        }
      }
      return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
    }
    for index in 0..<100 { #expect(answers[index] == "/\(index) \(index * 1000)") }
  }

  @Test("Successive requests use one connection, however many loops there are")
  func loops() async throws {
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() { connection.answer(String(request.body.count)) }
    }
    let transport = try plainTransport(loops: 4)
    for _ in 0..<8 { _ = try await transport.send(Request(method: .get, url: server.url + "/")) }
    // Each loop has its own connections.
    #expect(server.connections == 1)
    transport.stop()
    #expect(await outcome(transport, Request(method: .get, url: server.url + "/")).code == .interrupted)
  }

  @Test("The limiter slows bodies down to its rate, several together")
  func limiter() async throws {
    let server = try RawServer { connection, _ in
      while connection.readRequest() != nil { connection.answer() }
    }
    let rate: Int64 = 4 << 20
    let transport = try plainTransport { $0.limiter = RateLimiter(rate: rate, now: .sinceBoot()) }
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let body = RequestBody.source(CountingBody(length: 1 << 20))
          let response = try await transport.send(Request(method: .put, url: server.url + "/", body: body))
          #expect(response.status == 200)
        }
      }
      try await group.waitForAll()
    }
    // 4 MiB at 4 MiB/s; the bucket may have held a twentieth of a second's worth.
    #expect(ContinuousClock.now - start > .milliseconds(900))
  }

  @Test("A body source that fails in the middle fails the request with its own failure")
  func failingBody() async throws {
    let server = try RawServer { connection, _ in connection.untilClosed() }
    let transport = try plainTransport()
    let body = RequestBody.source(CountingBody(length: 10 << 20, failsAt: 5 << 20))
    let result = await outcome(transport, Request(method: .put, url: server.url + "/", body: body))
    #expect(result.code == .sourceChanged)
    #expect(result.message == "the test's body ends here")
  }

  @Test("A redirect is an answer and is not followed")
  func redirect() async throws {
    let seen = Seen([])
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        seen.with { $0.append(request) }
        connection.answer(status: "307 Temporary Redirect", headers: "Location: http://127.0.0.1:1/\r\n")
      }
    }
    let response = try await plainTransport().send(Request(method: .get, url: server.url + "/"))
    #expect(response.status == 307)
    #expect(response.headers["location"] == "http://127.0.0.1:1/")
    #expect(seen.with { $0.count } == 1)
  }

  @Test("libcurl does not read the environment's proxy variables")
  func environment() async {
    await #expect(processExitsWith: .success) {
      for name in ["http_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:1", 1) }
      let server = try RawServer { connection, _ in
        while connection.readRequest() != nil { connection.answer() }
      }
      let response = try await plainTransport().send(Request(method: .get, url: server.url + "/"))
      guard response.status == 200 else { exit(1) }
      // A proxy that was set by options is not bypassed because of the environment.
      setenv("no_proxy", "*", 1)
      var proxy = ProxySettings()
      proxy.http = server.url
      let through = try await plainTransport { $0.proxy = proxy }.send(
        Request(method: .get, url: "http://store.invalid/"))
      guard through.status == 200 else { exit(1) }
    }
  }
}
