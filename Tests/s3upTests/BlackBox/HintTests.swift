import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// The messages for common mistakes of beginners: what, where, and the remedy.
@Suite(.crowd) struct HintTests {
  private func box(secure: Bool = false) throws -> BlackBox {
    let box = try BlackBox(secure: secure)
    try box.sample("f", 100)
    return box
  }

  @Test(
    "https to a port that answers in HTTP is 69 at once, with the address that works",
    arguments: ["put", "create", "uploads"])
  func plainPort(_ command: String) async throws {
    var box = try box()
    box.environment["AWS_ENDPOINT_URL_S3"] = "https://127.0.0.1:\(box.fake.port)"
    let words = ["put": ["put", "f", "s3://bucket/k"], "create": ["create", "s3://bucket/k"]][command]
    let lag = Lag()
    let result = try await box.run(words ?? ["uploads", "s3://bucket"])
    result.expectFailure(69, "not with TLS", "--endpoint-url \(box.fake.endpoint)")
    #expect(!result.errors.contains("SSL routines"))
    #expect(.seconds(result.seconds) - lag.sofar < .seconds(5))
  }

  @Test("a proxy that is down is named with its variable, without its password")
  func proxy() async throws {
    var box = try box()
    box.environment["http_proxy"] = "http://user:pAssw0rd@127.0.0.1:9"
    let result = try await box.run("put", "f", "s3://bucket/k", "--retries", "1")
    result.expectFailure(75, "the proxy http://127.0.0.1:9", "(http_proxy)", "NO_PROXY=127.0.0.1")
    #expect(!result.errors.contains("pAssw0rd"))
  }

  static let pages: [LocalService.Reply] = [
    .init(200, "<!DOCTYPE html><html><body>Log in</body></html>", headers: ["Content-Type": "text/html"]),
    .init(302, "", headers: ["Location": "http://login.example/"]),
    .init(307, "<html>Log in</html>", headers: ["Location": "http://login.example/", "Content-Type": "text/html"]),
  ]

  @Test("a login page of the network is reported as one, at once, and is not a success", arguments: pages.indices)
  func captivePortal(_ index: Int) async throws {
    var box = try box()
    let portal = try LocalService { _ in Self.pages[index] }
    box.environment["AWS_ENDPOINT_URL_S3"] = portal.url
    for words in [
      ["put", "f", "s3://bucket/k"], ["create", "s3://bucket/k"], ["put", "f", "s3://bucket/k", "--if-none-match"],
    ] {
      let lag = Lag()
      let result = try await box.run(words)
      result.expectFailure(75, "web page", "--endpoint-url")
      #expect(.seconds(result.seconds) - lag.sofar < .seconds(5))
    }
  }

  @Test("a bucket that is also in the endpoint URL is 78 with the correct URL, and nothing is sent")
  func doubledBucket() async throws {
    var box = try box()
    for url in ["http://bucket.localhost:\(box.fake.port)", "\(box.fake.endpoint)/bucket"] {
      box.environment["AWS_ENDPOINT_URL_S3"] = url
      let mended = url.contains("localhost") ? "http://localhost:\(box.fake.port)" : box.fake.endpoint
      try await box.run("put", "f", "s3://bucket/k").expectFailure(78, "bucket", "--endpoint-url \(mended)")
      try await box.run("presign", "s3://bucket/k").expectFailure(78, "bucket")
    }
    #expect(box.fake.requests.isEmpty)
  }

  @Test("a bucket name that is impossible on AWS is 64 without a request; another store may have it")
  func bucketName() async throws {
    var box = try box()
    try await box.run("uploads", "s3://Hu_Bucket").expectFailure(69, "NoSuchBucket")
    let before = box.fake.requests.count
    box.environment["AWS_ENDPOINT_URL_S3"] = nil
    box.environment["http_proxy"] = box.fake.endpoint
    box.environment["https_proxy"] = box.fake.endpoint
    try await box.run("put", "f", "s3://Hu_Bucket/k")
      .expectFailure(64, "Hu_Bucket", "lower-case letters", "--endpoint-url")
    #expect(box.fake.requests.count == before)
  }

  @Test("with two files and one key the message says that a prefix ends in a slash")
  func twoFiles() async throws {
    let box = try box()
    let result = try await box.run("put", "f", "it's", "s3://bucket/dir")
    result.expectFailure(64, "a single key", "2 files", "s3://bucket/dir/")
  }

  @Test("a state folder that cannot be created is named with the reason")
  func stateFolder() async throws {
    let box = try box()
    try box.sample("big", 11 * mebi)
    let result = try await box.run("put", "big", "s3://bucket/k", "--state-dir", box.files.path("f") + "/state")
    #expect(result.errors.contains(box.files.path("f") + "/state"), "\(result.errors)")
    #expect(result.errors.contains("Not a directory"), "\(result.errors)")
  }

  @Test("if the store ignores a checksum chosen by name, one message says so, even without -v", arguments: [1, 11])
  func checksumPassedOver(_ size: Int) async throws {
    let box = try BlackBox { $0.checksums = .ignored }
    try box.sample("f", size * mebi)
    let named = try await box.run("put", "f", "s3://bucket/k", "--checksum", "crc32c", "--part-size", "5M")
    #expect(named.status == 0)
    #expect(named.errors.split(separator: "\n").count == 1 && named.errors.contains("CRC32C"), "\(named.errors)")
    let auto = try await box.run("put", "f", "s3://bucket/k2", "-v", "--part-size", "5M")
    #expect(auto.errors.contains("has not verified it") && !auto.errors.contains("none instead"), "\(auto.errors)")
  }
}
