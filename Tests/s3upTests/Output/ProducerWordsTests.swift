import Glibc
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import s3up

@Suite struct ProducerWordsTests {
  private static func lines(_ pieces: [String]) -> [String] {
    var lines = WordLines()
    let whole = pieces.flatMap { lines.take(Array($0.utf8), at: .zero) }
    return (whole + lines.rest()).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("Output is split into lines, however it is chunked, and the last one needs no newline")
  func lines() {
    #expect(Self.lines(["one\ntw", "o\n", "\nthree"]) == ["one", "two", "", "three"])
    #expect(Self.lines(["1%\r2%\r", "3%\r\nend\r\n"]) == ["3%", "end"])
    #expect(Self.lines([String(repeating: "a", count: 100_000)]).map(\.utf8.count) == [65_536, 34_464])
  }

  @Test("A prompt without a newline is shown after a moment, a line that keeps being redrawn is not")
  func late() {
    var lines = WordLines()
    _ = lines.take(Array("Password: ".utf8), at: .seconds(1))
    #expect(lines.late(.milliseconds(1200), patience: .milliseconds(300)) == [])
    #expect(lines.late(.milliseconds(1300), patience: .milliseconds(300)) == [Array("Password: ".utf8)])
    #expect(lines.rest() == [])
    _ = lines.take(Array("1%\r".utf8), at: .seconds(2))
    #expect(lines.late(.seconds(9), patience: .milliseconds(300)) == [])
  }

  @Test("A command's output is shown above the progress line, even its last line, and never mixed with it")
  func above() async throws {
    let paper = Locked<[UInt8]>([])
    let console = Console { new in paper.withLock { $0 += new } }
    let words = ProducerWords(console)
    console.live("bar")
    let errors = try #require(words.begin())
    let command = "echo one >&2; echo two >&2; printf three >&2"
    let producer = try ProducerProcess(["sh", "-c", command].map { Array($0.utf8) }, errors: errors)
    close(errors)
    close(producer.takeDescriptor())
    #expect(try await producer.wait() == .exited(0))
    words.end()
    let text = String(decoding: paper.withLock { $0 }, as: UTF8.self)
    let clear = "\r\u{1b}[K"
    #expect(text == "\(clear)bar\(clear)one\nbar\(clear)two\nbar\(clear)three\nbar")
  }
}
