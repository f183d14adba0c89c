import MultipartBasics
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct CompleteStepTests {
  private let clock = TestWorld()

  private static let md5 = "\"5289df737df57326fcdd22597afb1fac\""
  /// The ETag of an object of one part with this MD5.
  private static func etag() throws -> String {
    guard case .md5(let md5)? = ETag(md5)?.form else { return "" }
    return "\"\(try MultipartETag.of(md5s: [md5]))\""
  }

  private static func completed(_ etag: String) -> Response {
    Response(
      status: 200,
      body: Array("<CompleteMultipartUploadResult><ETag>\(etag)</ETag></CompleteMultipartUploadResult>".utf8))
  }

  private static func object(_ etag: String, modified: String = "22:13:20", length: String? = "3") -> Response {
    var headers: HeaderList = [
      "ETag": etag, "Last-Modified": "Tue, 14 Nov 2023 \(modified) GMT", "Date": "Tue, 14 Nov 2023 22:13:21 GMT",
    ]
    headers.add("Content-Length", length)
    return Response(status: 200, headers: headers)
  }

  private typealias Exchange = (step: String, answer: Response?)

  /// Completes the upload of one part of three bytes, begun at 22:13:20. A nil answer is lost.
  private func complete(
    tries: Int = 4, _ answers: [Exchange]
  ) async throws -> Result<UploadedObject, Failure> {
    let store = ScriptedStore { (request, number) throws(Failure) in
      let expected: Exchange = number <= answers.count ? answers[number - 1] : ("nothing", nil)
      #expect(request.step == expected.step, "request \(number)")
      guard let answer = expected.answer else { throw Failure(.network, "the connection broke") }
      return answer
    }
    let finisher = Finisher(client: try store.client(clock.passing), ObjectAddress("bucket", "key"))
    finisher.begin(.upload(Timestamp(seconds: 1_700_000_000)))
    let step = CompleteStep(finisher: finisher, retry: RetryPolicy(tries: tries), world: clock.passing)
    defer { #expect(store.requests.count == answers.count) }
    do throws(Failure) {
      return .success(
        try await step.run([PartReceipt(number: 1, size: 3, etag: Self.md5, proof: .etag)], uploadID: "id"))
    } catch {
      return .failure(error)
    }
  }

  private func failure(_ outcome: Result<UploadedObject, Failure>) -> Failure? {
    if case .failure(let failure) = outcome { return failure }
    Issue.record("the completion is taken for a success")
    return nil
  }

  @Test("After a lost answer, if the upload is gone, the object at the key is checked, and its ETag proves it")
  func lost() async throws {
    let head = ("head", Self.object(try Self.etag())) as Exchange
    let once = try await complete(tries: 1, [("complete", nil), ("list", .error(404, "NoSuchUpload")), head]).get()
    #expect(once.evidence.hasPrefix("ETag matches the parts"))
    #expect(once.size == 3 && once.parts == 1 && once.retries == 0)
    // If a try is left, that one gets the answer that the upload is gone.
    let twice = try await complete([("complete", nil), ("complete", .error(404, "NoSuchUpload")), head]).get()
    #expect(twice.evidence == once.evidence && twice.retries == 1)
  }

  @Test("After a lost answer an upload that still exists was not completed, and is kept")
  func stillThere() async throws {
    let outcome = try await complete(tries: 1, [("complete", nil), ("list", .parts([1]))])
    #expect(failure(outcome)?.message == "the connection broke")
  }

  @Test("After a lost answer an older object is not a success, even with the same ETag")
  func earlier() async throws {
    let outcome = try await complete(
      tries: 1,
      [("complete", nil), ("list", .parts([])), ("head", Self.object(try Self.etag(), modified: "22:13:19"))])
    #expect(failure(outcome)?.code == .network)
  }

  @Test("If the list fails after a lost answer, a HEAD decides, and without an object it is not a success")
  func unlisted() async throws {
    let refused = ("list", .error(403, "AccessDenied")) as Exchange
    let found = try await complete(tries: 1, [("complete", nil), refused, ("head", Self.object(try Self.etag()))])
    #expect(try found.get().evidence.isEmpty == false)
    let missing = try await complete(tries: 1, [("complete", nil), refused, ("head", Response(status: 404))])
    #expect(failure(missing)?.code == .network)
  }

  @Test("A 200 with an error in it is a failure that is retried")
  func errorInside() async throws {
    let inside = ("complete", .error(200, "InternalError")) as Exchange
    let result = try await complete([inside, ("complete", Self.completed(try Self.etag()))]).get()
    #expect(result.retries == 1)
    let outcome = try await complete(tries: 1, [inside, ("list", .parts([1]))])
    #expect(failure(outcome)?.s3Code == "InternalError")
  }

  @Test("After SlowDown the request is retried after the wait, after a final refusal it is not")
  func retried() async throws {
    let result = try await complete([
      ("complete", .error(503, "SlowDown")), ("complete", .error(503, "SlowDown")),
      ("complete", Self.completed(try Self.etag())),
    ]).get()
    #expect(result.retries == 2)
    #expect(clock.uptime >= .seconds(1000) + .milliseconds(375))
    let refused = try await complete([("complete", .error(400, "InvalidPartOrder"))])
    #expect(failure(refused)?.s3Code == "InvalidPartOrder")
  }

  @Test("After an answer without proof a HEAD is sent, and the size is the evidence; without a size there is none")
  func unproven() async throws {
    let yes = ("complete", Self.completed("\"x\"")) as Exchange
    let weak = try await complete([yes, ("head", Self.object("\"x\""))]).get()
    #expect(weak.evidence == "object size matches; the store's ETag of the bytes is the MD5")
    let sizeless = try await complete(tries: 1, [yes, ("head", Self.object("\"x\"", length: nil))])
    #expect(failure(sizeless)?.message.description.contains("how long the object is") == true)
    let other = try await complete([yes] + Array(repeating: ("head", Self.object("\"x\"", length: "4")), count: 6))
    #expect(failure(other)?.code == .dataMismatch)
    let absent = try await complete([yes] + Array(repeating: ("head", Response(status: 404)), count: 6))
    #expect(failure(absent)?.message.description.contains("does not show it") == true)
  }
}
