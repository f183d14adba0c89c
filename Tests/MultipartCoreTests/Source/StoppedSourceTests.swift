@testable import MultipartCore
import Support
import Testing

@Suite(.timeLimit(.minutes(15))) struct StoppedSourceTests {
  @Test("Cancelled checksums end at the next window")
  func stopsHashing() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write([UInt8](repeating: 1, count: 4 << 20), to: "file")
    let slice = PartSlice(file: try SourceFile(FilePath(path)), offset: 0, length: 4 << 20)
    var asked = 0
    do throws(Failure) {
      _ = try slice.checksums([.sha256]) {
        asked += 1
        return asked == 3
      }
      Issue.record("it went on to the end")
    } catch {
      #expect(error.code == .interrupted)
    }
    #expect(asked == 3)
  }

  @Test(
    "A file that reports a size of zero but has contents is refused", arguments: ["/proc/self/status", "/proc/cpuinfo"])
  func hidesItsLength(_ path: String) {
    #expect(throws: Failure.self) { try SourceFile(FilePath(path)) }
  }
}
