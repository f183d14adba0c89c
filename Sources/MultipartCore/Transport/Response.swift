/// A server's answer, whatever its status.
struct Response: Sendable {
  var status: Int
  var headers: HeaderList = [:]
  var body: [UInt8] = []

  var isSuccess: Bool { (200..<300).contains(status) }
}

/// Sends a request and returns the answer. Anything that fails before the answer is complete is a `Failure`; a status
/// of 400 or 500 is an answer.
protocol Transport: Sendable {
  func send(_ request: Request) async throws(Failure) -> Response
  /// What the line has done so far, and how busy the loops were recently; nil if unknown.
  func look() -> LineSample?
  /// Prepares for many concurrent requests to this URL's host.
  func prepare(for url: String)
}

extension Transport {
  func look() -> LineSample? { nil }
  func prepare(for url: String) {}
}
