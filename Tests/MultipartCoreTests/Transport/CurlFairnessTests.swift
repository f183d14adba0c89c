import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// Ways in which a transfer must not harm others, and answers that it must not believe.
@Suite(.timeLimit(.minutes(10))) struct CurlFairnessTests {
  @Test("Transfers that share a rate limit all progress: none stalls while another takes everything")
  func rateIsShared() async throws {
    let received = Guarded<[ObjectIdentifier]>([])
    let server = try RawServer { connection, _ in
      guard connection.readHead() != nil else { return }
      for _ in 0..<64 {
        guard connection.readBody(4096) != nil else { return }
        received.with { $0.append(ObjectIdentifier(connection)) }
      }
      connection.answer()
    }
    let transport = try plainTransport { $0.limiter = RateLimiter(rate: 1 << 20, now: .sinceBoot()) }
    await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<4 {
        group.addTask {
          await outcome(
            transport, Request(method: .put, url: server.url, body: .source(CountingBody(length: 256 << 10)))
          ).status
        }
      }
      for await status in group { #expect(status == 200) }
    }
    // By the time half of the bytes have arrived, each transfer has contributed to them.
    let firstHalf = received.with { $0.prefix(128) }
    let shares = Dictionary(grouping: firstHalf) { $0 }.mapValues(\.count)
    #expect(shares.count == 4)
    #expect(shares.values.allSatisfy { $0 > 8 }, "\(shares.values)")
  }

  @Test("A success that arrives before the body was sent does not count; a refusal does")
  func earlyAnswer() async throws {
    for (status, code) in [("200 OK", Failure.Code.network), ("403 Forbidden", nil)] {
      let server = try RawServer { connection, _ in
        guard connection.readHead() != nil else { return }
        connection.write("HTTP/1.1 \(status)\r\nETag: \"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        connection.untilClosed()
      }
      // The body is larger than the sockets' buffers.
      let request = Request(method: .put, url: server.url, body: .source(CountingBody(length: 64 << 20)))
      let result = await outcome(try plainTransport(), request)
      #expect(result.code == code, "\(result)")
    }
  }

  @Test(
    "No message contains the password of an unusable proxy",
    arguments: [
      "http://user:s3cret@host:99999", "user:s3cret@host:99999", "odd://user:s3cret@host:1",
      "http://user:s3cret@[::1:1", "http://user:pa/s3cret@host:1", "user:pa/s3cret@host:1",
    ])
  func proxyPassword(_ proxy: String) async throws {
    let transport = try plainTransport { $0.proxy = ProxySettings(option: proxy, environment: [:]) }
    let result = await outcome(transport, Request(method: .get, url: "http://127.0.0.1:1/"))
    #expect(try #require(result.message).contains("s3cret") == false, "\(result)")
  }

  @Test("A proxy is named without its user, also if the password has a slash")
  func proxyName() {
    for (address, shown) in [
      ("http://user:pa/ss@proxy:8080", "http://proxy:8080"), ("user:p@a@proxy/", "http://proxy"),
      ("https://proxy:1/x", "https://proxy:1"), ("proxy", "http://proxy"),
    ] {
      let name = ProxyName(address, source: .variable("HTTPS_PROXY"))
      #expect(name.address == shown && name.host == "proxy")
    }
  }
}
