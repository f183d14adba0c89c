import MultipartBasics
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct AbortStepTests {
  private let clock = TestWorld()

  /// Aborts an upload and returns the result and the requests; `answer` gets the number of requests for that step, from
  /// 1.
  private func abort(
    tries: Int = 4, _ answer: @escaping @Sendable (_ step: String, _ time: Int) -> Response
  ) async throws -> (outcome: Result<AbortMultipartUpload.Output, Failure>, steps: [String]) {
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

  @Test("An upload in which a part appears after its abort is aborted again, until the list is empty")
  func latePart() async throws {
    let (outcome, steps) = try await abort { step, time in
      step == "abort" ? Self.done : .parts(time < 3 ? [1] : [])
    }
    #expect(try outcome.get() == .aborted)
    #expect(steps == ["abort", "list", "abort", "list", "abort", "list"])
    // The waits are at least half of 0.25 s and of 0.5 s; the other halves are random.
    #expect(clock.uptime == .seconds(1000) + .milliseconds(562.5))
  }

  @Test(
    "An abort is done if the list shows that the upload is gone, or if listing is not allowed",
    arguments: [(404, "NoSuchUpload"), (404, "NoSuchKey"), (404, "NoSuchBucket"), (403, "AccessDenied")])
  func unlisted(status: Int, code: String) async throws {
    let (outcome, steps) = try await abort { step, _ in step == "abort" ? Self.done : .error(status, code) }
    #expect(try outcome.get() == .aborted)
    #expect(steps == ["abort", "list"])
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
      step == "abort" ? Self.done : time == 1 ? .error(500, "InternalError") : .parts([])
    }
    #expect(try outcome.get() == .aborted)
    #expect(steps == ["abort", "list", "abort", "list"])
  }
}
