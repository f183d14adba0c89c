import Support
import Testing

@testable import MultipartCore

/// Answers of a store that look like proof, or like its opposite, and are neither.
@Suite(.timeLimit(.minutes(15))) struct DoubtfulAnswerTests {
  private let directory: TemporaryDirectory
  private let world = World(
    now: { Timestamp(seconds: 1_700_000_000) }, uptime: { .zero }, sleep: { _ in }, random: { 0.5 }, environment: [:])

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// A client that answers each method as prepared by the test, whatever the request is.
  private func client(_ answers: [HTTPMethod: Response]) throws -> S3Client {
    try ScriptedStore { (request, _) throws(Failure) in
      guard let answer = answers[request.method] else { throw Failure(.network, "nothing is prepared") }
      return answer
    }.client(world)
  }

  private func part(_ answer: Response) async throws -> PartReceipt {
    let file = try SourceFile(FilePath(try directory.write([1, 2, 3], to: "file")))
    var job = UploadJob(file: file, to: ObjectAddress("bucket", "key"))
    job.retry = RetryPolicy(tries: 1)
    let slice = PartSlice(file: file, offset: 0, length: 3)
    let step = try PartStep(job: job, slice: slice, client: try client([.put: answer]), world: world)
    return try await step.run(1, uploadID: "id")
  }

  @Test("The ETag of a part that the bucket's default encrypts with KMS does not count as a wrong MD5")
  func encryptedByTheBucket() async throws {
    let odd: HeaderList = ["ETag": "\"0123456789abcdef0123456789abcdef\""]
    for (name, value) in [
      ("x-amz-server-side-encryption", "aws:kms"), ("x-amz-server-side-encryption", "aws:kms:dsse"),
      ("x-amz-server-side-encryption-customer-algorithm", "AES256"),
    ] {
      var headers = odd
      headers.add(name, value)
      #expect(try await part(Response(status: 200, headers: headers)).proof == .contentMD5)
    }
    var plain = odd
    plain.add("x-amz-server-side-encryption", "AES256")
    for headers in [odd, plain] {
      await #expect(throws: Failure.self) { try await part(Response(status: 200, headers: headers)) }
    }
  }

  @Test("A HEAD without the object's size proves nothing")
  func unknownSize() async throws {
    for (headers, proves) in [
      (["ETag": "\"x\""] as HeaderList, false), (["Content-Length": "99999999999999999999"], false),
      (["Content-Length": "3"], true), (["ETag": "\"5289df737df57326fcdd22597afb1fac\""], true),
    ] {
      let finisher = Finisher(
        client: try client([.head: Response(status: 200, headers: headers)]), ObjectAddress("bucket", "key"))
      let md5 = try MultiChecksumSample.md5([1, 2, 3])
      finisher.expect(Expectation(size: 3, checksum: nil, md5: md5, proof: .none))
      if proves {
        _ = try await finisher.head(mustBeOurs: false)
      } else {
        await #expect(throws: Failure.self) { try await finisher.head(mustBeOurs: false) }
      }
    }
  }

  @Test("Of several tries of a PutObject the first one determines the earliest time of our object")
  func firstTry() async throws {
    let head: HeaderList = [
      "Content-Length": "3", "ETag": "\"5289df737df57326fcdd22597afb1fac\"", "Date": "Tue, 14 Nov 2023 22:13:20 GMT",
      "Last-Modified": "Tue, 14 Nov 2023 22:12:30 GMT",
    ]
    let finisher = Finisher(
      client: try client([.head: Response(status: 200, headers: head)]), ObjectAddress("bucket", "key"))
    finisher.expect(Expectation(size: 3, checksum: nil, md5: try MultiChecksumSample.md5([1, 2, 3]), proof: .none))
    // The tries began a hundred seconds ago, and now.
    finisher.begin(.put(.seconds(-100)))
    finisher.begin(.put(.zero))
    guard case .proven = try await finisher.head(mustBeOurs: true) else {
      Issue.record("the object of the first try is not taken for ours")
      return
    }
  }

  @Test("An upload is gone by any code for that, but not if it cannot be listed or the bucket is not found")
  func hasParts() async throws {
    let list = { (parts: String) in "<ListPartsResult><UploadId>id</UploadId>\(parts)</ListPartsResult>" }
    let error = { (code: String) in "<Error><Code>\(code)</Code></Error>" }
    let part = "<Part><PartNumber>1</PartNumber><Size>3</Size><ETag>e</ETag></Part>"
    for (status, body, isThere) in [
      (200, list(part), true), (200, list(""), false), (404, error("NoSuchUpload"), false),
      (404, error("NoSuchKey"), false), (404, error("NoUploadOfThisName"), false), (404, "", false),
      (404, error("NoSuchBucket"), nil), (404, "404 page not found", nil),
      (500, error("InternalError"), nil), (403, error("AccessDenied"), nil),
    ] as [(Int, String, Bool?)] {
      let answer = Response(status: status, body: Array(body.utf8))
      let finisher = Finisher(client: try client([.get: answer]), ObjectAddress("bucket", "key"))
      let found = try? await finisher.hasParts("id")
      #expect(found == isThere, "\(status) \(body)")
    }
  }

  @Test("Impossible sizes in a list of parts do not overflow their sum")
  func absurdSizes() throws {
    let parts = (1...3).map { "<Part><PartNumber>\($0)</PartNumber><Size>\(Int64.max)</Size><ETag>a</ETag></Part>" }
    let text = "<ListPartsResult><UploadId>id</UploadId>" + parts.joined() + "</ListPartsResult>"
    let page = try ListParts(ObjectAddress("bucket", "key"), uploadID: "id").output(
      from: Response(status: 200, body: Array(text.utf8)))
    #expect(page.parts.isEmpty)
    // The largest size that is accepted: 10,000 of them can be added up.
    #expect((Int64(1) << 49).multipliedReportingOverflow(by: 10_000).overflow == false)
  }
}

private enum MultiChecksumSample {
  static func md5(_ bytes: [UInt8]) throws -> Checksum? {
    var sums = try MultiChecksum([.md5])
    bytes.withUnsafeBytes { sums.update($0) }
    return try sums.finish()[.md5]
  }
}
