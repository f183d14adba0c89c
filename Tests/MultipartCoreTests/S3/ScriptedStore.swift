import MultipartCore

/// Answers each request as the test's function says, and keeps what was asked.
final class ScriptedStore: Transport {
  private let asked = Locked<[Request]>([])
  private let answer: @Sendable (Request, _ number: Int) async throws(Failure) -> Response

  /// `number` counts from 1.
  init(_ answer: @escaping @Sendable (Request, _ number: Int) async throws(Failure) -> Response) {
    self.answer = answer
  }

  var requests: [Request] { asked.withLock { $0 } }

  func send(_ request: Request) async throws(Failure) -> Response {
    let number = asked.withLock { asked in
      asked.append(request)
      return asked.count
    }
    return try await answer(request, number)
  }
}

extension Request {
  /// `https://bucket.s3.eu-west-1.amazonaws.com`
  var origin: String { String(url.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//")) }

  /// `eu-west-1/s3`; nil without a signature.
  var scope: String? {
    guard let words = headers["Authorization"]?.split(separator: "/"), words.count > 4 else { return nil }
    return "\(words[2])/\(words[3])"
  }
}

/// A clock, and what was said to everybody.
final class TestWorld: Sendable {
  private let time = Locked(Duration.seconds(1000))
  private let heard = Locked<[String]>([])

  func advance(_ duration: Duration) { time.withLock { $0 += duration } }

  var said: [String] { heard.withLock { $0 } }

  var world: World {
    World(
      now: { Timestamp(seconds: 1_700_000_000) }, uptime: { self.time.withLock { $0 } }, sleep: { _ in },
      random: { 0.5 }, environment: [:],
      log: { level, text in if level == 0 { self.heard.withLock { $0.append(text().description) } } })
  }
}
