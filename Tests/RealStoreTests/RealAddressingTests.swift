import Support
import Testing

extension RealStores {
  /// The bucket in the name of the host. libcurl resolves every name under `.localhost` to this machine.
  @Suite(.serialized) struct Addressing {
    @Test("The bucket can be part of the host's name", arguments: Store.all, [1000, 9 << 20])
    func theBucketCanStandInTheHost(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "virtual")
      let source = try await run.file("source", size)
      let there = ["AWS_ENDPOINT_URL_S3": "\(store.scheme)://\(store.hostSuffix):\(store.port)"]
      let (result, event) = try await run.put(
        source.path, run.key("a b/ü"), ["--addressing", "virtual", "-vv"], with: there)
      #expect(result.status == 0, "\(result.errors)")
      let host = "\(store.scheme)://\(store.bucket).\(store.hostSuffix):\(store.port)/real/"
      #expect(result.errors.contains(host), "\(result.errors)")
      #expect(event.size == size)
      try await run.expect(run.key("a b/ü"), is: source)

      let presigned = try await run("presign", run.url(run.key("a b/ü")), "--addressing", "virtual", with: there)
      let url = presigned.lines.first ?? ""
      #expect(url.hasPrefix(host))
      let found = try await Plain(store, run).ask(["-X", "GET", url])
      #expect(found.status == 200)
      #expect(found.sha256 == source.sha256)
    }
  }
}
