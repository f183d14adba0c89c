import Support
import Testing

extension RealStores {
  /// An object's headers are kept, or the store's refusal is reported and nothing is left.
  @Suite(.serialized) struct Headers {
    @Test("Another client gets the headers that were requested", arguments: Store.once, [1000, 9 << 20])
    func comeBackToAnotherClient(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "headers")
      let source = try await run.file("source", size)
      let (result, event) = try await run.put(
        source.path, run.key(),
        [
          "--content-type", "text/x-real", "--cache-control", "max-age=60", "--content-disposition",
          "attachment; filename=\"a b.txt\"", "--content-language", "de", "--expires-header", "2031-01-31T00:00:00Z",
          "--metadata", "Color=blue", "--metadata", "Umlaut=ü",
        ])
      // JuiceFS loses two of them, which is a failure.
      let kept = store.name != .juicefs
      #expect(result.status == (kept ? 0 : 69), "\(result.errors)")
      if !kept { #expect(event.message?.contains("no content-language, no expires") == true, "\(result.errors)") }
      let headers = try await store.head(run.key()).headers
      #expect(headers["content-type"] == "text/x-real")
      #expect(headers["cache-control"] == "max-age=60")
      #expect(headers["content-disposition"] == "attachment; filename=\"a b.txt\"")
      #expect(headers["x-amz-meta-color"] == "blue")
      // S3 itself returns non-ASCII values like this (RFC 2047).
      #expect(headers["x-amz-meta-umlaut"] == "=?UTF-8?B?w7w=?=")
      #expect(headers["content-language"] == (kept ? "de" : nil))
      #expect(headers["expires"] == (kept ? "Fri, 31 Jan 2031 00:00:00 GMT" : nil))
      try await run.expect(run.key(), is: source)
    }

    @Test("Tags are kept, or the upload fails", arguments: Store.once, [1000, 9 << 20])
    func tagsAreKeptOrRefused(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "tags")
      let source = try await run.file("source", size)
      let (result, event) = try await run.put(source.path, run.key(), ["--tag", "team=a b", "--tag", "x=1+2=3"])
      guard store.name != .swift else {
        try await refused(run, result, event)
        return
      }
      #expect(result.status == 0, "\(result.errors)")
      let tags = try await store.ask(Ask(method: "GET", key: run.key(), query: "tagging="))[0]
      #expect(Set(tags.elements("Key")) == ["team", "x"])
      #expect(Set(tags.elements("Value")) == ["a b", "1+2=3"])
    }

    @Test("The store encrypts as requested, or the upload fails", arguments: Store.once, [1000, 9 << 20])
    func encryptionByTheStoreIsDoneOrRefused(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "sse")
      let source = try await run.file("source", size)
      let (result, event) = try await run.put(source.path, run.key(), ["--sse", "AES256"])
      guard store.name == .seaweedfs else {
        try await refused(run, result, event)
        return
      }
      #expect(result.status == 0, "\(result.errors)")
      #expect(try await store.head(run.key()).headers["x-amz-server-side-encryption"] == "AES256")
      try await run.expect(run.key(), is: source)
    }

    static let locks = [
      (1000, ["--object-lock-mode", "GOVERNANCE", "--retain-until", "2031-01-31T00:00:00Z"]),
      (9 << 20, ["--object-lock-mode", "COMPLIANCE", "--retain-until", "2031-01-31T00:00:00Z"]),
      (1000, ["--legal-hold", "on"]), (9 << 20, ["--legal-hold", "on"]),
    ]

    /// Swift ignores a lock's headers and the requests about it; the other two refuse a lock, because the bucket has
    /// none.
    @Test("A lock that the store does not keep is a failure", arguments: Store.once, locks)
    func aLockThatIsNotKeptIsNotASuccess(_ store: Store, _ lock: (size: Int, options: [String])) async throws {
      let run = try Run(store, "lock")
      let source = try await run.file("source", lock.size)
      let (result, event) = try await run.put(source.path, run.key(), lock.options)
      #expect(result.status == 69, "\(result.errors)")
      guard store.name == .swift else {
        #expect(event.s3_code == "InvalidRequest")
        try await run.expectNothing(run.key())
        return
      }
      let word = lock.options.count > 2 ? "no object lock" : "no legal hold"
      #expect(event.message?.contains("the object exists with \(word)") == true, "\(result.errors)")
      try await run.expect(run.key(), is: source)
    }

    /// None of these stores makes an object public.
    @Test("An ACL that the store does not apply is a failure", arguments: Store.once, [1000, 9 << 20])
    func accessThatIsNotGivenIsNotASuccess(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "access")
      let source = try await run.file("source", size)
      let (closed, _) = try await run.put(source.path, run.key(), ["--acl", "private"])
      #expect(closed.status == 0, "\(closed.errors)")
      let (result, event) = try await run.put(source.path, run.key(), ["--acl", "public-read"])
      #expect(result.status == 69, "\(result.errors)")
      #expect(event.message?.contains("the object exists with no ACL") == true, "\(result.errors)")
      try await run.expect(run.key(), is: source)
    }

    private func refused(_ run: Run, _ result: ChildProcess.Result, _ event: Event) async throws {
      #expect(result.status == 69)
      #expect(event.status == 501)
      #expect(event.s3_code == "NotImplemented")
      #expect(result.errors.contains("leave out the option that requires it"), "\(result.errors)")
      try await run.expectNothing(run.key())
    }
  }
}
