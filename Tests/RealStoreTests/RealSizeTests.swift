import Support
import Testing

extension RealStores {
  /// Every size near a limit arrives unchanged, in the right number of parts.
  @Suite struct Sizes {
    struct Case: Sendable, CustomTestStringConvertible {
      var size: Int
      var parts: Int
      var testDescription: String { "\(size) bytes" }
    }

    static let cases = [
      Case(size: 0, parts: 1), Case(size: 1, parts: 1), Case(size: 5 << 20, parts: 1), Case(size: 8 << 20, parts: 1),
      Case(size: (8 << 20) + 1, parts: 2), Case(size: 16 << 20, parts: 2),
    ]

    @Test("Each size arrives byte for byte", arguments: Store.all, cases)
    func arrivesByteIdentical(_ store: Store, _ sample: Case) async throws {
      try await upload(sample, to: store)
    }

    @Test("A gibibyte arrives byte for byte", arguments: Store.seaweed.filter { $0.scheme == .https })
    func aGibibyteArrivesByteIdentical(_ store: Store) async throws {
      try await upload(Case(size: 1 << 30, parts: 128), to: store)
    }

    private func upload(_ sample: Case, to store: Store) async throws {
      let run = try Run(store, "size")
      let source = try await run.file("source", sample.size, seed: UInt64(sample.size))
      let key = run.key()
      // A store on this machine may pause: then a part would be sent twice, or stopped because the line seems slow.
      let (result, event) = try await run.put(source.path, key, ["--hedge", "off", "--concurrency", "4"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(event.event == "completed")
      #expect(event.size == sample.size)
      #expect(event.parts == sample.parts)
      event.expectSent(sample.size, again: store.name == .swift ? max(8 << 20, sample.size / 8) : 0)
      #expect(event.retries == 0)
      try await run.expect(key, is: source)

      // The number of parts according to the store.
      let etag = try await store.head(key).headers["etag"] ?? ""
      #expect(etag.hasSuffix("-\(sample.parts)\"") == (sample.parts > 1), "\(etag)")
      #expect(event.etag == etag)

      #expect(event.evidence == Evidence.of(.auto, store, inParts: sample.parts > 1))
      if store.verifiesChecksums {
        #expect(event.checksum?.algorithm == "CRC64NVME")
        #expect(event.checksum?.type == "FULL_OBJECT")
      }
      try await store.delete(key)
    }
  }
}
