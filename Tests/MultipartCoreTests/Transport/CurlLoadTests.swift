import CKernels
import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// How requests are spread over loops, and when another loop is started.
@Suite(.timeLimit(.minutes(10))) struct CurlLoadTests {
  /// Answers each request except those for /wait, which it reports.
  private func server(_ waits: Gate) throws -> RawServer {
    try RawServer { connection, _ in
      while let request = connection.readRequest() {
        if request.head.contains(" /wait ") {
          waits.open()
          connection.untilClosed()
          return
        }
        connection.answer()
      }
    }
  }

  @Test("A request goes to the loop with the fewest requests")
  func fewest() async throws {
    let waits = Gate()
    let server = try server(waits)
    let transport = try plainTransport(loops: 2)
    let waiting = Task { await outcome(transport, Request(method: .get, url: server.url + "/wait")) }
    await waits.wait()
    for _ in 0..<5 { #expect(try await transport.send(Request(method: .get, url: server.url + "/")).status == 200) }
    // If requests took turns, the waiting request's loop would have opened one more connection.
    #expect(server.connections == 2)
    transport.stop()
    _ = await waiting.value
  }

  @Test("Concurrent requests are spread over all loops, and leave them empty")
  func spread() async throws {
    let waits = Gate()
    let server = try server(waits)
    let transport = try plainTransport(loops: 3)
    let waiting = (0..<6).map { _ in
      Task { await outcome(transport, Request(method: .get, url: server.url + "/wait")) }
    }
    for _ in waiting { await waits.wait() }
    #expect(transport.loads == [2, 2, 2])
    transport.stop()
    for task in waiting { #expect(await task.value.code == .interrupted) }
    #expect(transport.loads == [0, 0, 0])
  }

  @Test("Another loop is useful if the existing ones were never idle and there are requests to share")
  func pays() {
    #expect(CurlTransport.pays(load: 1, loops: 1, requests: 3))
    #expect(!CurlTransport.pays(load: 1, loops: 1, requests: 2))
    #expect(!CurlTransport.pays(load: 0.7, loops: 1, requests: 8))
    #expect(!CurlTransport.pays(load: 0.5, loops: 2, requests: 8))
    #expect(CurlTransport.pays(load: 0.75, loops: 2, requests: 8))
    #expect(!CurlTransport.pays(load: 0.75, loops: 2, requests: 4))
  }

  @Test(
    "A busy loop gets help, one that mostly waits does not, whether a request or a sample finds it",
    arguments: [true, false], [false, true])
  func grows(isBusy: Bool, isLookedAt: Bool) async throws {
    let waits = Gate()
    let server = try server(waits)
    let clock = Guarded(Duration.zero)
    let transport = try CurlTransport(options: TransportOptions(), uptime: { clock.with { $0 } })
    let waiting = (0..<3).map { _ in
      Task { await outcome(transport, Request(method: .get, url: server.url + "/wait")) }
    }
    for _ in waiting { await waits.wait() }
    // Some hundred milliseconds of work for the loop's thread, which take no time or an hour by the transport's clock.
    let body = Request(method: .put, url: server.url + "/", body: .source(CountingBody(length: 32 << 20)))
    #expect(try await transport.send(body).status == 200)
    #expect(transport.loads.count == 1)
    clock.with { $0 = isBusy ? .milliseconds(100) : .seconds(3600) }
    if isLookedAt {
      #expect(transport.look() != nil)
    } else {
      #expect(try await transport.send(Request(method: .get, url: server.url + "/")).status == 200)
    }
    #expect(transport.loads.count == (isBusy ? min(2, Int(ck_processors())) : 1))
    transport.stop()
    for task in waiting { #expect(await task.value.code == .interrupted) }
  }
}
