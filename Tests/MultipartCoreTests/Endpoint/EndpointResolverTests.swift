@testable import MultipartCore
import Testing

@Suite("Endpoints", .timeLimit(.minutes(15)))
struct EndpointResolverTests {
  @Test(
    "a region of AWS has its host in the partition's domain",
    arguments: [
      ("us-east-1", "s3.us-east-1.amazonaws.com"),
      ("eu-west-3", "s3.eu-west-3.amazonaws.com"),
      ("us-gov-west-1", "s3.us-gov-west-1.amazonaws.com"),
      ("cn-north-1", "s3.cn-north-1.amazonaws.com.cn"),
      ("us-iso-east-1", "s3.us-iso-east-1.c2s.ic.gov"),
      ("us-isob-east-1", "s3.us-isob-east-1.sc2s.sgov.gov"),
      ("us-isof-south-1", "s3.us-isof-south-1.csp.hci.ic.gov"),
      ("eu-isoe-west-1", "s3.eu-isoe-west-1.cloud.adc-e.uk"),
      ("eusc-de-east-1", "s3.eusc-de-east-1.amazonaws.eu"),
    ])
  func partitions(region: String, host: String) throws {
    let endpoint = try EndpointResolver.resolve(bucket: "bucket", region: region)
    #expect(endpoint.origin == Origin(scheme: .https, host: "bucket." + host))
    #expect(endpoint.region == region)
    #expect(endpoint.signingName == "s3")
  }

  @Test(
    "on AWS the bucket is in the host if possible, else in the path",
    arguments: [
      ("bucket", Addressing.auto, "bucket.s3.eu-west-1.amazonaws.com", "/k"),
      ("my-bucket-2", .auto, "my-bucket-2.s3.eu-west-1.amazonaws.com", "/k"),
      ("bucket", .path, "s3.eu-west-1.amazonaws.com", "/bucket/k"),
      ("bucket", .virtual, "bucket.s3.eu-west-1.amazonaws.com", "/k"),
      ("a.b.c", .auto, "s3.eu-west-1.amazonaws.com", "/a.b.c/k"),
      ("Bucket", .auto, "s3.eu-west-1.amazonaws.com", "/Bucket/k"),
      ("my_bucket", .auto, "s3.eu-west-1.amazonaws.com", "/my_bucket/k"),
      ("ab", .auto, "s3.eu-west-1.amazonaws.com", "/ab/k"),
      ("abc", .auto, "abc.s3.eu-west-1.amazonaws.com", "/k"),
      ("-abc", .auto, "s3.eu-west-1.amazonaws.com", "/-abc/k"),
      ("abc-", .auto, "s3.eu-west-1.amazonaws.com", "/abc-/k"),
      ("192.168.5.4", .auto, "s3.eu-west-1.amazonaws.com", "/192.168.5.4/k"),
      (
        String(repeating: "a", count: 63), .auto, String(repeating: "a", count: 63) + ".s3.eu-west-1.amazonaws.com",
        "/k"
      ),
      (
        String(repeating: "a", count: 64), .auto, "s3.eu-west-1.amazonaws.com",
        "/" + String(repeating: "a", count: 64) + "/k"
      ),
      ("alias-abc-s3alias", .auto, "alias-abc-s3alias.s3.eu-west-1.amazonaws.com", "/k"),
    ])
  func addressingOnAWS(bucket: String, addressing: Addressing, host: String, path: String) throws {
    let endpoint = try EndpointResolver.resolve(bucket: bucket, region: "eu-west-1", addressing: addressing)
    #expect(endpoint.origin.host == host)
    #expect(endpoint.path(forKey: "k") == path)
  }

