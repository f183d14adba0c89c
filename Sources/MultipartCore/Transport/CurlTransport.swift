import Synchronization

/// Sends requests over one or more loops, in turn.
package final class CurlTransport: Transport {
  private let loops: [CurlLoop]
  private let turn = Atomic<Int>(0)

  package init(options: TransportOptions, loops count: Int = 1) throws(Failure) {
    var loops: [CurlLoop] = []
    for _ in 0..<max(1, count) { loops.append(try CurlLoop(options: options)) }
    self.loops = loops
  }

  package func send(_ request: Request) async throws(Failure) -> Response {
    let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    return try await loops[index % loops.count].send(request)
  }

  package func stop() {
    for loop in loops { loop.stop() }
  }
}
