import Foundation
@testable import MultipartCore
import Support
import Testing

/// Cancelling, stopping, and which callers get an answer.
@Suite(.timeLimit(.minutes(10))) struct CurlLoopTests {
  /// A server that takes requests and never answers; the gate opens with each request that arrives.
  private func silent(_ came: Gate) throws -> RawServer {
    try RawServer { connection, _ in
      guard connection.readHead() != nil else { return }
      came.open()
      connection.untilClosed()
    }
  }

  private func answering() throws -> RawServer {
    try RawServer { connection, _ in
      while connection.readRequest() != nil { connection.answer() }
    }
  }

  @Test("A request of an already cancelled task is not sent")
  func cancelledBefore() async throws {
    let came = Gate()
    let server = try silent(came)
    let transport = try plainTransport()
    let cancelled = Gate()
    let task = Task {
      await cancelled.wait()
      while !Task.isCancelled { await Task.yield() }
      return await outcome(transport, Request(method: .get, url: server.url + "/"))
    }
    task.cancel()
    cancelled.open()
    let ended = await task.value
    #expect(ended.code == .interrupted, "\(ended)")
    #expect(server.connections == 0)
  }

  @Test("A request in flight ends if its task is cancelled, and the loop continues")
  func cancelledInFlight() async throws {
    let came = Gate()
    let server = try silent(came)
    let good = try answering()
    let transport = try plainTransport()
    for body in [RequestBody.none, .source(CountingBody(length: 1 << 30))] {
      let task = Task {
        await outcome(transport, Request(method: .put, url: server.url + "/", body: body))
      }
      await came.wait()
      task.cancel()
      let ended = await task.value
      #expect(ended.code == .interrupted, "\(ended)")
      #expect(try await transport.send(Request(method: .get, url: good.url + "/")).status == 200)
    }
  }

  @Test("A cancellation after the end has no effect, for this request or the next")
  func cancelledAfter() async throws {
    let server = try answering()
    let transport = try plainTransport()
    for _ in 0..<50 {
      let task = Task { await outcome(transport, Request(method: .get, url: server.url + "/")) }
      #expect(await task.value.status == 200)
      task.cancel()
    }
    #expect(try await transport.send(Request(method: .get, url: server.url + "/")).status == 200)
  }

  @Test("Cancelled at any moment, every request gets one answer")
  func cancelledAnytime() async throws {
    let server = try answering()
    let transport = try plainTransport(loops: 2)
    var dice = SeededRandom(seed: 11)
    let waits = (0..<200).map { _ in Int(dice.unit() * 400) }
    let codes = await withTaskGroup(of: Bool.self) { group in
      for wait in waits {
        group.addTask {
          let task = Task { await outcome(transport, Request(method: .get, url: server.url + "/")) }
          for _ in 0..<wait { await Task.yield() }
          task.cancel()
          let result = await task.value
          return result.status == 200 || result.code == .interrupted
        }
      }
      return await group.reduce(into: [Bool]()) { $0.append($1) }
    }
    #expect(codes.count == 200)
    #expect(codes.allSatisfy { $0 })
  }

  @Test("The caller that gets the first answer knows the round trip, which decides the size of the parts")
  func firstTrip() async throws {
    let server = try answering()
    for _ in 0..<20 {
      let transport = try plainTransport()
      #expect(try await transport.send(Request(method: .get, url: server.url + "/")).status == 200)
      #expect(transport.look().map { $0.leastTrip > .zero } == true)
    }
  }

  @Test("Stopping fails all waiting and later requests; a second stop does nothing")
  func stop() async throws {
    let came = Gate()
    let server = try silent(came)
    let transport = try plainTransport(loops: 3)
    let tasks = (0..<12).map { _ in
      Task {
        await outcome(
          transport, Request(method: .put, url: server.url + "/", body: .source(CountingBody(length: 1 << 30))))
      }
    }
    for _ in 0..<12 { await came.wait() }
    transport.stop()
    for task in tasks { #expect(await task.value.code == .interrupted) }
    transport.stop()
    #expect(await outcome(transport, Request(method: .get, url: server.url + "/")).code == .interrupted)
  }

  @Test("Requests handed in while the loop stops are all answered")
  func stopRace() async throws {
    let server = try answering()
    for _ in 0..<20 {
      let transport = try plainTransport()
      let tasks = (0..<20).map { _ in
        Task { await outcome(transport, Request(method: .get, url: server.url + "/")) }
      }
      await Task.yield()
      transport.stop()
      for task in tasks {
        let result = await task.value
        #expect(result.status == 200 || result.code == .interrupted)
      }
    }
  }

  @Test("A loop without a reference ends its thread and closes its connections")
  func letGo() async throws {
    let closed = Gate()
    let server = try RawServer { connection, _ in
      while connection.readRequest() != nil { connection.answer() }
      closed.open()
    }
    do {
      let loop = try CurlLoop(options: TransportOptions())
      #expect(try await loop.send(Request(method: .get, url: server.url + "/")).status == 200)
    }
    await closed.wait()
  }

  @Test("Many loops begin and end at once without mixing their answers")
  func manyLoops() async throws {
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        connection.answer(String(request.head.split(separator: " ").dropFirst().first ?? ""))
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<16 {
        group.addTask {
          let loop = try CurlLoop(options: TransportOptions())
          for turn in 0..<5 {
            let response = try await loop.send(Request(method: .get, url: server.url + "/\(index).\(turn)"))
            #expect(response.body == Array("/\(index).\(turn)".utf8))
          }
          loop.stop()
        }
      }
      try await group.waitForAll()
    }
  }
}
