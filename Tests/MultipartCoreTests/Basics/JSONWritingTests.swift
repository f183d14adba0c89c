import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct JSONWritingTests {
  @Test func whatIsWrittenReadsBackTheSame() throws {
    let text = "q\" b\\ n\n r\r t\t bell\u{7} esc\u{1b}[31m del\u{7f} nul\u{0} é 😀 \u{2028} \u{202e} \u{e0041}"
    let written = JSON.object([("k\"", .string(text)), ("n", .null), ("a", .array([.bool(true), .int(.min)]))])
      .encoded
    let read = try #require(try JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String: Any])
    #expect((read["k\""] as? String).map { Array($0.utf8) } == Array(text.utf8))
    #expect(written.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f && $0.value != 0x202e })
    #expect(written.hasSuffix("\"n\":null,\"a\":[true,-9223372036854775808]}"))
  }

  @Test(arguments: [
    (0.0, "0"), (-0.0, "0"), (1.0, "1"), (12.345, "12.345"), (-2.5, "-2.5"), (1e-7, "0.0000001"),
    (1.5e-10, "0.00000000015"),
    (1e21, "1000000000000000000000"), (1.25e20, "125000000000000000000"), (Double.nan, "null"), (.infinity, "null"),
  ])
  func numbersHaveNoExponent(_ value: Double, _ text: String) {
    #expect(JSON.double(value).encoded == text)
  }
}
