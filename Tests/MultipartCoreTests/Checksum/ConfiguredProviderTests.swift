import Foundation
import Support
import Testing

@testable import MultipartCore

/// Each test runs in its own process, because OpenSSL reads its configuration once.
@Suite("Digests by the providers that OpenSSL is configured with", .timeLimit(.minutes(15)))
struct ConfiguredProviderTests {
  @Test("The default provider computes SHA-256 without a configuration, and two slices may be summed in step")
  func plain() async {
    await #expect(processExitsWith: .success) {
      setenv("OPENSSL_CONF", "/dev/null", 1)
      guard DigestContext.isSHA256Default, try Digest.sha256("".utf8).count == 32 else { exit(2) }
    }
  }

  @Test("An algorithm that a configuration excludes is computed neither by OpenSSL nor by the two streams in step")
  func excluded() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryDirectory("openssl")
      setenv("OPENSSL_CONF", try folder.write(fipsOnly, to: "openssl.cnf"), 1)
      func isRefused(_ work: () throws -> [UInt8]) -> Bool {
        do { return try work().isEmpty } catch { return (error as? Failure)?.code == .local }
      }
      guard isRefused({ try Digest.sha256("".utf8) }) else { exit(2) }
      guard isRefused({ try SigningDigest.hmac(key: [1], [2]) }) else { exit(3) }
      func sha1() throws -> [UInt8] { try RunningChecksum(.sha1).finish().bytes }
      guard isRefused(sha1) else { exit(4) }
      guard !SumDesk.isWorthIt else { exit(5) }
    }
  }

  @Test("MD5, which ETags are made of and no FIPS provider has, is computed all the same")
  func md5() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryDirectory("openssl")
      setenv("OPENSSL_CONF", try folder.write(fipsOnly, to: "openssl.cnf"), 1)
      var sum = try RunningChecksum(.md5)
      sum.update("message ".utf8)
      let before = try sum.finish()
      var other = sum
      sum.update("digest".utf8)
      guard try sum.finish().hex == "f96b697d7cb7938d525a2f31aaf161d0" else { exit(2) }
      guard try other.finish() == before else { exit(3) }
      other.update("digest".utf8)
      guard try other.finish() == sum.finish() else { exit(4) }
      _ = try CustomerKey([UInt8](repeating: 7, count: 32))
    }
  }
}