  @Test(
    "at a URL the bucket is in the path unless the host is requested",
    arguments: [
      ("bucket", Addressing.auto, "http://h:9000", "http://h:9000", "/bucket", "/bucket/k"),
      ("bucket", .path, "http://h:9000", "http://h:9000", "/bucket", "/bucket/k"),
      ("bucket", .virtual, "http://h:9000", "http://bucket.h:9000", "/", "/k"),
      ("bucket", .virtual, "https://h/s3", "https://bucket.h", "/s3/", "/s3/k"),
      ("bucket", .auto, "https://h/s3", "https://h", "/s3/bucket", "/s3/bucket/k"),
      ("a.b", .virtual, "https://h", "https://a.b.h", "/", "/k"),
      ("tenant:bucket", .auto, "https://h", "https://h", "/tenant%3Abucket", "/tenant%3Abucket/k"),
      ("Bücket", .auto, "https://h", "https://h", "/B%C3%BCcket", "/B%C3%BCcket/k"),
    ])
  func addressingAtURL(
    bucket: String, addressing: Addressing, url: String, origin: String, bucketPath: String, keyPath: String
  ) throws {
    let endpoint = try EndpointResolver.resolve(bucket: bucket, endpointURL: url, addressing: addressing)
    #expect(endpoint.origin.description == origin)
    #expect(endpoint.pathForBucket == bucketPath)
    #expect(endpoint.path(forKey: "k") == keyPath)
  }

  @Test(
    "a key is not changed in the path",
    arguments: [
      ("/a", "//a"), ("a//b", "/a//b"), ("../x", "/../x"), (".", "/."), ("a b+%", "/a%20b%2B%25"), ("é/", "/%C3%A9/"),
    ])
  func keys(key: String, path: String) throws {
    let inHost = try EndpointResolver.resolve(bucket: "bucket")
    #expect(inHost.path(forKey: key) == path)
    let inPath = try EndpointResolver.resolve(bucket: "bucket", endpointURL: "http://h")
    #expect(inPath.path(forKey: key) == "/bucket" + path)
  }

  @Test("without a region it is us-east-1", arguments: [nil, ""], [nil, "http://h:9000", ""])
  func defaultRegion(region: String?, url: String?) throws {
    #expect(try EndpointResolver.resolve(bucket: "bucket", region: region, endpointURL: url).region == "us-east-1")
  }

  @Test(
    "a URL of AWS's own is signed for the region in its host, whatever region is given",
    arguments: [
      ("https://s3.eu-west-1.amazonaws.com", "eu-west-1"), ("https://s3-eu-west-1.amazonaws.com", "eu-west-1"),
      ("https://s3.dualstack.eu-west-1.amazonaws.com", "eu-west-1"),
      ("https://s3-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
      ("https://s3.cn-north-1.amazonaws.com.cn:443", "cn-north-1"),
      // These say nothing about the region.
      ("https://s3.amazonaws.com", "us-west-2"), ("https://s3.eu-west-1.example.com", "us-west-2"),
      ("https://s3.eu-west-1.amazonaws.com.example.com", "us-west-2"),
    ])
  func regionOfURL(_ url: String, _ region: String) throws {
    for addressing in [Addressing.path, .virtual] {
      let endpoint = try EndpointResolver.resolve(
        bucket: "bucket", region: "us-west-2", endpointURL: url, addressing: addressing)
      #expect(endpoint.region == region)
    }
  }

  @Test("the region of a store other than AWS can have any name", arguments: ["auto", "RegionOne", "eu_1", "a.b"])
  func ownRegions(region: String) throws {
    #expect(try EndpointResolver.resolve(bucket: "b", region: region, endpointURL: "http://h").region == region)
  }

  @Test(
    "a region that would make another host or scope is refused",
    arguments: [
      ("eu-west-1.evil.example", nil), ("eu-west-1/", nil), ("EU-WEST-1", nil), ("eu west", nil), ("-a", nil),
      ("a/b", "http://h"), ("a b", "http://h"), ("a\nb", "http://h"), ("a,b", "http://h"),
    ] as [(String, String?)])
  func badRegions(region: String, url: String?) {
    for blame in [Failure.Code.usage, .configuration] {
      let failure = #expect(throws: Failure.self) {
        try EndpointResolver.resolve(bucket: "bucket", region: region, endpointURL: url, blame: blame)
      }
      #expect(failure?.code == blame)
    }
  }

