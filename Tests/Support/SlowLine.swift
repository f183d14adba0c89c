import Foundation

/// A slow line to a store, behind a device that accepts bytes at once, acknowledges them, and passes them on when it
/// can. It ends with this value, and with the test's process.
package final class SlowLine: Sendable {
  /// The endpoint for s3up.
  package let endpoint: String
  private let process: ChildProcess

  private static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Faults/forward.py").path

  /// Starts the line; `rate` is in bytes a second for all connections together, and `buffer` is what the device accepts
  /// of each at once.
  package init(to port: Int, rate: Int, buffer: Int) async throws {
    process = try ChildProcess(
      Programs.python(), [Self.program, "line", String(port), String(rate), String(buffer)],
      environment: Programs.environment(home: "/nonexistent"), input: .open)
    let process = process
    try await until("the line is there") { process.ended || process.stdout.contains(UInt8(ascii: "\n")) }
    guard let own = Self.number("ready", in: process) else { throw SystemError(await process.wait().errors, EPROTO) }
    endpoint = "http://127.0.0.1:\(own)"
  }

  deinit {
    process.closeInput()
  }

  /// Sets another rate, from now on.
  package func set(rate: Int) async { _ = await process.write(Array("\(rate)\n".utf8)) }

  /// Bytes that have reached the store's side.
  package var passed: Int { Self.number("passed", in: process) ?? 0 }

  private static func number(_ word: String, in process: ChildProcess) -> Int? {
    let lines = String(decoding: process.stdout, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    // The last line may be incomplete.
    return lines.dropLast().last { $0.hasPrefix(word + " ") }.flatMap { Int($0.dropFirst(word.count + 1)) }
  }
}
