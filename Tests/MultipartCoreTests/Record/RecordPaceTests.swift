import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct RecordPaceTests {
  /// The indices of the parts, given as (second, MiB), that make the record durable.
  private func flushes(_ parts: [(Double, Int64)]) -> [Int] {
    var pace = FlushPace()
    return parts.indices.filter { index in
      let now = Duration.seconds(parts[index].0)
      guard pace.isDue(after: parts[index].1 << 20, now: now) else { return false }
      pace.flushed(now: now)
      return true
    }
  }

  @Test("Slow parts are made durable at once, fast ones every second or every 64 MiB")
  func paces() {
    #expect(flushes([(0, 8), (1, 8), (2.5, 8), (60, 8)]) == [0, 1, 2, 3])
    #expect(flushes([(0, 1), (0.3, 1), (0.6, 1), (0.99, 1), (1.0, 1), (1.5, 1), (2.0, 1)]) == [0, 4, 6])
    #expect(flushes((0..<18).map { (Double($0) / 1000, 8) }) == [0, 8, 16])
    #expect(flushes([(0, 8), (0.1, 64), (0.2, 64), (0.3, 63)]) == [0, 1, 2])
  }

  @Test("A clock that stops or goes back, and huge sizes, do no harm")
  func odd() {
    #expect(flushes([(5, 1), (5, 1), (1, 1), (1, 63)]) == [0, 3])
    var pace = FlushPace()
    pace.flushed(now: .zero)
    let due = [pace.isDue(after: .max, now: .zero), pace.isDue(after: .max, now: .zero)]
    #expect(due == [true, true])
  }

  @Test("A digest of options differs for any two lists, but not for another order of names")
  func digests() throws {
    func digest(_ entries: [(String, String?)]) throws -> String {
      var digest = OptionsDigest()
      for (name, value) in entries { digest.add(name, value) }
      return try digest.hex()
    }
    let lists: [[(String, String?)]] = [
      [], [("a", nil)], [("a", "")], [("", "a")], [("a", "b")], [("ab", "")], [("a", "b"), ("a", "c")],
      [("a", "c"), ("a", "b")], [("a", "b"), ("c", "")], [("a", "bc")], [("a", "\u{E9}")], [("a", "e\u{301}")],
      [("a", "b\0c")], [("a", "b"), ("a", "b")], [("\u{E9}", "")], [("e\u{301}", "")],
    ]
    let digests = try lists.map(digest)
    #expect(Set(digests).count == lists.count)
    #expect(digests.allSatisfy { $0.count == 64 })
    #expect(try digest([("b", "1"), ("a", "2"), ("c", nil)]) == digest([("c", nil), ("a", "2"), ("b", "1")]))
    #expect(try digest([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }
}
