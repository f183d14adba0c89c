import Foundation
@testable import MultipartCore
import Support

/// Sends the request and returns the answer or the failure as a value.
func outcome(_ transport: some Transport, _ request: Request) async -> Result<Response, Failure> {
  do throws(Failure) {
    return .success(try await transport.send(request))
  } catch {
    return .failure(error)
  }
}

extension Result<Response, Failure> {
  var status: Int? { try? get().status }

  var code: Failure.Code? {
    if case .failure(let failure) = self { failure.code } else { nil }
  }

  var message: String? {
    if case .failure(let failure) = self { failure.message.description } else { nil }
  }
}

/// A transport without proxy and limits, on one loop.
func plainTransport(
  loops: Int? = 1, _ change: (inout TransportOptions) -> Void = { _ in }
) throws(Failure) -> CurlTransport {
  var options = TransportOptions()
  change(&options)
  return try CurlTransport(options: options, loops: loops)
}

/// A transport through a proxy for all hosts.
func proxiedTransport(through url: String, trusting caFile: String?) throws(Failure) -> CurlTransport {
  try plainTransport {
    $0.caBundle = caFile
    $0.proxy = ProxySettings(option: url, environment: [:])
  }
}

/// A body of computed bytes, which needs no memory even if it is large, and which can fail at any byte.
struct CountingBody: BodySource {
  var length: Int64
  var failsAt: Int64?

  static func byte(_ offset: Int64) -> UInt8 { UInt8(truncatingIfNeeded: offset &* 31 &+ offset >> 8) }

  static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { byte(Int64($0)) } }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
    let count = Int(min(Int64(buffer.count), length - offset))
    if let failsAt, offset + Int64(count) > failsAt {
      throw Failure(.sourceChanged, "the test's body ends here")
    }
    for index in 0..<count { buffer[index] = Self.byte(offset + Int64(index)) }
    return count
  }
}

/// Adds up the sent bytes that a request reports.
final class SentCounter: Sendable {
  private let state = Guarded<[Int64]>([])

  var sum: Int64 { state.with { $0.reduce(0, +) } }
  var steps: [Int64] { state.with { $0 } }
  var add: @Sendable (Int64) -> Void { { [state] count in state.with { $0.append(count) } } }
}

/// Lets a task wait for another, or for a thread.
final class Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  /// Opens the gate for one waiting caller.
  func open() {
    continuation.yield()
  }

  func wait() async {
    for await _ in stream { return }
  }
}
