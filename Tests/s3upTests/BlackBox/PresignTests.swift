import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct PresignTests {
  private func presign(_ box: BlackBox, _ words: String...) async throws -> String {
    let result = try await box.run(["presign"] + words)
    result.expectSuccess()
    #expect(result.lines.count == 1)
    return try #require(result.lines.first)
  }

  /// The status that curl gets.
  private func status(_ box: BlackBox, _ words: [String]) async throws -> Int {
    let result = try await curl(
      ["-o", box.files.path("answer"), "-w", "%{http_code}", "--cacert", box.fake.caFile] + words)
    return Int(result.output) ?? 0
  }

  @Test("GET, HEAD, PUT and DELETE URLs work with curl and nothing else", arguments: [false, true])
  func methods(secure: Bool) async throws {
    let box = try BlackBox(secure: secure)
    let bytes = try box.sample("f", 1000)
    let key = "s3://bucket/a b+%/é?#&=*~"
    let put = try await presign(box, key, "--method", "PUT")
    #expect(try await status(box, ["-T", box.files.path("f"), put]) == 200)
    #expect(box.fake.object("a b+%/é?#&=*~")?.holds(bytes) == true)
    let get = try await presign(box, key)
    #expect(try await status(box, [get]) == 200)
    #expect(try box.files.read("answer") == bytes)
    #expect(try await status(box, ["-I", try await presign(box, key, "--method", "HEAD")]) == 200)
    // Each URL is valid only for its own method.
    #expect(try await status(box, ["-T", box.files.path("f"), get]) == 403)
    #expect(try await status(box, ["-X", "DELETE", get]) == 403)
    #expect(try await status(box, ["-X", "DELETE", try await presign(box, key, "--method", "DELETE")]) == 204)
    #expect(box.fake.objectCount == 0)
    #expect(box.fake.requests.allSatisfy { $0.presigned })
  }

  @Test("a signed content type and MD5 must be sent as signed")
  func signedHeaders() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 1000)
    let md5 = base64(FakeHash.md5.of(bytes))
    let url = try await presign(
      box, "s3://bucket/k", "--method", "PUT", "--content-type", "text/x-test", "--content-md5", md5)
    let file = ["-T", box.files.path("f"), url]
    #expect(try await status(box, ["-H", "Content-Type: text/other", "-H", "Content-MD5: \(md5)"] + file) == 403)
    #expect(try await status(box, ["-H", "Content-Type: text/x-test"] + file) == 403)
    #expect(box.fake.object("k") == nil)
    #expect(try await status(box, ["-H", "Content-Type: text/x-test", "-H", "Content-MD5: \(md5)"] + file) == 200)
    #expect(box.fake.object("k")?.headers["content-type"] == "text/x-test")
    try box.sample("f", 1000, seed: 7)
    #expect(try await status(box, ["-H", "Content-Type: text/x-test", "-H", "Content-MD5: \(md5)"] + file) == 400)
  }

  @Test("an expired or tampered URL is refused by the store")
  func refused() async throws {
    let box = try BlackBox()
    box.fake.putObject("k", bytes: [1])
    box.fake.putObject("other", bytes: [2])
    let url = try await presign(box, "s3://bucket/k", "--expires", "1h")
    #expect(try await status(box, [url]) == 200)
    #expect(try await status(box, [url.replacingOccurrences(of: "/bucket/k?", with: "/bucket/other?")]) == 403)
    #expect(
      try await status(box, [url.replacingOccurrences(of: "X-Amz-Expires=3600", with: "X-Amz-Expires=36000")]) == 403)
    #expect(try await status(box, [url + "&response-content-type=text/html"]) == 403)
    box.fake.setClockOffset(2400)
    #expect(try await status(box, [url]) == 200)
    box.fake.setClockOffset(4800)
    #expect(try await status(box, [url]) == 403)
  }

  @Test("seven days are signed, more is 64 without a request")
  func expiry() async throws {
    let box = try BlackBox()
    box.fake.putObject("k", bytes: [1])
    let url = try await presign(box, "s3://bucket/k", "--expires", "7d")
    #expect(url.contains("X-Amz-Expires=604800"))
    box.fake.setClockOffset(7 * 86_400 - 100)
    #expect(try await status(box, [url]) == 200)
    for expires in ["8d", "169h", "0s", "-1s", "soon"] {
      try await box.run("presign", "s3://bucket/k", "--expires=\(expires)").expectFailure(64, expires)
    }
  }

  @Test("who pays is in the URL, so that its user need not send a header")
  func payer() async throws {
    let box = try BlackBox { $0.requesterPays = true }
    box.fake.putObject("k", bytes: [1])
    #expect(try await status(box, [try await presign(box, "s3://bucket/k", "--request-payer")]) == 200)
    #expect(try await status(box, [try await presign(box, "s3://bucket/k")]) == 403)
  }

  @Test("a URL that ends with its credentials says so, and one that nobody can use is not printed")
  func endOfCredentials() async throws {
    var box = try BlackBox()
    box.environment["AWS_CREDENTIAL_EXPIRATION"] = Timestamp(seconds: Int64(Date().timeIntervalSince1970) + 300).iso8601
    let early = try await box.run("presign", "s3://bucket/k", "--expires", "1h")
    #expect(early.status == 0 && early.errors.contains("expires with the credentials that sign it"), "\(early.errors)")
    box.environment["AWS_CREDENTIAL_EXPIRATION"] = "2020-01-01T00:00:00Z"
    let late = try await box.run("presign", "s3://bucket/k")
    late.expectFailure(77, "expired at 2020-01-01T00:00:00Z")
    #expect(late.output.isEmpty)
  }

  @Test("a session token is in the URL, because the store needs it")
  func token() async throws {
    var box = try BlackBox()
    box.fake.setCredentials([FakeCredential(keyID: "A", secret: "s", sessionToken: "to/ken+=")])
    box.fake.putObject("k", bytes: [1])
    box.environment["AWS_ACCESS_KEY_ID"] = "A"
    box.environment["AWS_SECRET_ACCESS_KEY"] = "s"
    box.environment["AWS_SESSION_TOKEN"] = "to/ken+="
    #expect(try await status(box, [try await presign(box, "s3://bucket/k")]) == 200)
  }

  @Test("the response overrides of a GET are in its answer")
  func overrides() async throws {
    let box = try BlackBox()
    box.fake.putObject("k", bytes: [1])
    let url = try await presign(
      box, "s3://bucket/k", "--response-content-type", "text/x-over", "--response-content-disposition",
      "attachment; filename=\"a b.txt\"", "--response-cache-control", "no-store", "--response-content-language", "de",
      "--response-content-encoding", "identity", "--response-expires", "2031-01-31T00:00:00Z")
    let result = try await curl(["-o", "/dev/null", "-D", "-", url])
    for line in [
      "content-type: text/x-over", "content-disposition: attachment; filename=\"a b.txt\"", "cache-control: no-store",
      "content-language: de", "content-encoding: identity", "expires: fri, 31 jan 2031 00:00:00 gmt",
    ] { #expect(result.output.lowercased().contains(line), "\(result.output)") }
  }

  @Test("--json prints the URL, its method, headers and expiry")
  func json() async throws {
    let box = try BlackBox()
    let result = try await box.run(
      "presign", "s3://bucket/k", "--method", "PUT", "--content-type", "text/x-test", "--expires", "1h", "--json")
    result.expectSuccess()
    let said = result.json
    #expect((said["url"] as? String)?.hasPrefix("\(box.fake.endpoint)/bucket/k?") == true)
    #expect(said["method"] as? String == "PUT")
    let headers = said["headers"] as? [String: String] ?? [:]
    #expect(headers.contains { $0.key.lowercased() == "content-type" && $0.value == "text/x-test" })
    #expect((said["expires"] as? String)?.hasSuffix("Z") == true)
    #expect(box.fake.requests.isEmpty)
  }

  @Test("presigned part URLs: create, curl each part, complete")
  func parts() async throws {
    let box = try BlackBox(secure: true)
    let bytes = try box.sample("f", 11 * mebi)
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    let urls = try await box.run("presign", "s3://bucket/k", "--upload-id", id, "--part", "1-3", "--expires", "1h")
    urls.expectSuccess()
    #expect(urls.lines.count == 3)
    for (index, url) in urls.lines.enumerated().reversed() {
      let piece = bytes[index * 5 * mebi..<min(bytes.count, (index + 1) * 5 * mebi)]
      try box.files.write(piece, to: "piece")
      #expect(try await status(box, ["-T", box.files.path("piece"), url]) == 200)
    }
    let complete = try await box.run("complete", "s3://bucket/k", "--upload-id", id)
    complete.expectSuccess()
    #expect(complete.output.hasPrefix("completed s3://bucket/k (11 MiB in 3 parts; "))
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.object("k")?.parts.count == 3)
  }

  @Test("part --url refuses what is no presigned URL as get does, and shows nothing of it")
  func nonsense() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    for url in ["http://us:s3cret@127.0.0.1:1/b/k?s3cret", "http://127.0.0.1:1/b/ä?s3cret", "ftp://h/s3cret", "s3cret"]
    {
      let result = try await box.run("part", "f", "--url", url)
      #expect(result.status == 64 && !result.errors.contains("s3cret"), "\(result.errors)")
    }
  }

  @Test("part --url refuses the URL of a whole object, which the slice would replace", arguments: [[], ["uploadId"]])
  func notOfAPart(_ names: [String]) async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    box.fake.putObject("k", bytes: [1, 2, 3])
    var url = try #require(try await box.run("presign", "s3://bucket/k", "--method", "PUT").lines.first)
    for name in names { url += "&\(name)=x" }
    try await box.run("part", "f", "--url", url).expectFailure(64, "not that of a part")
    #expect(box.fake.object("k")?.bytes == [1, 2, 3] && box.fake.requests.isEmpty)
  }

  @Test("part --url sends a slice to a presigned URL without any credentials")
  func partURL() async throws {
    var box = try BlackBox(secure: true)
    let bytes = try box.sample("f", 6 * mebi)
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    let urls = try await box.run("presign", "s3://bucket/k", "--upload-id", id, "--part", "1-2").lines
    let keys = box.environment
    box.environment = ["AWS_CA_BUNDLE": box.fake.caFile]
    let first = try await box.run("part", "f", "--url", urls[0], "--length", "5M")
    first.expectSuccess()
    #expect(first.lines == ["\"\(hex(FakeHash.md5.of(bytes[..<(5 * mebi)])))\""])
    try await box.run("part", "f", "--url", urls[1], "--offset", "5M").expectSuccess()
    box.environment = keys
    try await box.run("complete", "s3://bucket/k", "--upload-id", id).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a URL that is not signed for a header of the option that was given is refused for that, and says so")
  func partUnsigned() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    let url = try #require(
      try await box.run("presign", "s3://bucket/k", "--upload-id", id, "--part", "1").lines.first)
    try await box.run("part", "f", "--url", url, "--checksum", "crc64nvme")
      .expectFailure(77, "not signed for x-amz-checksum-crc64nvme", "Leave out the option that sends this header")
    try await box.run("part", "f", "--url", url).expectSuccess()
  }

  @Test("one MD5 for several parts is refused; a file has one for each, and each URL accepts only its own bytes")
  func partMD5s() async throws {
    let box = try BlackBox { $0.minimumPartSize = 1 }
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    let bytes = (1...3).map { randomBytes(100, seed: UInt64($0)) }
    let sums = bytes.map { base64(FakeHash.md5.of($0)) }
    let presign = ["presign", "s3://bucket/k", "--upload-id", id, "--part"]
    try await box.run(presign + ["1-3", "--content-md5", sums[0]]).expectFailure(64, "3 parts", "--content-md5-file")
    try await box.run(presign + ["2", "--content-md5", sums[1]]).expectSuccess()
    let list = "3 \(sums[2])\n\n# the first in hexadecimal\n1\t\(hex(FakeHash.md5.of(bytes[0])))\n2 \(sums[1])\n"
    try box.files.write(list, to: "list")
    for input in [false, true] {
      let urls = try await box.run(
        presign + ["1-3", "--content-md5-file", input ? "-" : "list"], input: input ? .bytes(Array(list.utf8)) : .none)
      urls.expectSuccess()
      #expect(urls.lines.count == 3)
      for (index, url) in urls.lines.enumerated() {
        try box.files.write(bytes[index], to: "piece")
        let send = ["-T", box.files.path("piece"), url, "-H"]
        #expect(try await status(box, send + ["Content-MD5: \(sums[(index + 1) % 3])"]) == 403)
        #expect(try await status(box, send + ["Content-MD5: \(sums[index])"]) == 200)
      }
    }
    // A client that signs the header also sends it.
    let url = try #require(try await box.run(presign + ["1-3", "--content-md5-file", "list"]).lines.first)
    try box.files.write(bytes[0], to: "piece")
    try await box.run("part", "piece", "--url", url).expectSuccess()
    try await box.run("complete", "s3://bucket/k", "--upload-id", id).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes.flatMap(\.self)) == true)
  }

  @Test(
    "with a list of MD5s that lacks a part, names another, or has an invalid MD5 nothing is signed",
    arguments: [
      ("1 A\n2 A\n", "part 3"), ("1 A\n2 A\n3 A\n4 A\n", "part 4"), ("1 A\n1 A\n2 A\n3 A\n", "part 1 is twice"),
      ("1 A\n2\n3 A\n", "line 2"), ("1 A\n2 abc\n3 A\n", "line 2"), ("", "parts 1-3"), ("1 A\n2 A A\n3 A\n", "line 2"),
    ])
  func wrongMD5List(_ text: String, _ words: String) async throws {
    let box = try BlackBox()
    try box.files.write(text.replacingOccurrences(of: "A", with: "1B2M2Y8AsgTpgAmY7PhCfg=="), to: "list")
    try await box.run(
      "presign", "s3://bucket/k", "--upload-id", "i", "--part", "1-3", "--content-md5-file", "list"
    ).expectFailure(64, words)
    #expect(box.fake.requests.isEmpty)
  }

  @Test(
    "a list of MD5s is for parts, and replaces the single MD5",
    arguments: [
      ["--method=PUT", "--content-md5-file=list"],
      ["--upload-id=i", "--part=1", "--content-md5=1B2M2Y8AsgTpgAmY7PhCfg==", "--content-md5-file=list"],
    ])
  func misplacedMD5List(_ options: [String]) async throws {
    let box = try BlackBox()
    try box.files.write("1 1B2M2Y8AsgTpgAmY7PhCfg==\n", to: "list")
    try await box.run(["presign", "s3://bucket/k"] + options).expectFailure(64, "--content-md5-file")
  }
}
