import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct SafeTextTests {
  @Test(
    "a store's text is made safe for one line",
    arguments: [
      ("a\r\n\tb", "a b"), ("name  of two  spaces ", "name  of two  spaces "), ("\n  a \n\n  b\t", " a b "),
      ("b\u{1B}[31m\u{0}c \u{202E}d\u{200F}\u{9B}e", "b\u{fffd}[31m\u{fffd}c \u{fffd}d\u{fffd}\u{fffd}e"),
      ("a\u{2028}b\u{2029}c\u{200B}d\u{FEFF}e\u{E0041}", "a b c\u{fffd}d\u{fffd}e\u{fffd}"),
      ("👩\u{200D}🚀 می\u{200C}خواهم", "👩\u{200D}🚀 می\u{200C}خواهم"), ("", ""),
    ])
  func oneLine(text: String, shown: String) {
    #expect(SafeText.oneLine(text).utf8.elementsEqual(shown.utf8), "\(SafeText.oneLine(text).debugDescription)")
    #expect(SafeText.oneLine(shown).utf8.elementsEqual(shown.utf8))
  }

  @Test("text longer than the limit is cut")
  func cut() {
    #expect(SafeText.oneLine(String(repeating: "x", count: 1000), limit: 10) == "xxxxxxxxxx…")
    #expect(SafeText.oneLine("xxxxxxxxxx", limit: 10) == "xxxxxxxxxx")
  }

  @Test("line breaks of a text with several lines are kept")
  func lines() {
    #expect(SafeText.lines("a\u{7}\n\nb\tc") == "a\u{fffd}\n\nb c")
  }
}
