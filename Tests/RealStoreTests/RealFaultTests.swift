import Foundation
import Support
import Testing

extension RealStores {
  /// Faults of the line during uploads to real stores: a proxy before each store injects them.
  @Suite(.serialized) struct Faults {
    /// The proxy speaks plain HTTP.
    static let stores = Store.all.filter { $0.scheme == .http }
    static let parts = 5

    /// A file of five parts, through a proxy with these faults. On a busy machine a part can be sent twice without a
    /// fault: on a second connection since it is slow, or again after a connection too many was closed. Neither happens
    /// here, so that each request counted is the upload's own or a fault's.
    private func put(
      _ store: Store, _ faults: Fault..., options: [String] = []
    ) async throws -> (run: Run, source: Source, result: ChildProcess.Result, event: Event, stats: FaultProxy.Stats) {
      let run = try Run(store, "faults")
      let source = try await run.file("source", 4 * (5 << 20) + 7)
      let proxy = try await proxy(store, faults)
      let (result, event) = try await run.put(
        source.path, run.key(), ["--part-size", "5M", "--concurrency", "4", "--hedge", "off"] + options,
        with: ["AWS_ENDPOINT_URL_S3": proxy.endpoint])
      return (run, source, result, event, try await proxy.stats())
    }

    private func proxy(_ store: Store, _ faults: [Fault]) async throws -> FaultProxy {
      try await FaultProxy(store: store.endpoint, faults)
    }

    @Test("A store that says SlowDown is waited for", arguments: stores)
    func aStoreThatSaysSlowDownIsWaitedFor(_ store: Store) async throws {
      let slowDown = Fault(.init(.uploadPart, from: 2, to: 4), .error(status: 503, code: "SlowDown"))
      let (run, source, result, event, stats) = try await put(store, slowDown)
      #expect(result.status == 0, "\(result.errors)")
      #expect(event.retries == 3)
      #expect(stats.faults == ["error": 3])
      #expect(stats.requests(.uploadPart) == Self.parts + 3)
      try await run.expect(run.key(), is: source)
    }

    @Test("Parts whose connections are reset are sent again, and no others", arguments: stores)
    func partsWhoseConnectionsAreResetAreSentAgainAndNoOthers(_ store: Store) async throws {
      let (run, source, result, _, stats) = try await put(
        store, Fault(.init(.uploadPart, partNumber: 1, nth: 1), .resetBeforeReading),
        Fault(.init(.uploadPart, partNumber: 2, nth: 1), .resetAfterBody(bytes: 1 << 20)),
        Fault(.init(.uploadPart, partNumber: 3, nth: 1), .loseAnswer),
        Fault(.init(.uploadPart, partNumber: 4, nth: 1), .truncateAnswer(bytes: 0)))
      #expect(result.status == 0, "\(result.errors)")
      #expect(stats.parts.mapValues(\.requests).filter { $0.value > 2 } == [:])
      #expect(stats.parts["5"]?.requests == 1)
      try await run.expect(run.key(), is: source)
    }

    /// Each store notices it in its own way: by a checksum header, or by the SHA-256 in the signature.
    @Test("A part that is corrupted on its way is sent again", arguments: stores)
    func aPartThatIsCorruptedOnItsWayIsSentAgain(_ store: Store) async throws {
      let (run, source, result, event, stats) = try await put(
        store, Fault(.init(.uploadPart, partNumber: 2, nth: 1), .corruptBody))
      #expect(stats.faults == ["corruptBody": 1])
      #expect(result.status == 0, "\(result.errors)")
      #expect(event.retries == 1)
      #expect(stats.parts["2"]?.requests == 2)
      try await run.expect(run.key(), is: source)
    }

