import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@testable import s3up

@Suite struct PartsFileTests {
  private func parse(_ text: String) throws(Failure) -> [UploadedPart] {
    try PartsFile.parse(Array(text.utf8), name: "list")
  }

  @Test("all forms of a line give the same part, in any order")
  func forms() throws {
    let sum = "yZRlqg=="
    for line in [
      "2 100 \"e2\" crc32:\(sum)", " 2\t100 \"e2\"  crc32:\(sum)\r",
      #"{"part":2,"size":100,"etag":"\"e2\"","checksums":{"crc32":"\#(sum)"}}"#,
      #"  {"part": 2, "size": 100, "etag": "\"e2\"", "checksums": {"crc32": "\#(sum)"}}"#,
    ] {
      let lines = try parse("# parts\n\n\(line)\n1 e1")
      #expect(lines.map(\.number) == [1, 2] && lines.map(\.etag) == ["e1", "\"e2\""], "\(line)")
      #expect(lines.map(\.size) == [nil, 100])
      #expect(lines[0].checksums.isEmpty && lines[1].checksums == [.crc32: sum], "\(line)")
    }
  }

  @Test(
    "a line that is not a part, or a part that is listed twice, is refused with its line or part number",
    arguments: [
      ("1", "line 1"), ("1 a\nx b", "line 2"), ("0 a", "line 1"), ("10001 a", "line 1"), ("1 x a", "line 1"),
      ("1 -5 a", "line 1"), ("1 5 a crc32:zz", "line 1"), ("1 5 a b", "line 1"), ("{\"part\":1}", "line 1"),
      ("{\"part\":1,\"etag\":\"\"}", "line 1"), ("{\"part\":1", "line 1"), ("1 a\n2 b\n1 a", "part 1 is twice"),
    ])
  func refused(_ text: String, _ words: String) throws {
    let failure = #expect(throws: Failure.self) { try parse(text) }
    #expect(failure?.code == .usage && failure?.message.contains(words) == true, "\(String(describing: failure))")
  }

  @Test(
    "missing numbers are named in ranges, up to a limit",
    arguments: [
      ([1, 2, 3], [], ""), ([2], [1], "part 1"), ([1, 4], [2, 3], "parts 2-3"),
      ([1, 3, 7], [2, 4, 5, 6], "parts 2 and 4-6"),
    ])
  func missing(_ numbers: [Int], _ missing: [Int], _ text: String) {
    #expect(PartNumbers.missing(in: numbers) == missing)
    if !missing.isEmpty { #expect(PartNumbers.text(missing) == text) }
  }

  @Test("the remaining missing numbers are counted")
  func many() {
    let every = Array(stride(from: 1, through: 9999, by: 2))
    #expect(PartNumbers.text(PartNumbers.missing(in: every)) == "parts 2, 4, 6, 8 and 4995 more")
    #expect(PartNumbers.text([2, 5, 6, 7, 8, 9] + Array(11...41)) == "parts 2, 5-9 and 11-41")
    #expect(PartNumbers.missing(in: [10_000]).count == 9999)
  }
}
