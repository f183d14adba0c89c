import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct EncodingTests {
  @Test("the examples of RFC 4648 encode and decode")
  func rfc4648() {
    let examples = [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ]
    for (plain, text) in examples {
      #expect(Base64.encode(plain.utf8) == text)
      #expect(Base64.decode(text) == Array(plain.utf8))
    }
  }

  @Test("any bytes survive a round trip, and are encoded as by another implementation")
  func roundTrip() {
    var dice = Dice(5)
    for length in 0..<100 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &dice) }
      #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
      #expect(Hex.decode(Hex.encode(bytes)) == bytes)
    }
  }

  @Test(
    "text that is not canonical base64 is refused",
    arguments: [
      "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm8=Zm8=", "=Zg=", "Zg==\n", " Zg==", "Zm9v\n", "Zm-_", "Zh==", "Zm9=",
      "Zg==é", "Z", "Zm=v", "===", "Zm9 ", "Z\u{e9}==", "-_-_",
    ])
  func refusedBase64(_ text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test(
    "any percent-encoding is decoded",
    arguments: [("a%2Fb%20c+d%2B", "a/b c d+"), ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%FF", "%FF"), ("%2", "%2")])
  func percent(_ text: String, _ decoded: String) {
    #expect(PercentEncoding.decoded(text) == decoded)
    #expect(PercentEncoding.decoded(PercentEncoding.query(text)) == text)
  }

  @Test("hex is written in lower case and read in either")
  func hex() {
    #expect(Hex.encode([0x00, 0x1F, 0xAB, 0xFF]) == "001fabff")
    #expect(Hex.decode("001FabFf") == [0x00, 0x1F, 0xAB, 0xFF])
    for wrong in ["0", "0g", "0x", " 0", "é", "-1", "+1"] { #expect(Hex.decode(wrong) == nil, "\(wrong)") }
  }
}
