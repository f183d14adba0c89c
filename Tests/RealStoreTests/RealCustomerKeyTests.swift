import Foundation
import Support
import Testing

extension RealStores {
  /// SSE-C over TLS: the object is readable only with the key; at a store without SSE-C the upload fails.
  @Suite(.serialized) struct CustomerKeys {
    static let key = randomBytes(32, seed: 32)

    /// The headers that another client must send to read the object.
    static func headers() async throws -> [String] {
      let md5 = try await ChildProcess(
        Programs.find("openssl"), ["md5", "-binary"], environment: Programs.environment(home: "/nonexistent"),
        input: .bytes(key)
      ).wait().stdout
      let name = "x-amz-server-side-encryption-customer-"
      return [
        name + "algorithm: AES256", name + "key: " + Data(key).base64EncodedString(),
        name + "key-md5: " + Data(md5).base64EncodedString(),
      ]
    }

    @Test(
      "The object is readable with the customer's key only, or the upload fails", arguments: Store.overTLS,
      [1000, 9 << 20])
    func theObjectIsReadableWithTheKeyAloneOrNotASuccess(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "ssec")
      let source = try await run.file("source", size)
      let file = try run.files.write(Self.key, to: "key")
      let (result, event) = try await run.put(source.path, run.key(), ["--sse-c-key-file", file, "-vv"])
      let secret = Data(Self.key).base64EncodedString()
      #expect(!result.errors.contains(secret))
      #expect(!result.output.contains(secret))
      switch store.name {
      case .seaweedfs:
        #expect(result.status == 0, "\(result.errors)")
        #expect(event.evidence == Evidence.of(.auto, store, inParts: size > 8 << 20))
        let found = try await store.get(run.key(), headers: Self.headers())
        #expect(found.status == 200)
        #expect(found.sha256 == source.sha256)
        #expect(try await store.get(run.key()).status == 400)
      case .swift:
        // The store ignores the headers: for a part that is noticed in time, but a whole object exists before the
        // answer shows it.
        #expect(result.status == 69)
        #expect(event.message?.contains("does not encrypt with the SSE-C key") == true)
        if size > 8 << 20 {
          try await run.expectNothing(run.key())
        } else {
          #expect(event.message?.contains("the object exists, unencrypted") == true)
        }
      case .juicefs:
        // Behind a TLS terminator the store takes the connection for plain HTTP.
        #expect(result.status == 69)
        #expect(event.s3_code == "InvalidRequest")
        try await run.expectNothing(run.key())
      }
    }

    @Test("The single steps carry the customer's key", arguments: Store.overTLS.filter { $0.name == .seaweedfs })
    func theSingleStepsCarryTheKey(_ store: Store) async throws {
      let run = try Run(store, "ssec-steps")
      let source = try await run.file("source", 6 << 20)
      let file = try run.files.write(Data(Self.key).base64EncodedString() + "\n", to: "key")
      let created = try await run("create", run.url(run.key()), "--sse-c-key-file", file)
      let upload = ["--upload-id", created.lines.first ?? "", "--sse-c-key-file", file]
      for (number, offset) in [(1, "0"), (2, "5M")] {
        let words = ["part", source.path, run.url(run.key()), "--part", "\(number)", "--offset", offset]
        let length = number == 1 ? ["--length", "5M"] : []
        let sent = try await run.start(words + length + upload).wait()
        #expect(sent.status == 0, "\(sent.errors)")
      }
      let completed = try await run.start(["complete", run.url(run.key())] + upload).wait()
      #expect(completed.status == 0, "\(completed.errors)")
      #expect(try await store.get(run.key(), headers: Self.headers()).sha256 == source.sha256)
    }
  }
}
