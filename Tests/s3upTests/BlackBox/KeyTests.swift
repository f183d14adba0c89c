import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct KeyTests {
  /// Every printable character of ASCII.
  static let ascii = String(String.UnicodeScalarView((0x20...0x7E).compactMap { Unicode.Scalar($0) }))

  static let keys = [
    "plain", "with spaces  two", " lead and trail ", "a+b", "100%", "%41%2F", "\"quoted\" 'single'", "a//b", "/leading",
    "//", "a/../b", "../up", "..", ".", "a/./b", "a/", "a/b/?x=y", "a#b", "a&b=c", "a*b~c", "back\\slash",
    "semi;colon:",
    "(round)[square]{curly}<angle>", "é composed", "e\u{301} decomposed", "日本語/キー", "😀👩‍👩‍👧", "\u{202e}turned",
    "tab\there", ascii, String(repeating: "k", count: 1024),
    String(repeating: "é", count: 511) + "/x",
    (0..<11).map { _ in String(repeating: "d", count: 92) }.joined(separator: "/"),
  ]

  @Test("a key is sent byte for byte, with both kinds of addressing", arguments: keys)
  func roundTrip(_ key: String) async throws {
    var box = try BlackBox { $0.hostSuffix = "localhost" }
    let size = 6 * mebi
    let bytes = try box.sample("single", 100)
    let parts = try box.sample("parts", size)
    box.environment["AWS_ENDPOINT_URL_S3"] = "http://localhost:\(box.fake.port)"
    for addressing in ["path", "virtual"] {
      for (name, content) in [("single", bytes), ("parts", parts)] {
        // A key that ends in a slash would get the file's name, so the test appends a name.
        let target = key.hasSuffix("/") ? "s3://bucket/\(key)end" : "s3://bucket/\(key)"
        let stored = key.hasSuffix("/") ? key + "end" : key
        let result = try await box.run(
          "put", name, target, "--addressing", addressing, "--part-size", "5M", "--json")
        result.expectSuccess()
        #expect(Array((result.json["key"] as? String ?? "").utf8) == Array(stored.utf8))
        #expect(box.fake.object(stored)?.holds(content) == true, "\(addressing) \(name)")
        #expect(box.fake.objectCount == 1)
        let host = box.fake.requests.last?.headers["host"] ?? ""
        #expect(host == (addressing == "virtual" ? "bucket." : "") + "localhost:\(box.fake.port)")
        box.fake.removeObject(stored)
      }
    }
  }

  @Test("composed and decomposed accents are two objects")
  func twoSpellings() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    for key in ["é", "e\u{301}"] { try await box.run("put", "f", "s3://bucket/\(key)").expectSuccess() }
    #expect(box.fake.objectCount == 2)
  }

  @Test("a file's name becomes the key byte for byte below a prefix")
  func fileNames() async throws {
    let box = try BlackBox()
    let names = ["sp ace+%.bin", "e\u{301}.txt", "-dash", "q?#&.x"]
    for name in names {
      try box.sample(name, 10)
      try await box.run("put", "./\(name)", "s3://bucket/p/").expectSuccess()
      #expect(box.fake.object("p/\(name)") != nil, "\(name)")
    }
    #expect(box.fake.objectCount == names.count)
  }

  @Test("a tenant's bucket is one, on the command line and in a batch")
  func tenant() async throws {
    let box = try BlackBox { $0.buckets = ["tenant:bucket"] }
    try box.sample("f", 10)
    try await box.run("put", "f", "s3://tenant:bucket/k").expectSuccess()
    try box.files.write(#"{"localUri":"f","bucket":"tenant:bucket","key":"l"}"#, to: "batch")
    try await box.run("put", "--batch", "batch").expectSuccess()
    for key in ["k", "l"] { #expect(box.fake.object(key, bucket: "tenant:bucket") != nil) }
    try box.files.write(#"{"localUri":"f","bucket":"tenant:bucket","key":"z\u0000"}"#, to: "batch")
    try await box.run("put", "--batch", "batch").expectFailure(64, "line 1", "zero byte")
  }

  @Test("a key that is too long is refused before a request; a name that is not UTF-8 is escaped, or refused")
  func refused() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    let long = String(repeating: "k", count: 1025)
    try await box.run("put", "f", "s3://bucket/\(long)").expectFailure(64, "1025", "1,024")
    let odd = "\"$(printf 'a\\377b')\""
    let result = try await box.shell("cp f \(odd) && \"$S3UP\" put \(odd) s3://bucket/ --non-utf8 refuse")
    result.expectFailure(64, "the file's name is not UTF-8")
    #expect(box.fake.requests.isEmpty)
    try await box.shell("\"$S3UP\" put \(odd) s3://bucket/").expectSuccess()
    #expect(box.fake.object("a%FFb")?.size == 10)
    // With an explicit key a file with such a name is sent like any other.
    try await box.shell("\"$S3UP\" put \"$(printf 'a\\377b')\" s3://bucket/k").expectSuccess()
    #expect(box.fake.object("k")?.size == 10)
  }
}
