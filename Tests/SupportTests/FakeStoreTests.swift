import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.timeLimit(.minutes(15))) struct FakeStoreTests {
  @Test("a signed multipart upload by curl arrives whole, with its headers, checksum and log")
  func roundtrip() async throws {
    let fake = try FakeS3()
    let client = CurlClient(fake: fake)
    let first = randomBytes(5 << 20, seed: 1)
    let second = randomBytes(1001, seed: 2)
    let id = try await client.create("a%20b/%C3%A9", headers: ["x-amz-meta-color: red", "Content-Type: text/x-test"])
    #expect(fake.unfinishedUploads.map(\.id) == [id])
    var etags: [(number: Int, etag: String)] = []
    for (number, bytes) in [(1, first), (2, second)] {
      let answer = try await client.call(
        "PUT", "/bucket/a%20b/%C3%A9?partNumber=\(number)&uploadId=\(id)", body: bytes,
        payload: hex(FakeHash.sha256.of(bytes)))
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer.headers["etag"] == "\"\(hex(FakeHash.md5.of(bytes)))\"")
      etags.append((number, answer.headers["etag"] ?? ""))
    }
    let done = try await client.complete(id, etags, key: "a%20b/%C3%A9")
    #expect(done.status == 200, "\(done.text)")
    let object = try #require(fake.object("a b/é"))
    #expect(object.bytes == first + second)
    #expect(object.metadata == ["color": "red"])
    #expect(object.etag.hasSuffix("-2"))
    #expect(object.checksum?.value == base64(FakeChecksum.crc64nvme.of(first + second)))
    #expect(fake.unfinishedUploads.isEmpty)
    let head = try await client.call("HEAD", "/bucket/a%20b/%C3%A9", headers: ["x-amz-checksum-mode: ENABLED"])
    #expect(head.headers["content-length"] == String(object.size))
    #expect(head.headers["content-type"] == "text/x-test")
    #expect(head.headers["x-amz-meta-color"] == "red")
    #expect(head.headers["x-amz-checksum-crc64nvme"] == object.checksum?.value)
    #expect(head.headers["x-amz-checksum-type"] == "FULL_OBJECT")
    let range = try await client.call("GET", "/bucket/a%20b/%C3%A9", headers: ["Range: bytes=5242878-5242881"])
    #expect(range.status == 206)
    #expect(range.body == Array(first.suffix(2) + second.prefix(2)))
    #expect(range.headers["content-range"] == "bytes 5242878-5242881/5243881")
    let parts = fake.requests(.uploadPart)
    #expect(parts.map(\.partNumber) == [1, 2])
    #expect(parts.map(\.bodyLength) == [first.count, second.count])
    #expect(parts.allSatisfy { $0.status == 200 && $0.uploadID == id && $0.rawPath == "/bucket/a%20b/%C3%A9" })
  }

  @Test("a body that is not what its digests say is refused")
  func digests() async throws {
    let fake = try FakeS3()
    let client = CurlClient(fake: fake)
    let wrong = String(repeating: "0", count: 64)
    #expect(try await client.call("PUT", "/bucket/k", body: [1], payload: wrong).code == "XAmzContentSHA256Mismatch")
    let md5 = base64(FakeHash.md5.of([2]))
    #expect(try await client.call("PUT", "/bucket/k", body: [1], headers: ["Content-MD5: \(md5)"]).code == "BadDigest")
    #expect(try await client.call("PUT", "/bucket/k", body: [1], headers: ["Content-MD5: x"]).code == "InvalidDigest")
    for algorithm in FakeChecksum.allCases {
      let right = base64(algorithm.of([1])), other = base64(algorithm.of([2]))
      let put = { (value: String) in
        try await client.call("PUT", "/bucket/k", body: [1], headers: ["\(algorithm.header): \(value)"])
      }
      #expect(try await put(other).code == "BadDigest")
      #expect(try await put("AAA=").code == "InvalidRequest")
      let good = try await put(right)
      #expect(good.headers[algorithm.header] == right)
    }
    #expect(fake.object("k")?.bytes == [1])
  }

  @Test("what is missing, too long or not allowed is refused with its own code")
  func codes() async throws {
    let (fake, client) = try openStore { $0.minimumPartSize = 5 }
    let long = String(repeating: "k", count: 1025)
    let id = try await client.create()
    let cases: [(String, String, Int, String)] = [
      ("GET", "/nowhere/key", 404, "NoSuchBucket"), ("GET", "/bucket/none", 404, "NoSuchKey"),
      ("GET", "/bucket/key?uploadId=none", 404, "NoSuchUpload"), ("PUT", "/bucket/\(long)", 400, "KeyTooLongError"),
      ("GET", "/bucket/other?uploadId=\(id)", 404, "NoSuchUpload"),
      ("PUT", "/bucket/key?partNumber=0&uploadId=\(id)", 400, "InvalidArgument"),
      ("PUT", "/bucket/key?partNumber=10001&uploadId=\(id)", 400, "InvalidArgument"),
      ("GET", "/bucket?policy=", 501, "NotImplemented"), ("GET", "/bucket/%zz", 400, "InvalidURI"),
      ("GET", "/bucket/%FF", 400, "InvalidURI"),
    ]
    for (method, target, status, code) in cases {
      let answer = try await client.call(method, target)
      #expect(answer.status == status, "\(target)")
      #expect(answer.code == code, "\(target)")
    }
    let one = try await client.part(1, of: id, [1, 2]).headers["etag"] ?? ""
    let two = try await client.part(2, of: id, [3, 4]).headers["etag"] ?? ""
    #expect(try await client.complete(id, [(1, one), (2, two)]).code == "EntityTooSmall")
    #expect(try await client.complete(id, [(2, two), (1, one)]).code == "InvalidPartOrder")
    #expect(try await client.complete(id, [(1, two)]).code == "InvalidPart")
    #expect(try await client.complete(id, [(3, two)]).code == "InvalidPart")
    #expect(try await client.complete(id, []).code == "MalformedXML")
    #expect(try await client.complete(id, [(2, two)]).status == 200)
    #expect(try await client.complete(id, [(2, two)]).code == "NoSuchUpload")
    #expect(try await client.call("DELETE", "/bucket/key?uploadId=\(id)").code == "NoSuchUpload")
    #expect(fake.object("key")?.bytes == [3, 4])
  }

  @Test("another owner, or a bucket whose reader pays, is AccessDenied")
  func owner() async throws {
    let (fake, client) = try openStore()
    let list = { (headers: [String]) in try await client.call("GET", "/bucket?list-type=2", headers: headers).code }
    #expect(try await list(["x-amz-expected-bucket-owner: 123456789012"]) == nil)
    #expect(try await list(["x-amz-expected-bucket-owner: 210987654321"]) == "AccessDenied")
    fake.options.requesterPays = true
    #expect(try await list([]) == "AccessDenied")
    #expect(try await list(["x-amz-request-payer: requester"]) == nil)
  }

  @Test("a condition that does not hold is 412, at PutObject and at Complete")
  func conditions() async throws {
    let (fake, client) = try openStore()
    let put = { (header: String) in try await client.call("PUT", "/bucket/key", body: [1], headers: [header]) }
    #expect(try await put("If-Match: \"x\"").code == "NoSuchKey")
    #expect(try await put("If-None-Match: *").status == 200)
    #expect(try await put("If-None-Match: *").code == "PreconditionFailed")
    #expect(try await put("If-Match: \"x\"").status == 412)
    #expect(try await put("If-Match: \"\(fake.object("key")?.etag ?? "")\"").status == 200)
    let id = try await client.create()
    let etag = try await client.part(1, of: id, [2]).headers["etag"] ?? ""
    #expect(try await client.complete(id, [(1, etag)], headers: ["If-None-Match: *"]).code == "PreconditionFailed")
    #expect(fake.unfinishedUploads.count == 1)
    fake.options.conditionsAtComplete = false
    #expect(try await client.complete(id, [(1, etag)], headers: ["If-None-Match: *"]).status == 200)
  }

  @Test("lists come in pages whose markers lead to every entry once")
  func pages() async throws {
    let (_, client) = try openStore()
    let id = try await client.create()
    for number in [1, 2, 5, 7, 9] { _ = try await client.part(number, of: id, [UInt8(number)]) }
    var seen: [String] = []
    var marker = "0"
    for round in 1...3 {
      let page = try await client.call("GET", "/bucket/key?max-parts=2&part-number-marker=\(marker)&uploadId=\(id)")
      seen += page.text.components(separatedBy: "<PartNumber>").dropFirst().map { String($0.prefix { $0 != "<" }) }
      #expect(page.between("<IsTruncated>", "</IsTruncated>") == (round < 3 ? "true" : "false"))
      marker = page.between("<NextPartNumberMarker>", "</NextPartNumberMarker>") ?? ""
    }
    #expect(seen == ["1", "2", "5", "7", "9"])

    var ids = Set<String>()
    for key in ["a", "p/1", "p/1", "p/2"] { _ = try await client.create(key) }
    var keyMarker = ""
    var idMarker = ""
    for _ in 1...3 {
      let page = try await client.call(
        "GET", "/bucket?key-marker=\(keyMarker)&max-uploads=1&prefix=p/&upload-id-marker=\(idMarker)&uploads=")
      ids.insert(page.between("<UploadId>", "</UploadId>") ?? "")
      keyMarker = page.between("<NextKeyMarker>", "</NextKeyMarker>") ?? ""
      idMarker = page.between("<NextUploadIdMarker>", "</NextUploadIdMarker>") ?? ""
    }
    #expect(ids.count == 3)
    #expect(keyMarker.isEmpty)
  }

  @Test("a store's odd behaviour with ListParts, ETags and errors can be chosen")
  func lesser() async throws {
    let (fake, client) = try openStore {
      $0.listParts = .onePage
      $0.partETags = .odd
      $0.completeETag = .escaped
      $0.checksums = .ignored
    }
    let id = try await client.create(headers: ["x-amz-checksum-algorithm: CRC32"])
    let sent = try await client.part(1, of: id, [1], headers: ["x-amz-checksum-crc32: \(base64([0, 0, 0, 0]))"])
    #expect(sent.status == 200)
    #expect(sent.headers["x-amz-checksum-crc32"] == nil)
    #expect(sent.headers["etag"]?.hasPrefix("\"odd-etag") == true)
    _ = try await client.part(2, of: id, [1])
    let list = try await client.call("GET", "/bucket/key?max-parts=1&uploadId=\(id)")
    #expect(list.text.components(separatedBy: "<Part>").count == 3)
    #expect(!list.text.contains("IsTruncated"))
    let done = try await client.complete(id, [(1, sent.headers["etag"] ?? "")])
    #expect(done.text.contains("<ETag>&#34;"))
    fake.options.checksums = .notImplemented
    #expect(try await client.call("PUT", "/bucket/k", body: [1], headers: ["x-amz-checksum-crc32: x"]).status == 501)
    fake.options.checksums = .invalidArgument
    let named = try await client.call("PUT", "/bucket/k", body: [1], headers: ["x-amz-checksum-crc32: x"])
    #expect((named.status, named.code ?? "") == (400, "InvalidArgument"))
    #expect(named.text.contains("x-amz-checksum-crc32"))
    fake.options.errorBodies = .html
    #expect(try await client.call("GET", "/bucket/none").text.hasPrefix("<html>"))
    fake.options.errorBodies = .empty
    let empty = try await client.call("GET", "/bucket/none")
    #expect((empty.status, empty.body.count) == (404, 0))
  }

  @Test("an upload's checksum algorithm and type bind its parts and its completion")
  func multipartChecksums() async throws {
    let (fake, client) = try openStore()
    #expect(
      try await client.create(headers: ["x-amz-checksum-algorithm: SHA256", "x-amz-checksum-type: FULL_OBJECT"])
        .contains("InvalidRequest"))
    #expect(
      try await client.create(headers: ["x-amz-checksum-algorithm: CRC64NVME", "x-amz-checksum-type: COMPOSITE"])
        .contains("InvalidRequest"))
    #expect(try await client.create(headers: ["x-amz-checksum-type: COMPOSITE"]).contains("InvalidRequest"))
    let bodies = [randomBytes(1000, seed: 3), randomBytes(77, seed: 4)]
    for (algorithm, type) in [
      (FakeChecksum.sha256, FakeChecksumType.composite), (.crc32c, .composite), (.crc32, .fullObject),
      (.crc64nvme, .fullObject),
    ] {
      let id = try await client.create(
        headers: ["x-amz-checksum-algorithm: \(algorithm.name)", "x-amz-checksum-type: \(type.rawValue)"])
      #expect(try await client.part(1, of: id, [1]).text.contains("actual checksum Type: null"))
      var etags: [(number: Int, etag: String)] = []
      var inner: [Int: String] = [:]
      for (at, body) in bodies.enumerated() {
        let value = base64(algorithm.of(body))
        let answer = try await client.part(at + 1, of: id, body, headers: ["\(algorithm.header): \(value)"])
        #expect(answer.headers[algorithm.header] == value)
        etags.append((at + 1, answer.headers["etag"] ?? ""))
        inner[at + 1] = "<\(algorithm.element)>\(value)</\(algorithm.element)>"
      }
      if type == .composite { #expect(try await client.complete(id, etags).code == "InvalidRequest") }
      let crossed = [1: inner[2] ?? "", 2: inner[1] ?? ""]
      #expect(try await client.complete(id, etags, inner: crossed).code == "InvalidPart")
      let whole =
        type == .composite
        ? base64(algorithm.of(bodies.flatMap { algorithm.of($0) })) + "-2" : base64(algorithm.of(bodies.flatMap { $0 }))
      let zero = base64([UInt8](repeating: 0, count: algorithm.length))
      for (bad, code) in [
        ("x-amz-mp-object-size: 1076", "InvalidRequest"), ("\(algorithm.header): \(zero)", "BadDigest"),
        ("x-amz-checksum-type: \(type == .composite ? "FULL_OBJECT" : "COMPOSITE")", "BadDigest"),
      ] {
        #expect(try await client.complete(id, etags, headers: [bad], inner: inner).code == code)
      }
      let done = try await client.complete(
        id, etags,
        headers: [
          "x-amz-mp-object-size: 1077", "\(algorithm.header): \(whole)", "x-amz-checksum-type: \(type.rawValue)",
        ],
        inner: inner)
      #expect(done.between("<\(algorithm.element)>", "<") == whole)
      #expect(done.between("<ChecksumType>", "<") == type.rawValue)
      #expect(fake.object("key")?.checksum == FakeStoredChecksum(algorithm: algorithm, type: type, value: whole))
    }
  }

  @Test("a customer's key is required again for every part and every look")
  func customerKeys() async throws {
    let (_, client) = try openStore()
    let headers = { (key: [UInt8]) in
      let prefix = "x-amz-server-side-encryption-customer-"
      return [
        "\(prefix)algorithm: AES256", "\(prefix)key: \(base64(key))",
        "\(prefix)key-MD5: \(base64(FakeHash.md5.of(key)))",
      ]
    }
    let own = headers(randomBytes(32, seed: 1)), other = headers(randomBytes(32, seed: 2))
    let id = try await client.create(headers: own)
    #expect(try await client.part(1, of: id, [1]).code == "InvalidRequest")
    #expect(try await client.part(1, of: id, [1], headers: other).code == "InvalidRequest")
    let part = try await client.part(1, of: id, [1], headers: own)
    #expect(part.headers["etag"] != "\"\(hex(FakeHash.md5.of([1])))\"")
    #expect(try await client.complete(id, [(1, part.headers["etag"] ?? "")]).status == 200)
    #expect(try await client.call("HEAD", "/bucket/key").status == 400)
    #expect(try await client.call("GET", "/bucket/key", headers: other).code == "AccessDenied")
    #expect(try await client.call("GET", "/bucket/key", headers: own).body == [1])
    #expect(try await client.create(headers: Array(own.dropLast()) + [other[2]]).contains("InvalidArgument"))
  }

  @Test("a store that keeps no bodies still knows size, ETag and checksum")
  func discard() async throws {
    let (fake, client) = try openStore { $0.storage = .discard }
    let folder = try TemporaryDirectory()
    let file = try folder.sparseFile("zeros", size: 200 << 20, patches: [(100 << 20, [1, 2, 3])])
    let id = try await client.create()
    let put = try await curl(["-T", file, "\(fake.endpoint)/bucket/key?partNumber=1&uploadId=\(id)"])
    #expect(put.status == 0)
    let part = try #require(fake.unfinishedUploads.first?.parts[1])
    #expect(part.size == 200 << 20)
    #expect(part.bytes == nil)
    #expect(try await client.complete(id, [(1, part.etag)]).status == 200)
    let crc = FakeCRC.crc64nvme
    var register = crc.advance(crc.ones, zeros: 100 << 20)
    [UInt8]([1, 2, 3]).withUnsafeBytes { register = crc.update(register, $0) }
    register = crc.advance(register, zeros: (100 << 20) - 3)
    #expect(fake.object("key")?.checksum?.value == base64(crc.bytes(register ^ crc.ones)))
  }
}
