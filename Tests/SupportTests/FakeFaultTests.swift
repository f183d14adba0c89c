import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.timeLimit(.minutes(15))) struct FakeFaultTests {
  private static let get = Fault.Match(.getObject)

  /// A store with the object "a" of 100,000 bytes, and the fault.
  private func store(_ fault: Fault) throws -> (fake: FakeS3, client: CurlClient) {
    let made = try openStore(faults: [fault])
    made.fake.putObject("a", bytes: randomBytes(100_000, seed: 1))
    return made
  }

  @Test("an error is answered with its status, code and headers, and nothing is done")
  func error() async throws {
    for early in [false, true] {
      let (fake, client) = try store(
        Fault(.init(.putObject), .error(status: 503, code: "SlowDown", headers: ["Retry-After": "7"], early: early)))
      let answer = try await client.call("PUT", "/bucket/b", body: randomBytes(3 << 20, seed: 2))
      #expect((answer.status, answer.code ?? "") == (503, "SlowDown"))
      #expect(answer.headers["retry-after"] == "7")
      #expect(answer.headers["connection"] == (early ? "close" : nil))
      #expect(fake.object("b") == nil)
      #expect(fake.requests.first?.fault == "error")
    }
  }

  @Test("200 with an error inside")
  func errorIn200() async throws {
    let (_, client) = try store(Fault(Self.get, .errorIn200(code: "InternalError")))
    let answer = try await client.call("GET", "/bucket/a")
    #expect((answer.status, answer.code ?? "") == (200, "InternalError"))
  }

  @Test(
    "connections are cut before, within and after the body; only the last has done its work",
    arguments: [
      (Fault.Action.resetBeforeReading, false), (.resetAfterBody(bytes: 1000), false), (.loseAnswer, true),
    ])
  func resets(_ action: Fault.Action, _ stored: Bool) async throws {
    let (fake, client) = try store(Fault(.init(.putObject), action))
    // 55 and 56: curl's send or receive failed.
    let exit = try await client.call("PUT", "/bucket/b", body: randomBytes(4 << 20, seed: 2)).exit
    #expect([55, 56].contains(exit))
    #expect((fake.object("b") != nil) == stored)
    #expect(await fake.wait { $0.first?.done == true })
    #expect(fake.requests.first?.status == nil)
    if case .resetAfterBody = action { #expect(fake.requests.first?.bodyLength == 1000) }
  }

  @Test("the write side can be shut instead of an answer")
  func halfClose() async throws {
    let (_, client) = try store(Fault(Self.get, .halfClose))
    #expect(try await client.call("GET", "/bucket/a").exit == 52)
  }

  @Test("a stall ends with its time, or never", arguments: [Fault.Stage.beforeBody, .withinBody, .beforeAnswer])
  func stalls(_ stage: Fault.Stage) async throws {
    let (fake, client) = try store(Fault(.init(.putObject, nth: 1), .stall(milliseconds: 200, stage: stage)))
    fake.addFault(Fault(.init(.putObject, nth: 2), .stall(stage: stage)))
    let body = randomBytes(100_000, seed: 1)
    #expect(try await client.call("PUT", "/bucket/b", body: body).status == 200)
    let request = try #require(fake.requests.first)
    #expect(await fake.wait { $0.first?.done == true })
    #expect((fake.requests.first?.ended ?? .zero) - request.began >= .milliseconds(200))
    var hasty = client
    hasty.extra = ["--max-time", "0.5"]
    #expect(try await hasty.call("PUT", "/bucket/b", body: body).exit == 28)
    // The thread of the connection notices that its client has disconnected.
    #expect(await fake.wait { $0.count == 2 && $0[1].done })
  }

  @Test("a stall within the answer leaves half of it")
  func stallWithinAnswer() async throws {
    var (_, client) = try store(Fault(Self.get, .stall(stage: .withinAnswer)))
    client.extra = ["--max-time", "0.5"]
    let answer = try await client.call("GET", "/bucket/a")
    #expect((answer.exit, answer.body.count) == (28, 50_000))
  }

  @Test("white space comes before the document, or between declaration and document", arguments: [false, true])
  func trickle(_ declarationFirst: Bool) async throws {
    let (_, client) = try store(
      Fault(.init(.listObjects), .trickle(spaces: 5, milliseconds: 1, declarationFirst: declarationFirst)))
    let answer = try await client.call("GET", "/bucket?list-type=2")
    #expect(
      answer.text.hasPrefix(declarationFirst ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>     \n" : "     <?xml"))
    #expect(answer.text.hasSuffix("</ListBucketResult>"))
  }

  @Test("ETags and checksums are replaced or left out, in headers and XML")
  func replaced() async throws {
    let (fake, client) = try store(Fault(.init(.putObject), .etag("\"wrong\"")))
    let put = { try await client.call("PUT", "/bucket/b", body: [1]) }
    #expect(try await put().headers["etag"] == "\"wrong\"")
    fake.setFaults([Fault(.init(.putObject), .etag())])
    #expect(try await put().headers["etag"] == nil)
    fake.setFaults([Fault(.init(.putObject), .checksum("AAAA"))])
    #expect(try await put().headers["x-amz-checksum-crc64nvme"] == "AAAA")
    fake.setFaults([Fault(.init(.putObject), .checksum())])
    #expect(try await put().headers["x-amz-checksum-crc64nvme"] == nil)
    fake.setFaults([Fault(.init(.listObjects), .etag("\"<\""))])
    let list = try await client.call("GET", "/bucket?list-type=2")
    #expect(list.between("<ETag>", "</ETag>") == "&quot;&lt;&quot;")
    #expect(fake.object("b")?.etag == hex(FakeHash.md5.of([1])))
  }

  @Test("a body that changes on its way fails its checksum, or is stored changed where nothing checks it")
  func corrupt() async throws {
    let (fake, client) = try store(Fault(.init(.putObject), .corruptBody))
    let crc = base64(FakeChecksum.crc32.of([8]))
    #expect(
      try await client.call("PUT", "/bucket/b", body: [8], headers: ["x-amz-checksum-crc32: \(crc)"]).code
        == "BadDigest")
    #expect(try await client.call("PUT", "/bucket/b", body: [8]).status == 200)
    #expect(fake.object("b")?.bytes == [9])
  }

  @Test("slow reading and late answers take their time")
  func slow() async throws {
    let (fake, client) = try store(Fault(.init(.putObject), .slowRead(bytesPerSecond: 400_000)))
    fake.addFault(Fault(Self.get, .delay(milliseconds: 150)))
    #expect(try await client.call("PUT", "/bucket/b", body: randomBytes(100_000, seed: 1)).status == 200)
    #expect(try await client.call("GET", "/bucket/a").status == 200)
    #expect(await fake.wait { $0.allSatisfy { $0.done } })
    let took = fake.requests.map { ($0.ended ?? .zero) - $0.began }
    #expect(took[0] >= .milliseconds(250))
    #expect(took[1] >= .milliseconds(150))
  }

  @Test("answers can be cut short, huge or not HTTP at all")
  func badAnswers() async throws {
    let (fake, client) = try store(Fault(Self.get, .truncateAnswer(bytes: 10)))
    let cut = try await client.call("GET", "/bucket/a")
    #expect((cut.exit, cut.body.count) == (18, 10))
    fake.setFaults([Fault(Self.get, .hugeHeader(bytes: 50_000))])
    #expect(try await client.call("GET", "/bucket/a").headers["x-amz-huge"]?.utf8.count == 50_000)
    fake.setFaults([Fault(Self.get, .hugeBody(bytes: 1 << 20))])
    #expect(try await client.call("GET", "/bucket/a").body.count == 100_000 + (1 << 20))
    fake.setFaults([Fault(Self.get, .garbage())])
    // 1: a protocol that curl does not take for HTTP.
    #expect(try await client.call("GET", "/bucket/a").exit == 1)
  }

  @Test("a connection can end after a good answer without announcing it")
  func closeAfterAnswer() async throws {
    let (fake, _) = try store(Fault(Self.get, .closeAfterAnswer))
    let url = "\(fake.endpoint)/bucket/a"
    let result = try await curl(["-o", "/dev/null", "-o", "/dev/null", url, url])
    #expect(result.status == 0)
    #expect(fake.requests.map(\.connection) == [1, 2])
  }

  @Test("faults count the requests that they match, and the random ones repeat for the same seed")
  func matching() throws {
    let head = try #require(
      HTTPHead.parse(Array("PUT /b/k?partNumber=2&uploadId=u HTTP/1.1\r\nHost: x".utf8), secure: false))
    let route = FakeRoute(head, hostSuffix: "s3.test")
    let fired = { (match: Fault.Match) -> [Int] in
      var armed = ArmedFault(Fault(match, .halfClose))
      return (1...20).filter { _ in armed.fires(on: route) }
    }
    #expect(fired(.init(.uploadPart, partNumber: 2, key: "k", nth: 3)) == [3])
    #expect(fired(.init(.uploadPart, from: 2, to: 4)) == [2, 3, 4])
    #expect(fired(.init(.uploadPart, partNumber: 1)) == [])
    #expect(fired(.init(.putObject)) == [])
    #expect(fired(.init(key: "other")) == [])
    let dice = fired(.init(probability: 0.5, seed: 9))
    #expect(dice == fired(.init(probability: 0.5, seed: 9)))
    #expect((4...16).contains(dice.count))
    #expect(dice != fired(.init(probability: 0.5, seed: 10)))
  }

  @Test("a script is read from JSON, and written so that it reads the same")
  func json() throws {
    let script = try Fault.script(
      json: """
        [{"match": {"operation": "UploadPart", "nth": 2},
          "action": {"error": {"status": 503, "code": "SlowDown", "headers": {"Retry-After": "1"}}}},
         {"match": {}, "action": {"resetBeforeReading": {}}},
         {"match": {"probability": 0.1, "seed": 4}, "action": {"stall": {}}}]
        """)
    #expect(script.map(\.action.name) == ["error", "resetBeforeReading", "stall"])
    #expect(script[0].match.operation == .uploadPart)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let again = try Fault.script(json: String(decoding: encoder.encode(script), as: UTF8.self))
    #expect(try encoder.encode(again) == encoder.encode(script))
  }
}
