import Support
import Testing

extension RealStores {
  /// Each store accepts each checksum, and the evidence says exactly what it proves there.
  @Suite struct Checksums {
    @Test("The evidence is what the store verified", arguments: Store.all, Evidence.Checksum.allCases)
    func theEvidenceIsWhatTheStoreVerified(_ store: Store, _ checksum: Evidence.Checksum) async throws {
      let run = try Run(store, "checksum")
      for (size, inParts) in [(70_000, false), ((5 << 20) + 7, true)] {
        let source = try await run.file("source-\(size)", size)
        let key = run.key("\(size)")
        let (result, event) = try await run.put(
          source.path, key, ["--part-size", "5M", "--checksum", checksum.rawValue])
        #expect(result.status == 0, "\(result.errors)")
        #expect(event.parts == (inParts ? 2 : 1))
        #expect(event.evidence == Evidence.of(checksum, store, inParts: inParts))
        if store.verifiesChecksums {
          #expect(event.checksum?.algorithm == checksum.title)
          let whole = !inParts || checksum == .auto || checksum == .crc64nvme
          #expect(event.checksum?.type == checksum.title.map { _ in whole ? "FULL_OBJECT" : "COMPOSITE" })
        }
        try await run.expect(key, is: source)
      }
    }

    /// `auto` over TLS: a store that returns CRC64NVME keeps it, any other gets Content-MD5 from then on.
    @Test("A checksum that a store does not verify is remembered for the next run", arguments: Store.overTLS)
    func whatAStoreDoesNotVerifyIsRememberedForTheNextRun(_ store: Store) async throws {
      let run = try Run(store, "memory")
      let source = try await run.file("source", 12 << 20)
      let steppedDown = "Content-MD5 instead of CRC64NVME"

      let (first, before) = try await run.put(source.path, run.key(), ["-v", "--part-size", "5M"])
      #expect(first.status == 0, "\(first.errors)")
      #expect(first.errors.contains(steppedDown) == !store.verifiesChecksums, "\(first.errors)")

      let (second, after) = try await run.put(source.path, run.key(), ["-vv", "--part-size", "5M"])
      #expect(second.status == 0, "\(second.errors)")
      #expect(!second.errors.contains(steppedDown), "\(second.errors)")
      #expect(second.errors.contains("Content-MD5:") == !store.verifiesChecksums)
      #expect(second.errors.contains("x-amz-checksum-crc64nvme:") == store.verifiesChecksums)
      #expect(after.evidence == before.evidence)
      #expect(after.evidence == Evidence.of(.auto, store, inParts: true))
    }

    /// Regression: a 501 to encryption that names no header was taken for one to the checksum, and remembered as such.
    @Test(
      "A refusal for another reason is not remembered against checksums",
      arguments: Store.overTLS.filter { $0.name != .seaweedfs })
    func aRefusalOfSomethingElseTeachesNothing(_ store: Store) async throws {
      let run = try Run(store, "lesson")
      let source = try await run.file("source", 12 << 20)
      let (refused, _) = try await run.put(source.path, run.key(), ["--sse", "AES256"])
      #expect(refused.status == 69, "\(refused.errors)")
      let (result, event) = try await run.put(source.path, run.key())
      #expect(result.status == 0, "\(result.errors)")
      #expect(event.evidence == Evidence.of(.auto, store, inParts: true))
      // A second upload uses whatever has been remembered.
      #expect(try await run.put(source.path, run.key()).event.evidence == event.evidence)
    }
  }
}