    @Test("A part that stalls is sent again on another connection", arguments: stores)
    func aPartThatStandsStillIsSentAgainOnAnotherConnection(_ store: Store) async throws {
      let (run, source, result, event, stats) = try await put(
        store, Fault(.init(.uploadPart, partNumber: 3, nth: 1), .stall(stage: .withinBody)),
        // Long enough that on a busy machine only the part that stalls is silent for so long.
        options: ["--stall-timeout", "20s"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(event.retries == 1, "\(result.errors)")
      #expect(stats.requests(.uploadPart) == Self.parts + 1)
      try await run.expect(run.key(), is: source)
    }

    /// Regression: when a used connection broke without an answer, libcurl repeated the request by itself on another
    /// one, and it was unknown that the first could have succeeded.
    @Test(
      "A complete whose answer is lost after the store assembled the object is a success with evidence",
      arguments: stores)
    func completeWhoseAnswerIsLostAfterTheStoreAssembledIsASuccessWithEvidence(_ store: Store) async throws {
      let (run, source, result, event, stats) = try await put(
        store, Fault(.init(.completeMultipartUpload, nth: 1), .loseAnswer))
      #expect(result.status == 0, "\(result.errors)")
      #expect(event.retries == 1)
      #expect(event.evidence?.isEmpty == false)
      #expect(stats.requests(.uploadPart) == Self.parts)
      try await run.expect(run.key(), is: source)
    }

    @Test("A complete that never reached the store is sent again", arguments: stores)
    func completeThatIsLostBeforeTheStoreIsSentAgain(_ store: Store) async throws {
      let (run, source, result, event, stats) = try await put(
        store, Fault(.init(.completeMultipartUpload, nth: 1), .resetBeforeReading))
      #expect(result.status == 0, "\(result.errors)")
      #expect(event.retries == 1)
      #expect(stats.requests(.completeMultipartUpload) == 2)
      #expect(stats.requests(.uploadPart) == Self.parts)
      try await run.expect(run.key(), is: source)
    }

    /// The answer is lost, and the second try is held until another client has deleted the object.
    @Test("An object that is missing after a lost answer is a failure", arguments: stores)
    func anObjectThatIsGoneAfterALostAnswerIsAFailure(_ store: Store) async throws {
      let run = try Run(store, "deleted")
      let source = try await run.file("source", 12 << 20)
      let proxy = try await proxy(
        store,
        [
          Fault(.init(.completeMultipartUpload, nth: 1), .loseAnswer),
          Fault(.init(.completeMultipartUpload, nth: 2), .stall(stage: .beforeBody)),
        ])
      let child = try run.start(
        ["put", source.path, run.url(run.key()), "--json", "--part-size", "5M"], ["AWS_ENDPOINT_URL_S3": proxy.endpoint]
      )
      #expect(try await proxy.waitForStalled(.completeMultipartUpload))
      try await run.expect(store.get(run.key()), is: source)
      try await store.delete(run.key())
      try await proxy.release()
      let result = await child.wait(timeout: .seconds(60))
      #expect(result.status != 0)
      try await run.expectNothing(run.key())
    }

    /// The same file was uploaded before, in the same parts. Then every complete fails, twice: the existing object is not a
    /// success, the upload is kept, and the third run completes it.
    @Test(
      "An older object with the same bytes proves nothing", arguments: stores,
      [
        Fault.Action.error(status: 503, code: "SlowDown"), .error(status: 500, code: "InternalError"),
        .resetBeforeReading,
      ])
    func anOlderObjectWithTheSameBytesProvesNothing(_ store: Store, _ action: Fault.Action) async throws {
      let run = try Run(store, "older")
      let source = try await run.file("source", 11 << 20)
      let options = ["--part-size", "5M", "--retries", "2"]
      let (first, made) = try await run.put(source.path, run.key(), options)
      #expect(first.status == 0, "\(first.errors)")
      let proxy = try await proxy(store, [Fault(.init(.completeMultipartUpload, to: 2), action)])
      let through = ["AWS_ENDPOINT_URL_S3": proxy.endpoint]
      let (result, event) = try await run.put(source.path, run.key(), options, with: through)
      #expect(result.status == 75, "\(result.errors)")
      #expect(event.resumable == true)
      #expect(try await store.unfinished(run.key()).count == 1)
      let (again, done) = try await run.put(source.path, run.key(), options, with: through)
      #expect(again.status == 0, "\(again.errors)")
      #expect(done.bytes_sent == 0)
      #expect(made.size == done.size)
      try await run.expect(run.key(), is: source)
    }

    @Test("An older object with the same bytes does not prove a single PUT", arguments: stores)
    func anOlderObjectWithTheSameBytesDoesNotProveOneRequest(_ store: Store) async throws {
      let run = try Run(store, "older")
      let source = try await run.file("source", 70_000)
      let (first, _) = try await run.put(source.path, run.key(), [])
      #expect(first.status == 0, "\(first.errors)")
      for action in [Fault.Action.error(status: 503, code: "SlowDown"), .resetBeforeReading] {
        let proxy = try await proxy(store, [Fault(.init(.putObject), action)])
        let (result, _) = try await run.put(
          source.path, run.key(), ["--retries", "2"], with: ["AWS_ENDPOINT_URL_S3": proxy.endpoint])
        #expect(result.status == 75, "\(result.errors)")
      }
    }

    /// The store answers 412 to the second try, because the object is ours.
    @Test("A create-only object whose answer is lost is a success", arguments: stores)
    func aCreateOnlyObjectWhoseAnswerIsLostIsASuccess(_ store: Store) async throws {
      let run = try Run(store, "create-only")
      let source = try await run.file("source", 70_000)
      let proxy = try await proxy(store, [Fault(.init(.putObject, nth: 1), .loseAnswer)])
      let (result, event) = try await run.put(
        source.path, run.key(), ["--if-none-match"], with: ["AWS_ENDPOINT_URL_S3": proxy.endpoint])
      #expect(result.status == 0, "\(result.errors)")
      #expect(event.retries == 1)
      try await run.expect(run.key(), is: source)
    }
  }
}
