import MultipartBasics
import Testing

@testable import MultipartCore

@Suite struct ObjectIdentityTests {
  private static let hash = "\"0123456789abcdef0123456789abcdef\""
  private static let time = Timestamp(seconds: 5)

  @Test("An ETag that is no hash identifies an object in a record only together with its version or its time")
  func recorded() {
    #expect(ObjectIdentity(etag: Self.hash, modified: nil).text == "0123456789abcdef0123456789abcdef")
    #expect(ObjectIdentity(etag: "\"x\"", modified: nil).text == nil)
    #expect(ObjectIdentity(etag: nil, modified: nil).text == nil)
    #expect(ObjectIdentity(etag: "\"x\"", modified: Self.time).text == "x  5")
    #expect(ObjectIdentity(etag: "\"x\"", versionID: "v", modified: nil).text == "x v ")
  }
}
