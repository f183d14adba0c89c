import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// Buckets on AWS, whose hosts are played by the fake store, as the proxy of the runs.
@Suite(.crowd) struct EndpointTests {
  private func box(
    faults: [Fault] = [], _ change: (inout FakeOptions) -> Void = { _ in }
  ) throws -> BlackBox {
    var box = try BlackBox(faults: faults) { options in
      options.region = "eu-west-1"
      options.abortDate = "Fri, 01 Jan 2038 00:00:00 GMT"
      change(&options)
    }
    box.environment["AWS_ENDPOINT_URL_S3"] = nil
    box.environment["S3UP_PROXY"] = box.fake.endpoint
    box.environment["S3UP_INSECURE"] = "1"
    try box.sample("f", 1000)
    return box
  }

  private func hosts(_ box: BlackBox) -> [String] { box.fake.requests.map { $0.headers["host"] ?? "" } }

  private func lines(_ text: String) -> Int { text.split(separator: "\n").count }

  @Test("a plain put with a given region sends only the PUT")
  func nothingAsked() async throws {
    var box = try box()
    box.environment["AWS_REGION"] = "eu-west-1"
    try await box.run("put", "f", "s3://bucket/k").expectSuccess()
    #expect(hosts(box) == ["bucket.s3.eu-west-1.amazonaws.com"])
    #expect(box.fake.requests.map(\.operation) == [.putObject])
  }

  @Test("without a region AWS is asked once, without a signature")
  func asked() async throws {
    let box = try box()
    let result = try await box.run("put", "f", "s3://bucket/k", "--explain")
    #expect(result.status == 0)
    #expect(result.errors.contains("region       eu-west-1 (asked of the bucket)"), "\(result.errors)")
    #expect(hosts(box) == ["bucket.s3.us-east-1.amazonaws.com", "bucket.s3.eu-west-1.amazonaws.com"])
    #expect(box.fake.requests.map(\.operation) == [.headBucket, .putObject])
    #expect(box.fake.requests.first?.headers["authorization"] == nil)
  }

  @Test("a wrong region is corrected once for all parts, and reported in one line")
  func followed() async throws {
    var box = try box()
    box.environment["AWS_REGION"] = "us-west-2"
    let bytes = try box.sample("big", 20 * mebi)
    let result = try await box.run("put", "big", "s3://bucket/k")
    #expect(result.status == 0, "\(result.errors)")
    #expect(lines(result.errors) == 1 && result.errors.hasPrefix("s3up: "), "\(result.errors)")
    #expect(result.errors.contains("is in eu-west-1, not in us-west-2"))
    #expect(box.fake.requests.filter { $0.status == 301 }.count == 1)
    #expect(box.fake.object("k")?.holds(bytes) == true)
    let quiet = try await box.run("put", "f", "s3://bucket/q", "-q")
    quiet.expectSuccess()
  }

  @Test("an upload that was begun with the wrong region is resumed by the same command")
  func resumed() async throws {
    var box = try box(faults: [Fault(.init(.uploadPart, nth: 2), .error(status: 403, code: "AccessDenied"))])
    box.environment["AWS_REGION"] = "us-west-2"
    let bytes = try box.sample("big", 20 * mebi)
    let put = ["put", "big", "s3://bucket/k", "--concurrency", "1"]
    #expect(try await box.run(put).status == 77)
    let result = try await box.run(put)
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.requests(.createMultipartUpload).filter { $0.status == 200 }.count == 1)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a presigned URL is for the region that AWS names; if it names none, a message says which was used")
  func presigned() async throws {
    var box = try box()
    let result = try await box.run("presign", "s3://bucket/k")
    result.expectSuccess()
    #expect(result.output.hasPrefix("https://bucket.s3.eu-west-1.amazonaws.com/k?"), "\(result.output)")
    #expect(box.fake.requests.map(\.operation) == [.headBucket])
    box.environment["S3UP_PROXY"] = "http://127.0.0.1:9"
    let alone = try await box.run("presign", "s3://bucket/k")
    #expect(alone.status == 0 && alone.output.hasPrefix("https://bucket.s3.us-east-1.amazonaws.com/k?"))
    #expect(lines(alone.errors) == 1 && alone.errors.contains("give --region"), "\(alone.errors)")
  }

