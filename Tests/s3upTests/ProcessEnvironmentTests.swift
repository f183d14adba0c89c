import Glibc
@testable import MultipartCore
import Testing

@testable import s3up

@Suite(.timeLimit(.minutes(15))) struct ProcessEnvironmentTests {
  /// The variables as the kernel passes them: a list of strings with a null pointer at the end.
  private static func read(_ entries: [[UInt8]]) -> [String: String] {
    let texts = entries.map { entry in
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: entry.count + 1)
      for (index, byte) in (entry + [0]).enumerated() { text[index] = CChar(bitPattern: byte) }
      return text
    }
    defer { for text in texts { text.deallocate() } }
    var block: [UnsafeMutablePointer<CChar>?] = texts
    block.append(nil)
    return block.withUnsafeMutableBufferPointer { $0.baseAddress.map { ProcessEnvironment.variables($0) } ?? [:] }
  }

  @Test("If a variable occurs twice, the first counts; an entry without = is ignored; a value may contain =")
  func doubled() {
    let found = Self.read(
      ["A=1", "A=2", "HOME=/h", "NONE", "B=x=y=", "C=", "C=later", "=odd", "HOME=/other", ""].map { Array($0.utf8) })
    #expect(found == ["A": "1", "HOME": "/h", "B": "x=y=", "C": "", "": "odd"])
  }

  @Test("Invalid UTF-8 in a variable is replaced; without HOME it is the system's")
  func bytes() {
    let found = Self.read([Array("A=".utf8) + [0xFF, 0x41], [0xFE] + Array("=1".utf8)])
    #expect(found["A"] == "\u{FFFD}A" && found["\u{FFFD}"] == "1")
    #expect(found["HOME"] == ProcessEnvironment.home(of: geteuid()))
  }
}
