@testable import MultipartCore
import Testing

@Suite struct RequestedSettingsTests {
  typealias State = RequestedSettings.State

  private static let id = "1234abcd-12ab-34cd-56ef-1234567890ab"
  private static let other = "00000000-12ab-34cd-56ef-1234567890ab"
  private static let arn = "arn:aws:kms:eu-west-1:123456789012:key/"

  struct Case: Sendable, CustomTestStringConvertible {
    var asked: HeaderList
    var shown: HeaderList
    var state: State
    var testDescription: String { "\(asked.fields.map(\.value)) \(shown.fields.map(\.value)) \(state)" }

    init(_ asked: HeaderList, _ shown: HeaderList, _ state: State) {
      self.asked = asked
      self.shown = shown
      self.state = state
    }

    static func one(_ name: String, _ asked: String, _ shown: String?, _ state: State) -> Case {
      var list = HeaderList()
      list.add(name, shown)
      return Case([name: asked], list, state)
    }
  }

  private static let sse = "x-amz-server-side-encryption"
  private static let key = "x-amz-server-side-encryption-aws-kms-key-id"
  private static let bucketKey = "x-amz-server-side-encryption-bucket-key-enabled"
  private static let store = "x-amz-storage-class"

  static let encryption: [Case] = [
    .one(sse, "AES256", "AES256", .kept), .one(sse, "AES256", "aes256", .kept),
    .one(sse, "AES256", nil, .dropped(found: nil)), .one(sse, "aws:kms", "AES256", .dropped(found: "AES256")),
    .one(key, id, arn + id, .kept), .one(key, arn + id, arn + id.uppercased(), .kept), .one(key, id, id, .kept),
    .one(key, arn + id, id, .kept), .one(key, id, arn + other, .dropped(found: arn + other)),
    .one(key, arn + id, arn + other, .dropped(found: arn + other)),
    .one(key, arn.replacing("eu-west", with: "us-west") + id, arn + id, .dropped(found: arn + id)),
    .one(key, "alias/mine", arn + id, .unseen), .one(key, id, nil, .unseen),
    .one(key, "my-key", "arn:aws:kms:my-key", .kept), .one(key, "my-key", "yours", .dropped(found: "yours")),
    .one(key, "my-key", arn + id, .unseen),
    .one(bucketKey, "true", "true", .kept), .one(bucketKey, "true", nil, .dropped(found: nil)),
    .one(bucketKey, "false", nil, .kept), .one(bucketKey, "false", "true", .dropped(found: "on")),
    .one("x-amz-server-side-encryption-context", "e30=", nil, .unseen),
  ]

  static let others: [Case] = [
    .one("Content-Type", "text/plain", "text/plain", .kept),
    .one("Content-Type", "text/plain; charset=utf-8", "Text/Plain;charset=UTF-8", .kept),
    .one("Content-Type", "text/plain", "application/octet-stream", .dropped(found: "application/octet-stream")),
    .one("Content-Language", "de", nil, .dropped(found: nil)), .one("Cache-Control", "a  b", "a b", .kept),
    .one("Cache-Control", "No-Store", "no-store", .dropped(found: "no-store")),
    .one("Expires", "Fri, 31 Jan 2031 00:00:00 GMT", "Fri, 31 Jan 2031 00:00:00 GMT", .kept),
    .one(
      "Expires", "Fri, 31 Jan 2031 00:00:00 GMT", "Fri, 31 Jan 2031 00:00:01 GMT",
      .dropped(found: "Fri, 31 Jan 2031 00:00:01 GMT")),
    .one("Expires", "0", "0", .kept),
    .one("x-amz-meta-A", "1", "1", .kept), .one("x-amz-meta-a", "1", "2", .dropped(found: "2")),
    .one("x-amz-meta-a", "1", nil, .dropped(found: nil)), .one("x-amz-meta-a", "", nil, .unseen),
    .one("x-amz-meta-a", "=?UTF-8?B?w7w=?=", "=?UTF-8?Q?=C3=BC?=", .kept),
    .one("x-amz-meta-a", "=?UTF-8?B?w7w=?=", "ü", .kept), .one("x-amz-meta-a", "=?UTF-8?B?w7w=?=", "Ã¼", .unseen),
    Case(["x-amz-meta-a": "1"], ["x-amz-missing-meta": "1"], .unseen),
    .one(store, "STANDARD", nil, .kept), .one(store, "STANDARD", "GLACIER", .dropped(found: "GLACIER")),
    .one(store, "STANDARD_IA", nil, .dropped(found: "STANDARD")), .one(store, "STANDARD_IA", "standard_ia", .kept),
    Case([store: "NEARLINE"], ["x-goog-storage-class": "NEARLINE"], .kept),
    .one("x-amz-website-redirect-location", "/a", nil, .dropped(found: nil)),
    .one("x-amz-acl", "private", nil, .unseen), .one("x-amz-grant-read", "id=\"a\"", nil, .unseen),
    Case(["x-amz-tagging": "a=b&c="], ["x-amz-tagging-count": "2"], .kept),
    Case(["x-amz-tagging": "a=b&c="], ["x-amz-tagging-count": "1"], .dropped(found: "1 of 2")),
    Case(["x-amz-tagging": "a=b"], [:], .unseen),
    .one("x-amz-object-lock-legal-hold", "ON", "ON", .kept),
    .one("x-amz-object-lock-legal-hold", "ON", "OFF", .dropped(found: "OFF")),
    .one("x-amz-object-lock-legal-hold", "ON", nil, .unseen), .one("x-amz-object-lock-legal-hold", "OFF", nil, .kept),
    lock("GOVERNANCE", "2031-01-31T00:00:00.000Z", .kept), lock(nil, nil, .unseen),
    lock("COMPLIANCE", "2031-01-31T00:00:00Z", .dropped(found: "COMPLIANCE until 2031-01-31T00:00:00Z")),
    lock("GOVERNANCE", "2030-01-31T00:00:00Z", .dropped(found: "GOVERNANCE until 2030-01-31T00:00:00Z")),
  ]

