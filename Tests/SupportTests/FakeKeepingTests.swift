import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// What the fake returns of the values that it received, and the options that make it another kind of store.
@Suite(.timeLimit(.minutes(15))) struct FakeKeepingTests {
  @Test("what Create was given is what HEAD shows and what the test can look up")
  func headers() async throws {
    let (fake, client) = try openStore {
      $0.versioning = true
      $0.abortDate = "Fri, 01 Jan 2027 00:00:00 GMT"
    }
    let told = [
      "Content-Type: image/x-test", "Cache-Control: no-store", "Content-Disposition: attachment",
      "Content-Encoding: zstd", "Content-Language: de", "Expires: Fri, 01 Jan 2027 00:00:00 GMT",
      "x-amz-storage-class: STANDARD_IA", "x-amz-server-side-encryption: aws:kms",
      "x-amz-server-side-encryption-aws-kms-key-id: k1", "x-amz-website-redirect-location: /there",
      "x-amz-object-lock-mode: GOVERNANCE", "x-amz-object-lock-retain-until-date: 2027-01-01T00:00:00Z",
      "x-amz-object-lock-legal-hold: ON", "x-amz-meta-a: 1",
    ]
    let created = try await client.call(
      "POST", "/bucket/key?uploads=", headers: told + ["x-amz-tagging: a=1&b=2", "x-amz-acl: private"])
    #expect(created.headers["x-amz-abort-date"] == "Fri, 01 Jan 2027 00:00:00 GMT")
    let id = try #require(created.between("<UploadId>", "</UploadId>"))
    #expect(try await client.part(1, of: id, [1]).code == "InvalidRequest")
    let part = try await client.part(1, of: id, [1], headers: ["Content-MD5: \(base64(FakeHash.md5.of([1])))"])
    let done = try await client.complete(id, [(1, part.headers["etag"] ?? "")])
    let head = try await client.call("HEAD", "/bucket/key")
    for header in told {
      let (name, value) = (header.prefix { $0 != ":" }, header.drop { $0 != ":" }.dropFirst(2))
      #expect(head.headers[String(name)] == String(value), "\(name)")
    }
    #expect(head.headers["x-amz-tagging-count"] == "2")
    #expect(head.headers["x-amz-version-id"] == done.headers["x-amz-version-id"])
    #expect(head.headers["x-amz-version-id"] != nil)
    #expect(fake.object("key")?.headers["x-amz-acl"] == "private")
    #expect(fake.object("key")?.headers["x-amz-tagging"] == "a=1&b=2")
  }

  @Test("a second complete or abort is an error, or answered again, as chosen")
  func repeated() async throws {
    let (fake, client) = try openStore {
      $0.repeatedComplete = .success
      $0.repeatedAbort = .success
    }
    let id = try await client.create()
    let etag = try await client.part(1, of: id, [1]).headers["etag"] ?? ""
    let first = try await client.complete(id, [(1, etag)])
    #expect(try await client.complete(id, [(1, etag)]).text == first.text)
    #expect(try await client.call("DELETE", "/bucket/key?uploadId=\(id)").status == 204)
    fake.options.repeatedComplete = .noSuchUpload
    #expect(try await client.complete(id, [(1, etag)]).code == "NoSuchUpload")
  }

  @Test("requests about the bucket are answered")
  func buckets() async throws {
    let (fake, client) = try openStore { $0.region = "eu-west-1" }
    #expect(try await client.call("GET", "/bucket?location=").between("/\">", "<") == "eu-west-1")
    #expect(try await client.call("HEAD", "/bucket").headers["x-amz-bucket-region"] == "eu-west-1")
    #expect(try await client.call("GET", "/bucket?lifecycle=").code == "NoSuchLifecycleConfiguration")
    fake.options.lifecycle = "<LifecycleConfiguration/>"
    #expect(try await client.call("GET", "/bucket?lifecycle=").text == "<LifecycleConfiguration/>")
    fake.putObject("a/1", bytes: [1])
    fake.putObject("a/2", bytes: [2])
    fake.putObject("b", bytes: [3])
    let page = try await client.call("GET", "/bucket?list-type=2&max-keys=1&prefix=a/")
    let token = page.between("<NextContinuationToken>", "<") ?? ""
    let next = try await client.call(
      "GET", "/bucket?continuation-token=\(FakeURL.encode(token.utf8))&list-type=2&max-keys=1&prefix=a/")
    #expect(page.between("<Key>", "<") == "a/1")
    #expect(next.between("<Key>", "<") == "a/2")
    #expect(next.between("<IsTruncated>", "<") == "false")
    #expect(try await client.call("DELETE", "/bucket/b").status == 204)
    #expect(fake.objectCount == 2)
  }

  @Test("keys that Swift's strings consider equal are two objects")
  func unicode() async throws {
    let (fake, client) = try openStore()
    #expect(try await client.call("PUT", "/bucket/%C3%A9", body: [1]).status == 200)
    #expect(try await client.call("PUT", "/bucket/e%CC%81", body: [2]).status == 200)
    #expect(fake.object("\u{E9}")?.bytes == [1])
    #expect(fake.object("e\u{301}")?.bytes == [2])
  }

  @Test("the store can lose uploads and parts")
  func lost() async throws {
    let (fake, client) = try openStore()
    let id = try await client.create()
    let etag = try await client.part(1, of: id, [1]).headers["etag"] ?? ""
    fake.dropPart(1, of: id)
    #expect(try await client.complete(id, [(1, etag)]).code == "InvalidPart")
    fake.dropUpload(id)
    #expect(try await client.part(1, of: id, [1]).code == "NoSuchUpload")
  }

  @Test("a part list can be paged in several broken ways")
  func brokenPages() async throws {
    let (fake, client) = try openStore { $0.listParts = .inclusiveMarker }
    let id = try await client.create()
    for number in 1...3 { _ = try await client.part(number, of: id, [1]) }
    let page = { (marker: Int) in
      try await client.call("GET", "/bucket/key?max-parts=2&part-number-marker=\(marker)&uploadId=\(id)")
    }
    #expect(try await page(2).between("<PartNumber>", "<") == "2")
    fake.options.listParts = .noMarker
    let blind = try await page(0)
    #expect(blind.between("<IsTruncated>", "<") == "true")
    #expect(!blind.text.contains("NextPartNumberMarker"))
    fake.options.listParts = .endless
    #expect(try await page(2).between("<NextPartNumberMarker>", "<") == "2")
    #expect(try await page(2).between("<IsTruncated>", "<") == "true")
  }
}
