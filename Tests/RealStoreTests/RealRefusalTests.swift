import Support
import Testing

extension RealStores {
  /// Requests that cannot succeed end with the promised exit code and the store's own code, and publish nothing.
  @Suite(.serialized) struct Refusals {
    static let sizes = [1000, 9 << 20]

    @Test("A wrong secret ends in 77", arguments: Store.once, sizes)
    func aWrongSecretEndsIn77(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "secret")
      let source = try await run.file("source", size)
      let (result, event) = try await run.put(source.path, run.key(), with: ["AWS_SECRET_ACCESS_KEY": "not/the+secret"])
      #expect(result.status == 77)
      #expect(event.s3_code == "SignatureDoesNotMatch")
      #expect(result.errors.contains("SignatureDoesNotMatch"))
      #expect(!result.errors.contains("not/the+secret"))
      try await run.expectNothing(run.key())
    }

    @Test("An unknown access key ends in 77", arguments: Store.once)
    func anUnknownAccessKeyEndsIn77(_ store: Store) async throws {
      let run = try Run(store, "nobody")
      let source = try await run.file("source", 1000)
      let (result, event) = try await run.put(source.path, run.key(), with: ["AWS_ACCESS_KEY_ID": "NOBODYHASTHISKEY"])
      #expect(result.status == 77)
      // Swift does not report whether the key or the secret is wrong.
      #expect(event.s3_code == (store.name == .swift ? "SignatureDoesNotMatch" : "InvalidAccessKeyId"))
      try await run.expectNothing(run.key())
    }

    @Test("A bucket that does not exist ends in 69", arguments: Store.once, sizes)
    func noBucketEndsIn69(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "bucket")
      let source = try await run.file("source", size)
      let result = try await run("put", source.path, "s3://no-such-bucket-here/key", "--json")
      #expect(result.status == 69)
      #expect(try Event(result).s3_code == "NoSuchBucket")
    }

    @Test("Create-only at an object that exists ends in 73 before the first byte", arguments: Store.once, sizes)
    func createOnlyOfAnObjectThatExistsEndsIn73BeforeTheFirstByte(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "exists")
      let source = try await run.file("source", size)
      let other = try await run.file("other", size, seed: 2)
      let (created, _) = try await run.put(source.path, run.key(), ["--if-none-match"])
      #expect(created.status == 0, "\(created.errors)")
      let (result, event) = try await run.put(other.path, run.key(), ["--if-none-match", "-vv"])
      #expect(result.status == 73)
      #expect(event.code == "precondition")
      #expect(result.errors.contains("> HeadObject"))
      #expect(!result.errors.contains("> PutObject"))
      #expect(!result.errors.contains("> CreateMultipartUpload"))
      try await run.expect(run.key(), is: source)
    }

    @Test("Replacing an object that has changed ends in 73 before the first byte", arguments: Store.once, sizes)
    func replaceOnlyOfAnotherObjectEndsIn73BeforeTheFirstByte(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "match")
      let source = try await run.file("source", size)
      let other = try await run.file("other", size, seed: 2)
      let (absent, _) = try await run.put(source.path, run.key(), ["--if-match", "\"abc\""])
      #expect(absent.status == 73)
      try await run.expectNothing(run.key())
      let (made, _) = try await run.put(source.path, run.key())
      #expect(made.status == 0, "\(made.errors)")
      let (result, _) = try await run.put(other.path, run.key(), ["--if-match", "\"abc\"", "-vv"])
      #expect(result.status == 73)
      #expect(!result.errors.contains("> PutObject"))
      #expect(!result.errors.contains("> CreateMultipartUpload"))
      try await run.expect(run.key(), is: source)
    }
  }
}
