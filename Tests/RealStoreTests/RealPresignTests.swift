import Foundation
import Support
import Testing

/// Plain curl with nothing but a URL: no credentials.
struct Plain {
  struct Answer {
    var status: Int
    var headers: String
    var body: String
    var sha256: String
  }

  private let store: Store
  private let files: TemporaryDirectory

  init(_ store: Store, _ run: Run) {
    self.store = store
    files = run.files
  }

  func ask(_ words: [String]) async throws -> Answer {
    let (body, head) = (files.path("curl-body"), files.path("curl-head"))
    // An empty answer writes no file.
    for file in ["curl-body", "curl-head"] { try files.write("", to: file) }
    let result = try await curl(
      [
        "--path-as-is", "--globoff", "--http1.1", "--cacert", store.certificates, "-D", head, "-o", body, "-w",
        "%{http_code}",
      ] + words, timeout: .seconds(120))
    guard result.status == 0, let status = Int(result.output) else { throw Missing(description: result.errors) }
    let sum = try await ChildProcess(
      Programs.find("sha256sum"), ["--", body], environment: Programs.environment(home: "/nonexistent")
    ).wait()
    return Answer(
      status: status, headers: String(decoding: try files.read("curl-head"), as: UTF8.self).lowercased(),
      body: String(decoding: try files.read("curl-body").prefix(4096), as: UTF8.self),
      sha256: String(sum.output.prefix(64)))
  }
}

extension RealStores {
  /// URLs that s3up signed, used by plain curl.
  @Suite(.serialized) struct Presigned {
    private func url(_ run: Run, _ key: String, _ words: [String]) async throws -> String {
      let result = try await run.start(["presign", run.url(key)] + words).wait()
      #expect(result.status == 0, "\(result.errors)")
      return result.lines.first ?? ""
    }

    @Test("Presigned PUT, GET, HEAD and DELETE work", arguments: Store.once)
    func putGetHeadAndDeleteWork(_ store: Store) async throws {
      let run = try Run(store, "presigned")
      let plain = Plain(store, run)
      let source = try await run.file("source", 100_000)
      let key = run.key("a b+c%20ü/é?#&=.txt")

      let put = try await plain.ask(["-T", source.path, try await url(run, key, ["--method", "PUT"])])
      #expect(put.status == 200, "\(put.body)")
      try await run.expect(key, is: source)

      let get = try await plain.ask([try await url(run, key, ["--response-content-type", "text/x-asked"])])
      #expect(get.status == 200, "\(get.body)")
      #expect(get.sha256 == source.sha256)
      #expect(get.headers.contains("content-type: text/x-asked"))

      let head = try await plain.ask(["-I", try await url(run, key, ["--method", "HEAD"])])
      #expect(head.status == 200)
      #expect(head.headers.contains("content-length: 100000"))

      let delete = try await plain.ask(["-X", "DELETE", try await url(run, key, ["--method", "DELETE"])])
      #expect(delete.status == 204, "\(delete.body)")
      #expect(try await store.head(key).status == 404)
    }

    @Test("Parts that curl sends to presigned URLs make the object", arguments: Store.once)
    func partsSentByCurlMakeTheObject(_ store: Store) async throws {
      let run = try Run(store, "presigned-parts")
      let plain = Plain(store, run)
      let source = try await run.file("source", (10 << 20) + 1000)
      let bytes = try run.files.read("source")
      let id = try await run("create", run.url(run.key())).lines.first ?? ""
      let urls = try await run("presign", run.url(run.key()), "--upload-id", id, "--part", "1-3").lines
      #expect(urls.count == 3)
      for (index, url) in urls.enumerated().reversed() {
        let slice = bytes[(index * 5 << 20)..<min(bytes.count, (index + 1) * 5 << 20)]
        let file = try run.files.write(slice, to: "slice")
        if index == 1 {
          // The same URL works for s3up itself on a machine without credentials.
          let sent = try await run.s3up.run(
            ["part", file, "--url", url], environment: ["AWS_CA_BUNDLE": store.certificates])
          #expect(sent.status == 0, "\(sent.errors)")
        } else {
          #expect(try await plain.ask(["-T", file, url]).status == 200)
        }
      }
      let completed = try await run("complete", run.url(run.key()), "--upload-id", id)
      #expect(completed.status == 0, "\(completed.errors)")
      try await run.expect(run.key(), is: source)
    }

    @Test("A signed content type must be sent", arguments: Store.once)
    func aSignedContentTypeMustBeSent(_ store: Store) async throws {
      let run = try Run(store, "signed-type")
      let plain = Plain(store, run)
      let source = try await run.file("source", 1000)
      let signed = try await url(run, run.key(), ["--method", "PUT", "--content-type", "text/x-signed"])
      #expect(try await plain.ask(["-T", source.path, "-H", "Content-Type: text/x-other", signed]).status == 403)
      try await run.expectNothing(run.key())
      #expect(try await plain.ask(["-T", source.path, "-H", "Content-Type: text/x-signed", signed]).status == 200)
      #expect(try await store.head(run.key()).headers["content-type"] == "text/x-signed")
    }

    @Test("A tampered URL is refused", arguments: Store.once)
    func aTamperedURLIsRefused(_ store: Store) async throws {
      let run = try Run(store, "tampered")
      let plain = Plain(store, run)
      let source = try await run.file("source", 1000)
      #expect(try await run.put(source.path, run.key()).result.status == 0)
      let signed = try await url(run, run.key(), ["--expires", "1h"])
      #expect(try await plain.ask([signed]).status == 200)
      let last = signed.hasSuffix("0") ? "1" : "0"
      let tampered = [
        String(signed.dropLast()) + last,
        signed.replacingOccurrences(of: "X-Amz-Expires=3600", with: "X-Amz-Expires=7200"),
        signed.replacingOccurrences(of: "/object?", with: "/object2?"),
      ]
      for url in tampered {
        #expect(url != signed)
        #expect(try await plain.ask([url]).status == 403)
      }
      #expect(try await plain.ask(["-T", source.path, signed]).status == 403)
      #expect(try await plain.ask(["-X", "DELETE", signed]).status == 403)
      try await run.expect(run.key(), is: source)
    }

    @Test("An expired URL is refused", arguments: Store.once)
    func anExpiredURLIsRefused(_ store: Store) async throws {
      let run = try Run(store, "expired")
      let plain = Plain(store, run)
      let source = try await run.file("source", 1000)
      #expect(try await run.put(source.path, run.key()).result.status == 0)
      let signed = try await url(run, run.key(), ["--expires", "1s"])
      // The store's clock decides when the second is over; stores may allow a little more.
      let end = ContinuousClock.now + .seconds(60)
      var answer = try await plain.ask([signed])
      while answer.status == 200, ContinuousClock.now < end { answer = try await plain.ask([signed]) }
      #expect(answer.status == 403, "\(answer.body)")
    }
  }
}
