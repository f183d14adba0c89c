import Foundation

/// The fault proxy of `Tests/Faults` in front of a real store, with a script of the same faults that the fake store
/// takes. It ends with this value, and with the test's process.
package final class FaultProxy: Sendable {
  package struct Stats: Decodable, Sendable {
    package struct Count: Decodable, Sendable {
      package var requests: Int
      /// Bytes of bodies that the client sent, and those that were forwarded to the store.
      package var bytes_in: Int
      package var bytes_out: Int
    }

    package var operations: [String: Count]
    /// The counts by part number.
    package var parts: [String: Count]
    package var faults: [String: Int]

    package func requests(_ operation: FakeOperation) -> Int { operations[operation.rawValue]?.requests ?? 0 }
  }

  private struct Place: Decodable {
    var endpoint: String
    var control: String
  }

  /// The endpoint for s3up.
  package let endpoint: String
  private let control: String
  private let process: ChildProcess

  private static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Faults/fault_proxy.py").path

  /// Starts the proxy; `store` is `http://HOST:PORT`.
  package init(store: String, _ faults: [Fault]) async throws {
    let script = String(decoding: try JSONEncoder().encode(faults), as: UTF8.self)
    process = try ChildProcess(
      Programs.python(), [Self.program, store, "--script", script, "--seconds", "300"],
      environment: Programs.environment(home: "/nonexistent"), input: .open)
    // The proxy prints one line when it listens; without that line it has ended and printed the reason.
    let process = process
    try await until("the proxy listens") { process.ended || process.stdout.contains(UInt8(ascii: "\n")) }
    guard process.stdout.contains(UInt8(ascii: "\n")) else { throw SystemError(await process.wait().errors, EPROTO) }
    let place = try JSONDecoder().decode(Place.self, from: Data(process.stdout))
    endpoint = place.endpoint
    control = place.control
  }

  deinit {
    process.closeInput()
  }

  package func stats() async throws -> Stats {
    try JSONDecoder().decode(Stats.self, from: Data(await ask("/_stats")))
  }

  /// Waits until this many requests of an operation are stalled.
  package func waitForStalled(_ operation: FakeOperation, count: Int = 1) async throws -> Bool {
    let query = "operation=\(operation.rawValue)&phase=stalled&count=\(count)&seconds=30"
    return String(decoding: try await ask("/_wait?\(query)"), as: UTF8.self).contains("true")
  }

  /// Lets all stalled requests continue.
  package func release() async throws {
    _ = try await ask("/_release", ["-X", "POST"])
  }

  private func ask(_ path: String, _ options: [String] = []) async throws -> [UInt8] {
    let answer = try await curl(["--fail", control + path] + options)
    guard answer.status == 0 else { throw SystemError("\(path): \(answer.errors)", EPROTO) }
    return answer.stdout
  }
}
