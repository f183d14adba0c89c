import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@Suite("Text inside another language", .timeLimit(.minutes(15)))
struct EscapedTests {
  /// Letters that form one character with the mark next to them.
  static let joiners = ["", "\u{301}", "\u{600}", "\u{200D}", "\u{FE0F}"]
  static let marks = ["<", ">", "&", "\"", "'", "\\", ":", "[", "\r", "\n", "\r\n", "\t", "$", "`"]

  static let texts = joiners.flatMap { joiner in marks.map { joiner + $0 + joiner } }

  private func bytes(_ text: String) -> Set<UInt8> { Set(text.utf8) }

  @Test("HTML keeps no character that is markup, and reads the same", arguments: texts)
  func html(_ text: String) {
    let written = Escaped.html(text)
    #expect(bytes(written).isDisjoint(with: "<>\"'".utf8))
    let named = ["&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'"]
    var read = Data(written.utf8)
    for (name, mark) in named.sorted(by: { $0.key < $1.key }) + [(key: "&amp;", value: "&")] {
      while let place = read.range(of: Data(name.utf8)) { read.replaceSubrange(place, with: Data(mark.utf8)) }
      if name == "&amp;" { break }
    }
    #expect(Array(read) == Array(text.utf8))
  }

  @Test("A command to GitHub's runner keeps its line and its properties, and reads the same", arguments: texts)
  func workflow(_ text: String) {
    let (message, property) = (Escaped.workflowCommand(text + "%25,"), Escaped.workflowProperty(text + "%25,"))
    #expect(bytes(message).isDisjoint(with: "\r\n".utf8) && bytes(property).isDisjoint(with: "\r\n:,".utf8))
    for written in [message, property] {
      #expect(written.removingPercentEncoding.map { Array($0.utf8) } == Array((text + "%25,").utf8))
    }
  }

  @Test("Markdown keeps no character that is markup, even in tables", arguments: texts)
  func markdown(_ text: String) {
    let written = Escaped.markdown(text + "|*_~")
    #expect(bytes(written).isDisjoint(with: "<>\"'\\:[`$|*_~\r\n\t".utf8))
    #expect(written.utf8.suffix(21).elementsEqual("&#124;&#42;&#95;&#126;".utf8.suffix(21)))
  }

  @Test("JSON within HTML keeps no character of HTML, and parses the same", arguments: texts)
  func jsonInHTML(_ text: String) throws {
    let written = Escaped.jsonInHTML(JSON.object([(text, .string(text))]).encoded)
    #expect(bytes(written).isDisjoint(with: "<>&'".utf8))
    guard case .object(let fields)? = JSON.parse(Array(written.utf8)) else {
      Issue.record("it is not JSON: \(written)")
      return
    }
    #expect(fields.map { Array($0.0.utf8) } == [Array(text.utf8)])
    #expect(fields.first?.1.text.map { Array($0.utf8) } == Array(text.utf8))
  }

  @Test("XML is read back as it was, byte for byte", arguments: texts)
  func xml(_ text: String) throws {
    let written = Escaped.xml(text)
    #expect(bytes(written).isDisjoint(with: "<>".utf8) && bytes(written).isDisjoint(with: 0..<0x20))
    let root = try XMLReader.read(Array("<a>\(written)</a>".utf8)).root
    #expect(root.map { Array($0.text.utf8) } == Array(text.utf8))
  }

  @Test("Within the quotes of curl's config neither a line nor the text ends early", arguments: texts)
  func curlConfig(_ text: String) {
    var read: [UInt8] = []
    var isEscape = false
    for byte in Escaped.curlConfig(text).utf8 {
      if isEscape {
        read.append(["n": 0x0A, "r": 0x0D, "t": 0x09][String(Unicode.Scalar(byte))] ?? byte)
        isEscape = false
      } else if byte == UInt8(ascii: "\\") {
        isEscape = true
      } else {
        #expect(byte != UInt8(ascii: "\"") && byte != 0x0A && byte != 0x0D)
        read.append(byte)
      }
    }
    #expect(!isEscape && read == Array(text.utf8))
  }

  @Test("Only a word that is shown names control characters: not every shell of a script could read that")
  func visible() {
    #expect(ShellWord.visible("a b'\\\u{1b}[31m\n") == "$'a b\\'\\\\\\x1b[31m\\x0a'")
    #expect(ShellWord.visible("a b") == "'a b'")
    #expect(ShellWord.quoted("a\nb") == "'a\nb'")
  }

  @Test("A quote within single quotes is written as an escape between two quoted texts", arguments: joiners)
  func singleQuoted(_ joiner: String) {
    let (text, wanted) = (joiner + "'" + joiner, joiner + "'\\''" + joiner)
    #expect(Escaped.singleQuoted(text).utf8.elementsEqual(wanted.utf8))
    #expect(ShellWord.quoted(text).utf8.elementsEqual("'\(wanted)'".utf8))
    #expect(
      Escaped.singleQuoted(joiner + "[" + joiner, backslashing: "[").utf8.elementsEqual("\(joiner)\\[\(joiner)".utf8))
    #expect(Escaped.backslashed(joiner + "'" + joiner, "'\\").utf8.elementsEqual("\(joiner)\\'\(joiner)".utf8))
  }
}
