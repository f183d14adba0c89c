import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct KeyNameTests {
  private let file = FilePath("/x/file")

  @Test("UTF-8 stays as it is, whatever else the name contains")
  func valid() throws {
    for name in ["a", "a%20b", "é/😀", "-a", "a\nb\t\"'\\", "a/.b/..c", " ", "%FF"] {
      #expect(try KeyName(prefix: "p/").key(of: Array(name.utf8), file) == "p/" + name)
      #expect(try KeyName(prefix: "", .refuse).key(of: Array(name.utf8), file) == name)
    }
  }

  @Test("Invalid bytes are escaped, and so are percent signs next to them, so that the name can be restored")
  func escaped() throws {
    let cases: [([UInt8], String)] = [
      ([0xFF], "%FF"), ([0x61, 0xC3], "a%C3"), ([0xC3, 0x28], "%C3("), ([0xED, 0xA0, 0x80], "%ED%A0%80"),
      ([0xF0, 0x9F, 0x98], "%F0%9F%98"), ([0xC0, 0x80], "%C0%80"), ([0x25, 0xFE], "%25%FE"),
      (Array("é%".utf8) + [0x80], "é%25%80"), (Array("100%/".utf8) + [0xFF], "100%/%FF"),
      ([0xFF, 0x2F] + Array("a%".utf8), "%FF/a%"), ([0xF5, 0x80, 0xBF], "%F5%80%BF"),
    ]
    for (name, key) in cases {
      #expect(try KeyName(prefix: "").key(of: name, file) == key)
      let failure = #expect(throws: Failure.self) { try KeyName(prefix: "", .refuse).key(of: name, file) }
      #expect(failure?.code == .usage && failure?.place.file == "/x/file")
    }
    var random = SeededRandom(seed: 1)
    for _ in 0..<2000 {
      let name = (0..<6).map { _ in
        [0x25, 0x41, 0x80, 0xC3, 0xA9, 0xED, 0xF0, 0x9F, 0xFF].randomElement(using: &random) ?? 0
      }
      guard let escaped = KeyName.escaped(name.map { UInt8($0) }) else { continue }
      #expect(String(validating: escaped, as: UTF8.self) != nil)
      #expect(PercentEncoding.bytes(of: escaped).map { Int($0) } == name)
      #expect(KeyName.restored(escaped).map { $0.map { Int($0) } } == name)
    }
  }

  @Test(
    "A key that no escaped name has is not restored",
    arguments: ["plain", "100%", "%", "%41", "a%2Fb%FF", "%00", "%c3%28", "%C3%A9", "%E9%", "%25", "é%FG", "%2E%2E"])
  func notRestored(_ key: String) { #expect(KeyName.restored(Array(key.utf8)) == nil) }

  @Test("A key of more than 1,024 bytes is refused with the file's name, the prefix and the escapes included")
  func long() throws {
    #expect(try KeyName(prefix: "pé/").key(of: Array(repeating: 0x61, count: 1020), file).utf8.count == 1024)
    for (prefix, name) in [("pé/", [UInt8](repeating: 0x61, count: 1021)), ("", [UInt8](repeating: 0xFF, count: 342))] {
      let failure = #expect(throws: Failure.self) { try KeyName(prefix: prefix).key(of: name, file) }
      #expect(failure?.place.file == "/x/file" && failure?.message.contains("bytes") == true)
    }
  }

  @Test("Names that tools mangle are refused", arguments: ["", ".", "..", "a/../b", "./a", "a/", "/a", "a//b", "a/."])
  func mangled(_ name: String) {
    #expect(throws: Failure.self) { try KeyName(prefix: "p/").key(of: Array(name.utf8), file) }
  }
}
