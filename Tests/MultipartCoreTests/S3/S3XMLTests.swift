@testable import MultipartCore
import Support
import Testing

@Suite(.timeLimit(.minutes(15))) struct S3XMLTests {
  private func read(_ text: String) throws -> XMLTree { try XMLReader.read(Array(text.utf8)) }

  @Test func readsEntitiesCDATAAndNumericReferences() throws {
    let root = try #require(
      try read("<r><a>&lt;&amp;&gt;&quot;&apos;&#34;&#x41;</a><b><![CDATA[<x>&amp;]]>y</b></r>").root)
    #expect(root.string("a") == "<&>\"'\"A")
    #expect(root.string("b") == "<x>&amp;y")
  }

  @Test func matchesLocalNamesWhateverThePrefixAndEvenIfItWasNeverDeclared() throws {
    let root = try #require(try read("<s3:R><ns0:Key xmlns:ns0='u'>k</ns0:Key><x:Size>7</x:Size></s3:R>").root)
    #expect(root.name == "R")
    #expect(root.string("Key") == "k")
    #expect(root.integer("Size", in: 0...9) == 7)
  }

  @Test func takesNoUnicodeLookalikeForAName() throws {
    // U+212A KELVIN SIGN equals K for Swift's ==.
    let root = try #require(try read("<r><\u{212A}ey>no</\u{212A}ey><Key>yes</Key></r>").root)
    #expect(root.string("Key") == "yes")
  }

  @Test func dropsTextBesideChildrenAndKeepsThatOfLeaves() throws {
    let root = try #require(try read("<r> t <a>1</a> t <b> 2 </b> t </r>").root)
    #expect(root.text == "")
    #expect(root.string("a") == "1")
    #expect(root.string("b") == " 2 ")
    #expect(root.integer("b", in: 0...9) == 2)
  }

  @Test func whiteSpaceBeforeTheDeclarationIsAllowed() throws {
    #expect(try read(" \n\r\t  <?xml version='1.0'?><r/>").root?.name == "r")
  }

  @Test(arguments: ["", "   \n", "<r>", "<r><a>1</a>", "<r", "<r><a>te", "<?xml version='1.0'", "<r><![CDATA[x"])
  func sayThatADocumentIsCutOff(_ text: String) {
    #expect(throws: XMLFault.cutOff) { try read(text) }
  }

  @Test func everyProperBeginningOfADocumentIsRefused() throws {
    let whole = Array(S3Answers.parts.utf8)
    _ = try XMLReader.read(whole)
    for count in 0..<whole.count {
      #expect(throws: XMLFault.cutOff) { try XMLReader.read(Array(whole.prefix(count))) }
    }
  }

  @Test(arguments: ["hello", "<a></b>", "{\"a\":1}", "<r>&nbsp;</r>", "<r>\u{1}</r>", "<r/><r/>", "<r a=1/>"])
  func sayThatADocumentIsNotXML(_ text: String) {
    #expect(throws: XMLFault.malformed) { try read(text) }
  }

  @Test func refusesBytesThatAreNoText() {
    #expect(throws: XMLFault.malformed) { try XMLReader.read([0x3C, 0x72, 0x3E, 0xFF, 0xFE, 0x3C, 0x2F, 0x72, 0x3E]) }
    #expect(throws: XMLFault.self) { try XMLReader.read((0...255).map { UInt8($0) }) }
    #expect(throws: XMLFault.self) { try XMLReader.read([UInt8](repeating: 0, count: 10_000)) }
  }

  @Test func refusesDocumentTypesAndWithThemEntityBombs() {
    let bomb = """
      <?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
      <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><r>&c;</r>
      """
    #expect(throws: XMLFault.documentType) { try read(bomb) }
    #expect(throws: XMLFault.documentType) { try read("<!DOCTYPE r SYSTEM \"file:///etc/passwd\"><r/>") }
    #expect(throws: XMLFault.documentType) { try read("<!DOCTYPE html><html></html>") }
    #expect(XMLReader.readWhatThereIs(Array(bomb.utf8)).root == nil)
  }

  @Test func boundsDepth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    }
    _ = try read(nested(XMLReader.maximumDepth))
    #expect(throws: XMLFault.tooLarge) { try read(nested(XMLReader.maximumDepth + 1)) }
    #expect(throws: XMLFault.tooLarge) { try read(String(repeating: "<a>", count: 1_000_000)) }
  }

  @Test func boundsElementsAndNames() {
    let many = "<r>" + String(repeating: "<a/>", count: XMLReader.maximumElements) + "</r>"
    #expect(throws: XMLFault.tooLarge) { try read(many) }
    let name = String(repeating: "n", count: XMLReader.maximumName + 1)
    #expect(throws: XMLFault.tooLarge) { try read("<\(name)/>") }
  }

  @Test func boundsText() throws {
    let ten = String(repeating: "x", count: 10 << 20)
    #expect(try read("<r>\(ten)</r>").root?.text.utf8.count == 10 << 20)
    #expect(throws: XMLFault.tooLarge) { try read("<r>\(ten)\(ten)\(ten)\(ten)</r>") }
  }

  @Test func tenThousandPartsAreReadInAMoment() throws {
    let part = "<Part><PartNumber>1</PartNumber><ETag>&quot;e&quot;</ETag><Size>8388608</Size></Part>\n"
    let text = "<ListPartsResult>" + String(repeating: part, count: 10_000) + "</ListPartsResult>"
    let began = threadTime()
    #expect(Array(try #require(try read(text).root).children).count == 10_000)
    // Some tens of milliseconds; a quadratic reader would need minutes.
    #expect(threadTime() - began < .seconds(10))
  }

  @Test func whatWasReadBeforeABadEndIsKept() {
    let tree = XMLReader.readWhatThereIs(Array("<Error><Code>SlowDown</Code><Message>Plea".utf8))
    #expect(tree.root?.string("Code") == "SlowDown")
    #expect(tree.root?.string("Message") == nil)
  }

  @Test func whatTheWriterWritesTheReaderReads() throws {
    var writer = XMLWriter()
    writer.open("r", namespace: "http://example.com/?a&b")
    writer.element("a", "<&>\"'\t\n\r é 😀")
    writer.close("r")
    #expect(try XMLReader.read(writer.bytes).root?.string("a") == "<&>\"'\t\n\r é 😀")
  }

  @Test func controlCharactersAreWrittenAsReferences() {
    var writer = XMLWriter()
    writer.element("a", "\u{1}\u{1F}")
    #expect(String(decoding: writer.bytes, as: UTF8.self).hasSuffix("<a>&#x1;&#x1F;</a>"))
  }
}
