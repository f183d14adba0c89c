import Testing

@testable import MultipartCore

/// Whether an answer to a request for one setting of an object is its document, or the object itself.
@Suite struct GetObjectSettingsTests {
  private static let document = Array("<LegalHold><Status>ON</Status></LegalHold>".utf8)
  private let operation = GetObjectSettings(ObjectAddress("b", "k"), part: .legalHold)

  private func output(_ status: Int, _ headers: HeaderList = [:]) throws -> GetObjectSettings.Output {
    try operation.output(from: Response(status: status, headers: headers, body: Self.document))
  }

  @Test("The request names a range, which only an object has")
  func range() throws {
    #expect(try operation.request().headers["Range"] == "bytes=0-65535")
  }

  @Test("A range of an object does not count as a document, whatever its bytes look like")
  func object() throws {
    #expect(try output(206, ["ETag": "\"0123\"", "Content-Range": "bytes 0-41/42"]) == .object)
    #expect(try output(416) == .object)
  }

  @Test("A store that answers with a range of the document has answered")
  func documents() throws {
    #expect(try output(200) == .legalHold("ON"))
    #expect(try output(206, ["Content-Range": "bytes 0-41/42"]) == .legalHold("ON"))
  }

  @Test(
    "A 404 that is about the object or its bucket does not say that the object has no such setting",
    arguments: ["NoSuchKey", "NoSuchBucket", "NoSuchVersion", "NotFound", "NoSuchUpload"],
    [GetObjectSettings.Part.tagging, .retention, .legalHold])
  func noObject(_ code: String, _ part: GetObjectSettings.Part) throws {
    func answer(_ code: String) -> Response {
      Response(status: 404, body: Array("<Error><Code>\(code)</Code></Error>".utf8))
    }
    let operation = GetObjectSettings(ObjectAddress("b", "k"), part: part)
    #expect(throws: Failure.self) { try operation.output(from: answer(code)) }
    #expect(try operation.output(from: answer("ObjectLockConfigurationNotFoundError")) == .none)
  }
}
