import MultipartBasics
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct AbortStepTests {
  private let clock = TestWorld()

  /// Aborts an upload and returns the result and the requests; `answer` gets the number of requests for that step, from
  /// 1.
  private func abort(
    tries: Int = 4, _ answer: @escaping @Sendable (_ step: String, _ time: Int) -> Response
  ) async throws -> (outcome: Result<MultipartUpload.AbortOutcome, Failure>, steps: [String]) {
    let times = Locked<[String: Int]>([:])
    let store = ScriptedStore { request, _ in
      answer(
        request.step,
        times.withLock { times in
          times[request.step, default: 0] += 1
          return times[request.step] ?? 0
        })
    }
    let steps = UploadSteps(
      ObjectAddress("bucket", "key"), uploadID: "id", try store.client(clock.passing), RetryPolicy(tries: tries))
    do throws(Failure) {
      return (.success(try await steps.abort()), store.requests.map(\.step))
    } catch {
      return (.failure(error), store.requests.map(\.step))
    }
  }

  private static let done = Response(status: 204)

  private static func uploads(_ ids: String...) -> Response {
    let uploads = ids.map { "<Upload><Key>key</Key><UploadId>\($0)</UploadId></Upload>" }.joined()
    return Response(
      status: 200, body: Array("<ListMultipartUploadsResult>\(uploads)</ListMultipartUploadsResult>".utf8))
  }

  @Test("An upload in which a part appears after its abort is aborted again, until the list is empty")
  func latePart() async throws {
    let (outcome, steps) = try await abort { step, time in
      step == "abort" ? Self.done : step == "uploads" ? Self.uploads("other") : .parts(time < 3 ? [1] : [])
    }
    #expect(try outcome.get() == .aborted)
    #expect(steps == ["abort", "list", "abort", "list", "abort", "list", "uploads"])
    // The waits are at least half of 0.25 s and of 0.5 s; the other halves are random.
    #expect(clock.uptime == .seconds(1000) + .milliseconds(562.5))
  }

  @Test(
    "An abort is done if the list shows that the upload is gone, or if listing is not allowed",
    arguments: [(404, "NoSuchUpload"), (404, "NoSuchKey"), (404, "NoSuchBucket"), (403, "AccessDenied")])
  func unlisted(status: Int, code: String) async throws {
    let (outcome, steps) = try await abort { step, _ in step == "abort" ? Self.done : .error(status, code) }
    #expect(try outcome.get() == (status == 403 ? .unlisted : .aborted))
    #expect(steps == ["abort", "list"])
  }

  @Test("A list without parts proves the end of an upload only if no list of uploads shows it")
  func withoutParts() async throws {
    let (kept, steps) = try await abort(tries: 2) { step, _ in
      step == "abort" ? Self.done : step == "list" ? .parts([]) : Self.uploads("other", "id")
    }
    #expect(throws: Failure.self) { try kept.get() }
    #expect(steps == ["abort", "list", "uploads", "abort", "list", "uploads"])
    // Not every store has that list, and not everybody may read it.
    for (status, code) in [(403, "AccessDenied"), (501, "NotImplemented"), (400, "InvalidRequest")] {
      let (outcome, _) = try await abort { step, _ in
        step == "abort" ? Self.done : step == "list" ? .parts([]) : .error(status, code)
      }
      #expect(try outcome.get() == .aborted, "\(code)")
    }
    let (other, _) = try await abort { step, _ in
      step == "abort"
        ? Self.done : step == "list" ? .parts([]) : Response(status: 200, body: Array("<ListBucketResult/>".utf8))
    }
    #expect(try other.get() == .aborted)
    let page = Response(status: 200, body: Array("<html>login</html>".utf8))
    let (hidden, _) = try await abort(tries: 1) { step, _ in
      step == "abort" ? Self.done : step == "list" ? .parts([]) : page
    }
    #expect(throws: Failure.self) { try hidden.get() }
    let (unknown, _) = try await abort(tries: 1) { step, _ in
      step == "abort" ? Self.done : step == "list" ? .parts([]) : .error(500, "InternalError")
    }
    #expect(throws: Failure.self) { try unknown.get() }
  }

  @Test("A web page is no answer to an abort, whatever its headers")
  func page() async throws {
    let (outcome, steps) = try await abort(tries: 2) { step, _ in
      step == "abort"
        ? Response(status: 200, headers: ["x-amz-request-id": "1"], body: Array("<html>blocked</html>".utf8))
        : .parts([])
    }
    #expect(throws: Failure.self) { try outcome.get() }
    #expect(steps == ["abort"])
  }

  @Test("An abort that never takes effect fails after its tries, and says that the upload still exists")
  func inVain() async throws {
    let (outcome, steps) = try await abort(tries: 3) { step, _ in step == "abort" ? Self.done : .parts([1]) }
    #expect(throws: Failure.self) { try outcome.get() }
    if case .failure(let failure) = outcome {
      #expect(failure.code == .server && failure.message.description.contains("still exists"))
    }
    #expect(steps == ["abort", "list", "abort", "list", "abort", "list"])
  }

  @Test("An upload that the store no longer has is not listed, and a failed list does not prove its end")
  func answers() async throws {
    let (gone, asked) = try await abort { _, _ in .error(404, "NoSuchUpload") }
    #expect(try gone.get() == .wasGone)
    #expect(asked == ["abort"])
    let (outcome, steps) = try await abort { step, time in
      step == "abort"
        ? Self.done : step == "uploads" ? Self.uploads() : time == 1 ? .error(500, "InternalError") : .parts([])
    }
    #expect(try outcome.get() == .aborted)
    #expect(steps == ["abort", "list", "abort", "list", "uploads"])
  }
}
