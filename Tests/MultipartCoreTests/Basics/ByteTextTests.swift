import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@Suite("Text from outside is searched and cut by its bytes", .timeLimit(.minutes(15)))
struct ByteTextTests {
  /// Letters that form one character with an ASCII mark: U+0301 with the one before it, U+0600 with the one after it.
  static let joiners = ["\u{301}", "\u{600}", "\u{600}\u{301}"]

  private func same(_ found: [Substring]?, _ wanted: [String]) -> Bool {
    found.map { $0.map { Array($0.utf8) } } == wanted.map { Array($0.utf8) }
  }

  @Test(
    "The text is cut at a mark, whatever characters combine with it", arguments: joiners,
    ["=", ":", "/", "?", " ", "\""])
  func cuts(_ joiner: String, _ mark: String) {
    let (a, b) = ("a" + joiner, joiner + "b")
    let text = a + mark + b + mark + mark
    #expect(same(text.pieces(at: mark), [a, b, "", ""]))
    #expect(same(text.pieces(at: mark, maxSplits: 1), [a, b + mark + mark]))
    #expect(same(text.words(between: mark + "#"), [a, b]))
    #expect(same([text.upTo("#" + mark)], [a]))
    #expect(same(text.cut(at: mark).map { [$0.before, $0.after] }, [a, b + mark + mark]))
    #expect(same(text.rest(after: a + mark).map { [$0] }, [b + mark + mark]))
    #expect(text.begins(with: a + mark) && text.ends(with: mark + mark) && text.holds(mark + b))
  }

  @Test("A search for something that is missing finds nothing")
  func absent() {
    #expect("abc".cut(at: "=") == nil && "abc".rest(after: "b") == nil && "abc".upTo("=") == "abc")
    #expect(!"abc".begins(with: "bc") && !"abc".ends(with: "ab") && !"bc".ends(with: "abc") && !"abc".holds("ac"))
    #expect("".pieces(at: "=") == [""] && "".words(between: "=") == [])
    #expect("a\r\nb".pieces(at: "\n") == ["a\r", "b"])
    // Swift considers them equal.
    #expect(!"e\u{301}".begins(with: "\u{e9}") && !"e\u{301}".holds("\u{e9}"))
  }

  @Test("Of an Authorization header a log shows only the form", arguments: joiners)
  func authorization(_ joiner: String) {
    let sent =
      "AWS4-HMAC-SHA256 Credential=\(joiner)AKIA,SignedHeaders=\(joiner)host,\(joiner)Signature=\(joiner)5ec2e7"
    let shown = Redaction.headers(["Authorization": sent])["Authorization"] ?? ""
    #expect(!shown.contains("AKIA") && !shown.contains("5ec2e7"), "\(shown)")
    #expect(shown.utf8.starts(with: "AWS4-HMAC-SHA256 Credential=REDACTED".utf8), "\(shown)")
  }

  @Test("A word of RFC 2047 is decoded, whatever its text begins and ends with", arguments: joiners)
  func encodedWord(_ joiner: String) {
    let text = "=\(joiner)?x?\(joiner)="
    #expect(EncodedWord.decode(EncodedWord.encode(text)).utf8.elementsEqual(text.utf8))
    #expect(EncodedWord.decode("=?\(joiner)UTF-8?B?YQ==?=").utf8.elementsEqual("=?\(joiner)UTF-8?B?YQ==?=".utf8))
  }

  @Test("The library and the program use no function of Swift's that cuts text by characters")
  func sources() throws {
    let byCharacter = try Regex(
      #"\.has(Prefix|Suffix)\b|\.(replacing|trimmingPrefix)\("|\.(split\(separator|firstRange\(of|firstIndex\(of|lastIndex\(of): *""#
        + #"|(prefix|drop|split|prefix\(while:|drop\(while:|allSatisfy) *\{ *\$0 [!=]= ""#)
    let root = URL(filePath: #filePath).appending(path: "../../../../Sources").standardizedFileURL
    let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    #expect(files.count > 300)
    for file in files {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        guard !line.drop(while: { $0 == " " }).hasPrefix("//"), !Self.constants.contains(where: line.contains) else {
          continue
        }
        #expect(line.firstMatch(of: byCharacter) == nil, "\(file.lastPathComponent): \(line)")
      }
    }
  }

  /// The program's own texts.
  private static let constants = [
    "extensions.split(", "theirs.split(", "halves[0].split(", "text.split(separator: \"e\")",
    "in text.split(separator: \" \")",
  ]
}
