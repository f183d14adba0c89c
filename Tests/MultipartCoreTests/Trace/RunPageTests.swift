import Foundation
import MultipartBasics
import Testing

@testable import MultipartCore

/// The page of a run: nothing that a name or a store says becomes part of the page, and it shows what the timeline has.
@Suite struct RunPageTests {
  private static let hostile = [
    "</script><script>alert(1)</script>", "</title><b>", "\" onload=\"x", "'><img src=x>", "\u{600}<b>", "\u{600}\"x=",
    "<\u{301}b>", "a\u{0}b\u{1b}[31m\n<i>", "\u{202e}<u>", "]]>", "&lt;s&gt;",
  ]

  private func page(_ figures: RunFigures, title: String = "t", plan: [String] = [], end: [String] = ["e"]) -> [String]
  {
    RunPage(figures: figures, title: title, plan: plan, end: end, nonce: "NONCE").lines
  }

  private func figures(_ texts: [String]) -> RunFigures {
    var log = TimelineLog()
    for text in texts {
      let object = log.begin(object: Place(file: text, key: text), at: .zero)
      log.wait(.retry, text, for: .seconds(1), at: .seconds(1), cause: text)
      log.mark(text, at: .seconds(1))
      log.add(TraceSlice(TraceTrack(.work, 1), .failed, text, from: .zero, to: .seconds(1), [("error", .string(text))]))
      log.look(LineSample(at: .zero, delivered: 1), width: 1, at: .seconds(1))
      log.figures.learned(text)
      log.end(object: object, text, nil, at: .seconds(2))
    }
    return log.closed(at: .seconds(3)).figures
  }

  /// The elements of the page: what stands between `<` and `>`, by bytes.
  private func elements(_ lines: [String]) -> [String] {
    let bytes = Array(lines.joined(separator: "\n").utf8)
    return bytes.split(separator: UInt8(ascii: "<")).dropFirst().map { piece in
      String(decoding: piece.prefix { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }
  }

  @Test("Whatever names, causes and messages hold, the page has the elements that it has for plain ones")
  func escaped() {
    for text in Self.hostile {
      let plain = page(figures(["plain"]), title: "plain", plan: ["plain"], end: ["plain"])
      let lines = page(figures([text]), title: text, plan: [text], end: [text])
      #expect(elements(lines) == elements(plain), "\(text.debugDescription)")
      #expect(lines.count == plain.count)
      #expect(!lines.contains { $0.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202e } })
    }
    #expect(!elements(page(figures(Self.hostile))).contains("script"))
  }

  @Test("The page allows nothing from elsewhere and no script, and begins as an earlier one is known")
  func policy() {
    let lines = page(figures(["k"]))
    #expect(lines.first == RunPage.firstLine)
    #expect(
      lines.contains { $0.contains("default-src 'none'; style-src 'nonce-NONCE'; base-uri 'none'; form-action 'none'") }
    )
    let text = lines.joined()
    for word in ["http:", "https:", "src=", "href", "@import", "url(", " style=", "onload"] {
      #expect(!text.contains(word), "\(word)")
    }
  }

  @Test("A run of a hundred thousand files in many waits and connections is a page of less than a megabyte")
  func bounded() {
    var log = TimelineLog(keepsLines: false)
    for number in 0..<100_000 {
      let from = Duration.milliseconds(number)
      let (object, track) = (log.begin(object: Place(key: "k\(number)"), at: from), number % 200 + 1)
      log.add(TraceSlice(TraceTrack(.connections, track), .part, "object", from: from, to: from + .milliseconds(150)))
      log.end(object: object, number.isMultiple(of: 1000) ? "server: \(number)" : nil, nil, at: from + .milliseconds(1))
    }
    let lines = page(log.closed(at: .seconds(200)).figures)
    #expect(lines.reduce(0) { $0 + $1.utf8.count + 1 } < 1 << 20)
    #expect(lines.allSatisfy { $0.utf8.count < 60_000 })
    #expect(lines.contains { $0.contains("And 80 more.") })
    #expect(lines.contains { $0.contains("More tracks than fit here are not drawn") })
  }

  @Test("A run in which nothing was seen has a page too")
  func empty() {
    let lines = page(RunFigures())
    #expect(lines.last == "</body></html>")
    #expect(lines.contains("<p>Nothing was tried again.</p>"))
  }

  @Test(
    "The steps of an axis are 1, 2 or 5 times a power of ten",
    arguments: [(0.0001, 0.0001), (0.13, 0.2), (3, 5), (70, 100)])
  func axis(_ value: Double, _ step: Double) {
    #expect(abs(RunChart.round(value) / step - 1) < 1e-9)
  }
}
