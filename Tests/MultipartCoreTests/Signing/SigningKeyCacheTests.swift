import MultipartBasics
@testable import MultipartCore
import Testing

@Suite("Signing keys", .timeLimit(.minutes(15)))
struct SigningKeyCacheTests {
  private func scope(_ time: Timestamp, _ region: String = "us-east-1", _ service: String = "s3") -> SigV4.Scope {
    SigV4.Scope(at: time, region: region, service: service)
  }

  @Test("the key is the one AWS publishes for iam")
  func published() throws {
    // "Examples of how to derive a signing key": 20120215, us-east-1, iam; then one signature made by it.
    let scope = scope(Timestamp(seconds: 1_329_264_000), "us-east-1", "iam")
    let key = try SigV4.signingKey(secret: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), scope: scope)
    #expect(
      try SigV4.signature("message", key: key) == "31ab895f05452a899b8dcce4cdbfe6bb9325ff4aeff4f6655bc7457573f74e05")
    #expect("\(key)" == "(signing key)")
  }

  @Test("requests with the same day, region, service and secret share one key; any other has another key")
  func shared() throws {
    let cache = SigningKeyCache()
    let day = Timestamp(seconds: 1_772_323_198)
    let first = try cache.key(secret: Secret("a"), scope: scope(day))
    #expect(try cache.key(secret: Secret("a"), scope: scope(Timestamp(seconds: day.seconds - 3600))) == first)
    #expect(cache.count == 1)
    // Two seconds later is another day.
    #expect(try cache.key(secret: Secret("a"), scope: scope(Timestamp(seconds: day.seconds + 2))) != first)
    #expect(try cache.key(secret: Secret("b"), scope: scope(day)) != first)
    #expect(try cache.key(secret: Secret("a"), scope: scope(day, "eu-west-1")) != first)
    #expect(try cache.key(secret: Secret("a"), scope: scope(day, "us-east-1", "s3express")) != first)
    #expect(cache.count == 5)
  }

  @Test("the cache stays small however many days and secrets there are, and is still correct")
  func bounded() throws {
    let cache = SigningKeyCache()
    for day in 0..<50 {
      let scope = scope(Timestamp(seconds: Int64(day) * 86400))
      #expect(try cache.key(secret: Secret("a"), scope: scope) == SigV4.signingKey(secret: Secret("a"), scope: scope))
    }
    #expect(cache.count == 8)
  }

  @Test("many tasks at once get the same key and leave one entry")
  func concurrent() async throws {
    let cache = SigningKeyCache()
    let scope = scope(Timestamp(seconds: 0))
    let expected = try SigV4.signingKey(secret: Secret("a"), scope: scope)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<32 { group.addTask { try cache.key(secret: Secret("a"), scope: scope) == expected } }
      for try await same in group { #expect(same) }
    }
    #expect(cache.count == 1)
  }
}