  @Test("at a store other than AWS a wrong region changes the signature, but not the host")
  func customEndpoint() async throws {
    let box = try BlackBox { $0.region = "eu-test-1" }
    let bytes = try box.sample("big", 12 * mebi)
    let result = try await box.run("put", "big", "s3://bucket/k", "--region", "us-east-1")
    #expect(result.status == 0 && lines(result.errors) == 1, "\(result.errors)")
    #expect(result.errors.contains("eu-test-1"))
    #expect(box.fake.requests.filter { $0.status == 400 }.count == 1)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a redirect to another party's host is refused, and nothing is sent there")
  func refusedRedirect() async throws {
    let other = try BlackBox()
    var box = try box(faults: [
      Fault(
        .all,
        .error(
          status: 307, code: "TemporaryRedirect",
          headers: ["Location": "https://localhost:\(other.fake.tlsPort)/bucket/k"]))
    ])
    box.environment["AWS_REGION"] = "eu-west-1"
    try await box.run("put", "f", "s3://bucket/k").expectFailure(69, "another host")
    #expect(box.fake.requests.count == 1)
    #expect(other.fake.requests.isEmpty)
  }

  static let variants: [([String], [String: String], String, String)] = [
    (["--dualstack"], [:], "", "bucket.s3.dualstack.eu-west-1.amazonaws.com"),
    (["--fips"], [:], "", "bucket.s3-fips.eu-west-1.amazonaws.com"),
    (["--accelerate"], [:], "", "bucket.s3-accelerate.amazonaws.com"),
    (["--accelerate", "--dualstack"], [:], "", "bucket.s3-accelerate.dualstack.amazonaws.com"),
    ([], ["AWS_USE_DUALSTACK_ENDPOINT": "true"], "", "bucket.s3.dualstack.eu-west-1.amazonaws.com"),
    ([], ["AWS_USE_FIPS_ENDPOINT": "TRUE"], "", "bucket.s3-fips.eu-west-1.amazonaws.com"),
    (["--no-fips"], ["AWS_USE_FIPS_ENDPOINT": "true"], "", "bucket.s3.eu-west-1.amazonaws.com"),
    ([], ["S3UP_ACCELERATE": "1"], "", "bucket.s3-accelerate.amazonaws.com"),
    ([], [:], "use_fips_endpoint = true", "bucket.s3-fips.eu-west-1.amazonaws.com"),
    ([], [:], "use_dualstack_endpoint = true", "bucket.s3.dualstack.eu-west-1.amazonaws.com"),
    ([], [:], "s3 =\n  use_accelerate_endpoint = true", "bucket.s3-accelerate.amazonaws.com"),
    ([], [:], "s3 =\n  addressing_style = path", "s3.eu-west-1.amazonaws.com"),
  ]

  @Test("the selected variants of AWS's endpoints are used", arguments: variants.indices)
  func variant(index: Int) async throws {
    let (words, variables, profile, host) = Self.variants[index]
    var box = try box()
    box.environment.merge(variables) { $1 }
    try box.binary.home.write("[default]\nregion = eu-west-1\n\(profile)\n", to: ".aws/config")
    try await box.run(["put", "f", "s3://bucket/k"] + words).expectSuccess()
    #expect(hosts(box) == [host])
  }

  @Test("an access point's ARN determines host and region, with the key after it")
  func accessPoint() async throws {
    let arn = "arn:aws:s3:eu-west-1:123456789012:accesspoint/ap"
    let box = try box { $0.buckets = ["ap-123456789012"] }
    let bytes = try box.sample("big", 12 * mebi)
    let result = try await box.run("put", "big", "s3://\(arn)/a/b", "--region", "us-east-1")
    result.expectSuccess()
    #expect(result.output.contains("s3://\(arn)/a/b"))
    #expect(Set(hosts(box)) == ["ap-123456789012.s3-accesspoint.eu-west-1.amazonaws.com"])
    #expect(box.fake.object("a/b", bucket: "ap-123456789012")?.holds(bytes) == true)
    #expect(box.fake.requests.allSatisfy { $0.headers["authorization"]?.contains("/eu-west-1/s3/") == true })
  }

  @Test(
    "the slashes of an ARN belong to it, and the key begins after it",
    arguments: [
      (
        "arn:aws:s3-outposts:eu-west-1:123456789012:outpost/op-1/accesspoint/ap/a/b",
        "https://ap-123456789012.op-1.s3-outposts.eu-west-1.amazonaws.com/a/b?"
      ),
      (
        "arn:aws:s3-object-lambda:eu-west-1:123456789012:accesspoint/ol/k",
        "https://ol-123456789012.s3-object-lambda.eu-west-1.amazonaws.com/k?"
      ),
      (
        "arn:aws:s3:eu-west-1:123456789012:accesspoint:ap/k/",
        "https://ap-123456789012.s3-accesspoint.eu-west-1.amazonaws.com/k/?"
      ),
    ])
  func slashes(url: String, start: String) async throws {
    let box = try box()
    let result = try await box.run("presign", "s3://" + url)
    result.expectSuccess()
    #expect(result.output.hasPrefix(start), "\(result.output)")
    #expect(box.fake.requests.isEmpty)
  }

  @Test(
    "combinations that AWS refuses are refused before anything is sent, with a remedy",
    arguments: [
      ("arn:aws:s3::123456789012:accesspoint/abc.mrap", [], "SigV4A"), ("bucket", ["--accelerate", "--fips"], "FIPS"),
      ("a.b", ["--accelerate"], "dots"), ("bucket", ["--accelerate", "--addressing", "path"], "in the path"),
      ("bucket", ["--fips", "--endpoint-url", "http://h"], "--no-fips"),
      ("bucket", ["--fips", "--region", "cn-north-1"], "FIPS"),
      ("base--usw2-az1--x-s3", ["--region", "eu-west-1"], "--region us-west-2"),
    ] as [(String, [String], String)])
  func refused(bucket: String, words: [String], said: String) async throws {
    let box = try box()
    try await box.run(["put", "f", "s3://\(bucket)/k"] + words).expectFailure(64, said)
    #expect(box.fake.counters.connections == 0)
  }

  @Test("an invalid value of the s3 block is 78 with the file and the setting")
  func badBlock() async throws {
    let box = try box()
    try box.binary.home.write("[default]\ns3 =\n  max_bandwidth = fast\n", to: ".aws/config")
    try await box.run("put", "f", "s3://bucket/k").expectFailure(78, ".aws/config", "s3.max_bandwidth", "fast")
    #expect(box.fake.counters.connections == 0)
  }

  @Test("--explain says where each setting came from, and the s3 block sets the part size")
  func explained() async throws {
    let box = try box()
    let block = "max_concurrent_requests = 3\n  multipart_threshold = 1MB\n  multipart_chunksize = 6MB\n"
    try box.binary.home.write(
      "[default]\nregion = eu-west-1\ns3 =\n  \(block)  max_bandwidth = 1GB/s\n", to: ".aws/config")
    try box.sample("big", 7 * mebi)
    let result = try await box.run("put", "big", "s3://bucket/k", "--explain", "--dualstack")
    #expect(result.status == 0, "\(result.errors)")
    for words in [
      "(AWS's bucket, dualstack by --dualstack), bucket in the host", "eu-west-1 (profile default)",
      "2 parts of 6.0 MiB, as profile default says", "3 (profile default)", "GiB/s (profile default)",
    ] { #expect(result.errors.contains(words), "\(words): \(result.errors)") }
    #expect(box.fake.requests(.uploadPart).count == 2)
    let whole = try await box.run("put", "f", "s3://bucket/small", "--explain")
    #expect(whole.errors.contains("shorter than 1.0 MiB, as profile default says"), "\(whole.errors)")
  }

  @Test(
    "a file of at least the profile's threshold is sent in parts, and a smaller one in one request",
    arguments: [("64MB", 12 * mebi, 0), ("1MB", 2 * mebi, 1), ("1MB", 0, 0), ("12MB", 12 * mebi, 2)])
  func threshold(threshold: String, size: Int, parts: Int) async throws {
    let box = try box()
    try box.binary.home.write(
      "[default]\nregion = eu-west-1\ns3 =\n  multipart_threshold = \(threshold)\n", to: ".aws/config")
    let bytes = try box.sample("big", size)
    try await box.run("put", "big", "s3://bucket/k").expectSuccess()
    #expect(box.fake.requests(.uploadPart).count == parts)
    #expect(box.fake.requests(.putObject).count == (parts == 0 ? 1 : 0))
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("if options and environment say everything, an invalid file has no effect, and one request is sent")
  func closedFiles() async throws {
    var box = try BlackBox()
    box.environment["AWS_REGION"] = "us-east-1"
    try box.sample("f", 1000)
    try box.binary.home.write("[default\n", to: ".aws/config")
    try await box.run("put", "f", "s3://bucket/k").expectSuccess()
    #expect(box.fake.requests.map(\.operation) == [.putObject])
  }
}