  static let doubled: [(String, String, String)] = [
    ("bucket", "https://bucket.s3.example.com", "https://s3.example.com"),
    ("bucket", "https://Bucket.s3.example.com:9000/base", "https://s3.example.com:9000/base"),
    ("a.b", "https://a.b.s3.eu-west-1.amazonaws.com", "https://s3.eu-west-1.amazonaws.com"),
    ("bucket", "https://other.s3.eu-west-1.amazonaws.com", "https://s3.eu-west-1.amazonaws.com"),
    ("bucket", "https://s3.example.com/bucket", "https://s3.example.com"),
    ("bucket", "https://s3.example.com/bucket/", "https://s3.example.com"),
    ("bucket", "https://s3.example.com/s3/bucket", "https://s3.example.com/s3"),
    ("bucket", "https://s3.example.com/bucket/dir", "https://s3.example.com"),
    ("bucket", "http://127.0.0.1:9000/bucket", "http://127.0.0.1:9000"),
  ]

  @Test("a bucket that is also in the URL is refused, with the correct URL", arguments: doubled)
  func doubledBucket(bucket: String, url: String, way: String) throws {
    for addressing in [Addressing.auto, .virtual] {
      let failure = #expect(throws: Failure.self) {
        try EndpointResolver.resolve(bucket: bucket, endpointURL: url, addressing: addressing)
      }
      #expect(failure?.code == .configuration)
      #expect(
        failure?.remedy?.pieces.contains(.setting(.endpoint, .value(way))) == true, "\(String(describing: failure))")
    }
    // Both URLs in the remedy work.
    #expect(throws: Never.self) { try EndpointResolver.resolve(bucket: bucket, endpointURL: way) }
    #expect(throws: Never.self) { try EndpointResolver.resolve(bucket: bucket, endpointURL: url, addressing: .path) }
  }

  @Test(
    "a URL that only resembles the bucket is accepted",
    arguments: [
      ("bucket", "https://bucket.vpce-1a2b-3c4d.s3.us-east-1.vpce.amazonaws.com"),
      ("buck", "https://bucket.example.com"),
      ("example", "https://s3.example.com"), ("bucket", "https://s3.example.com/buckets"),
      ("127", "http://127.0.0.1:9000"),
      ("bucket", "http://bucket:9000"), ("bucket", "https://s3.dualstack.eu-west-1.amazonaws.com"),
    ])
  func notDoubled(bucket: String, url: String) {
    #expect(throws: Never.self) { try EndpointResolver.resolve(bucket: bucket, endpointURL: url) }
  }

  @Test(
    "a name that would change the destination is refused",
    arguments: [
      ("", nil, Addressing.auto), ("a/b", nil, .auto), (".", "http://h", .auto), ("..", "http://h", .auto),
      ("a/b", "http://h", .auto), ("a b", "http://h", .auto), ("a\u{7f}", "http://h", .auto),
      (String(repeating: "a", count: 256), "http://h", .auto),
      ("outpost--op-s3", nil, .auto), ("tenant:bucket", nil, .auto), ("bücket", nil, .auto), ("a%2Fb", nil, .auto),
      ("Bucket", nil, .virtual), ("a_b", "http://h", .virtual), ("a..b", "http://h", .virtual),
      ("bucket", "http://127.0.0.1:9000", .virtual), ("bucket", "http://[::1]", .virtual),
    ] as [(String, String?, Addressing)])
  func badNames(bucket: String, url: String?, addressing: Addressing) {
    let failure = #expect(throws: Failure.self) {
      try EndpointResolver.resolve(bucket: bucket, endpointURL: url, addressing: addressing)
    }
    #expect(failure?.code == .usage)
  }
}