  private static func lock(_ mode: String?, _ until: String?, _ state: State) -> Case {
    var shown = HeaderList()
    shown.add("x-amz-object-lock-mode", mode)
    shown.add("x-amz-object-lock-retain-until-date", until)
    return Case(
      ["x-amz-object-lock-mode": "GOVERNANCE", "x-amz-object-lock-retain-until-date": "2031-01-31T00:00:00Z"], shown,
      state)
  }

  private func asked(_ headers: HeaderList) throws -> RequestedSettings {
    var object = ObjectHeaders()
    object.extra = headers.fields.map { NamedValue($0.name, $0.value) }
    return try RequestedSettings(object: object)
  }

  @Test("A HEAD shows a setting as kept, lost or unknown, however it was requested", arguments: encryption + others)
  func head(row: Case) throws {
    #expect(try asked(row.asked).findings(inHead: row.shown).map(\.state) == [row.state])
    #expect(
      try asked(row.asked).differences(inHead: row.shown).isEmpty == !{
        if case .dropped = row.state { true } else { false }
      }())
  }

  @Test("The answer to a write must confirm the encryption and nothing else", arguments: encryption)
  func write(row: Case) throws {
    let answer = EncryptionInfo(row.shown)
    #expect(try asked(row.asked).findings(inWrite: answer).map(\.state) == [row.state])
  }

  @Test("Other settings are not checked in a write's answer", arguments: others)
  func notInWrite(row: Case) throws {
    #expect(try asked(row.asked).findings(inWrite: EncryptionInfo(row.shown)) == [])
  }

  @Test("A guessed content type and the caller's extra headers are not checked")
  func nothing() throws {
    var object = ObjectHeaders()
    object.contentType = "text/plain"
    object.extra = [NamedValue("X-Test", "1")]
    #expect(try RequestedSettings(object: object, typeIsGuessed: true).isEmpty)
    #expect(try RequestedSettings(object: object).settings == [.header("content-type")])
  }

  @Test("An SSE-C key must be confirmed by the answer")
  func customerKey() throws {
    let key = try CustomerKey([UInt8](repeating: 7, count: 32))
    let asked = try RequestedSettings(object: ObjectHeaders(), customerKey: key)
    let name = "x-amz-server-side-encryption-customer-algorithm"
    #expect(asked.findings(inWrite: EncryptionInfo([:])).map(\.state) == [.dropped(found: nil)])
    #expect(asked.findings(inWrite: EncryptionInfo([name: "AES256"])).map(\.state) == [.kept])
  }

  @Test("Tags are the same in any order, by name and value")
  func tags() throws {
    let asked = try asked(["x-amz-tagging": "a%20b=c%26d&%C3%A4="])
    #expect(asked.tags([NamedValue("ä", ""), NamedValue("a b", "c&d")]) == .kept)
    #expect(asked.tags([NamedValue("ä", ""), NamedValue("a b", "c")]) == .dropped(found: "ä=&a b=c"))
    #expect(asked.tags([]) == .dropped(found: nil))
  }
}
