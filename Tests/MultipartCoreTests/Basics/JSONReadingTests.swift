import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct JSONReadingTests {
  @Test("What RFC 8259 allows is read")
  func reads() {
    let text = #" {"a": [1, -2.5e3, true, false, null, {}, []], "b\u0041": "x\n\"\u00e9\ud83d\ude00/\/", "n": 12} "#
    let value = JSON.parse(Array(text.utf8))
    #expect(value?["a"]?.elements?.count == 7)
    #expect(value?["a"]?.elements?[1].double == -2500)
    #expect(value?["bA"]?.text == "x\n\"é😀//")
    #expect(value?["n"]?.integer == 12)
    #expect(value?["missing"] == nil)
    #expect(JSON.parse(Array("\u{FEFF}7".utf8)) == .number("7"))
  }

  @Test(
    "What is not JSON is refused, and never ends the process",
    arguments: [
      "", " ", "{", "[", "[1,", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "01", "-", "1.", "1e", "+1", "tru", "nul",
      "\"", "\"\\", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\x\"", "\"a\nb\"", "1 2",
      "{a:1}", "'a'", String(repeating: "[", count: 100_000),
    ])
  func refuses(_ text: String) {
    #expect(JSON.parse(Array(text.utf8)) == nil)
  }

  @Test("A text that is cut off anywhere is refused")
  func cuts() {
    let text = Array(#"{"Token":"abc","n":[1,{"x":"é"}]}"#.utf8)
    for end in text.indices { #expect(JSON.parse(Array(text[..<end])) == nil) }
    #expect(JSON.parse([0x22, 0xFF, 0x22]) == nil)
  }

  @Test("No value is shown in a dump or an interpolation")
  func hides() {
    let value = JSON.parse(Array(#"{"SecretAccessKey":"hunter2"}"#.utf8))
    var dumped = ""
    dump(value, to: &dumped)
    #expect(!"\(String(describing: value)) \(dumped)".contains("hunter2"))
  }
}
