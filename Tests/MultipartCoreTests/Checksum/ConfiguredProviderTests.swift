import Foundation
import Support
import Testing

@testable import MultipartCore

/// Each in its own process, because OpenSSL reads its configuration once.
@Suite("Digests by the providers that OpenSSL is configured with", .timeLimit(.minutes(15)))
struct ConfiguredProviderTests {
  @Test("Without a configuration the default provider computes SHA-256, and two slices may be summed in step")
  func plain() async {
    await #expect(processExitsWith: .success) {
      setenv("OPENSSL_CONF", "/dev/null", 1)
      guard DigestContext.isSHA256Default, try Digest.sha256("").count == 32 else { exit(2) }
    }
  }

  @Test("What a configuration excludes is neither computed by OpenSSL nor by the two streams in step")
  func excluded() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryDirectory("openssl")
      setenv("OPENSSL_CONF", try folder.write(fipsOnly, to: "openssl.cnf"), 1)
      func isRefused(_ work: () throws -> [UInt8]) -> Bool {
        do { return try work().isEmpty } catch { return (error as? Failure)?.code == .local }
      }
      guard isRefused({ try Digest.sha256("") }) else { exit(2) }
      guard isRefused({ try SigningDigest.hmac(key: [1], [2]) }) else { exit(3) }
      guard isRefused({ try Digest.md5([]) }) else { exit(4) }
      guard !SumDesk.isWorthIt else { exit(5) }
    }
  }
}
