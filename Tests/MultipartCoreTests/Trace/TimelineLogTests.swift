import Foundation
import MultipartBasics
import Testing

@testable import MultipartCore

/// What happens becomes slices that a viewer can show, and totals that are right whatever is left out.
@Suite struct TimelineLogTests {
  private struct Event: Decodable {
    struct Arguments: Decodable {
      var name: String?
      var cause: String?
      var bytes: Int64?
      var error: String?
    }

    var ph: String
    var pid: Int
    var tid: Int
    var ts: Int
    var dur: Int?
    var name: String
    var cat: String?
    var args: Arguments?
  }

  private struct Document: Decodable { var traceEvents: [Event] }

  /// The slices of a trace.
  private func slices(_ log: TimelineLog, at end: Duration = .seconds(100)) throws -> [Event] {
    let log = log.closed(at: end)
    let text = TraceFormat.head + log.lines + TraceFormat.tail(log.figures)
    return try JSONDecoder().decode(Document.self, from: Data(text.utf8)).traceEvents.filter { $0.ph == "X" }
  }

  private func ends(_ port: Int32) -> ConnectionEnds {
    ConnectionEnds(local: "10.0.0.1", localPort: port, peer: "10.0.0.2", peerPort: 443)
  }

  private func begin(_ log: inout TimelineLog, _ operation: String = "UploadPart", at now: Duration) -> Int {
    log.begin(operation, Place(key: "k", part: 1), isDown: false, at: now)
  }

  @Test("A request is on the track of its connection while it has it, and a new connection has its own slice")
  func connection() throws {
    var log = TimelineLog()
    let first = begin(&log, at: .milliseconds(10))
    log.carries(first, part: 1, isCopy: false)
    log.goesOut(first, on: ends(1), at: .milliseconds(20))
    log.moved(first, 700, at: .milliseconds(30))
    log.ended(first, at: .milliseconds(30))
    let second = begin(&log, at: .milliseconds(21))
    log.goesOut(second, on: ends(1), at: .milliseconds(31))
    log.end(request: second, nil, status: 503, at: .milliseconds(50))
    // Told late, when its connection is another's.
    log.end(request: first, nil, status: 200, at: .milliseconds(60))
    let slices = try slices(log)
    #expect(slices.map(\.name) == ["connect", "UploadPart", "part 1"])
    #expect(slices.map(\.cat) == ["connect", "failed", "part"])
    #expect(Set(slices.map(\.tid)) == [1] && Set(slices.map(\.pid)) == [TraceTrack.Group.connections.rawValue])
    #expect(slices.map(\.ts) == [10_000, 31_000, 20_000] && slices.map(\.dur) == [10_000, 19_000, 10_000])
    #expect(slices[2].args?.bytes == 700 && log.figures.bytesSent == 700)
    #expect(log.figures.requests == 2 && log.figures.failedRequests == 1 && log.figures.parts == 1)
  }

  @Test("A request whose end was not told yet leaves its connection to the next one")
  func handedOver() throws {
    var log = TimelineLog()
    let (first, second) = (begin(&log, at: .zero), begin(&log, at: .zero))
    log.goesOut(first, on: ends(1), at: .milliseconds(1))
    log.goesOut(second, on: ends(1), at: .milliseconds(5))
    log.ended(first, at: .milliseconds(6))
    log.end(request: first, nil, status: 200, at: .milliseconds(7))
    log.end(request: second, nil, status: 200, at: .milliseconds(9))
    let slices = try slices(log).filter { $0.cat != "connect" }
    #expect(slices.map(\.ts) == [1000, 5000] && slices.map(\.dur) == [4000, 4000])
  }

  @Test(
    "What a part waits for the store is a slice of its own, after an upload and before a download",
    arguments: [true, false])
  func answer(_ isDown: Bool) throws {
    var log = TimelineLog()
    let request = log.begin("R", Place(key: "k"), isDown: isDown, at: .zero)
    log.carries(request, part: 1, isCopy: false)
    log.goesOut(request, on: ends(1), at: .zero)
    log.moved(request, 1, at: .milliseconds(20))
    log.moved(request, 2, at: .milliseconds(30))
    log.end(request: request, nil, status: 200, at: .milliseconds(100))
    let slices = try slices(log).sorted { $0.ts < $1.ts }
    #expect(slices.map(\.cat) == (isDown ? ["answer", "part"] : ["part", "answer"]))
    #expect(slices.map(\.ts) == (isDown ? [0, 20_000] : [0, 30_000]))
    #expect(slices.map(\.dur) == (isDown ? [20_000, 80_000] : [30_000, 70_000]))
    #expect(slices.compactMap { $0.args?.bytes } == [3] && log.figures.parts == 1)
  }

  @Test("A request that libcurl repeats on another connection is on both, once as failed")
  func repeated() throws {
    var log = TimelineLog()
    let request = begin(&log, at: .zero)
    log.carries(request, part: 1, isCopy: false)
    log.goesOut(request, on: ends(1), at: .milliseconds(1))
    log.moved(request, 300, at: .milliseconds(2))
    log.goesOut(request, on: ends(2), at: .milliseconds(4))
    log.moved(request, 500, at: .milliseconds(9))
    log.end(request: request, nil, status: 200, at: .milliseconds(9))
    let slices = try slices(log).filter { $0.cat != "connect" }
    #expect(slices.map(\.tid) == [1, 2] && slices.map(\.cat) == ["failed", "part"])
    #expect(slices.map { $0.args?.bytes } == [300, 500])
    #expect(log.figures.requests == 1)
  }

  @Test("Hundreds of connections, one after the other, share 128 tracks, and no slices of one overlap")
  func manyConnections() throws {
    var log = TimelineLog()
    var open: [Int] = []
    for number in 0..<1000 {
      let now = Duration.milliseconds(number)
      let request = begin(&log, at: now)
      log.goesOut(request, on: ends(Int32(number)), at: now + .microseconds(500))
      open.append(request)
      guard open.count > 20 else { continue }
      log.end(request: open.removeFirst(), nil, status: 200, at: now + .microseconds(600))
    }
    let slices = try slices(log)
    #expect(Set(slices.map(\.tid)).count == TraceConnections.most)
    expectApart(slices)
  }

  private func expectApart(_ slices: [Event], where location: SourceLocation = #_sourceLocation) {
    for (_, slices) in Dictionary(grouping: slices, by: { [$0.pid, $0.tid] }) {
      var end = 0
      for slice in slices.sorted(by: { $0.ts < $1.ts }) {
        #expect(slice.ts >= end, "\(slice)", sourceLocation: location)
        end = slice.ts + (slice.dur ?? 0)
      }
    }
  }

  @Test("What happens at the same time on this machine has tracks of its own, which are used again")
  func lanes() throws {
    var log = TimelineLog()
    for (from, to) in [(0, 10), (5, 15), (10, 20), (12, 13), (20, 30), (21, 22)] {
      log.worked("w", from: .milliseconds(from), to: .milliseconds(to), [])
    }
    log.worked("too short to be seen", from: .milliseconds(40), to: .milliseconds(40) + .microseconds(99), [])
    let slices = try slices(log)
    #expect(slices.map(\.tid) == [1, 2, 1, 3, 1, 2])
    expectApart(slices)
  }

  @Test("A wait that the end of the run cuts short ends with it, and the causes are counted, at most forty of them")
  func waits() throws {
    var log = TimelineLog()
    log.wait(.retry, "part 1, before try 2", for: .seconds(3), at: .seconds(1), cause: "throttled")
    log.wait(.retry, "part 2, before try 2", for: .seconds(60), at: .seconds(2), cause: "server")
    log.wait(.wait, "quiet", for: .seconds(60), at: .seconds(5), cause: "adoption")
    let slices = try slices(log, at: .seconds(10))
    #expect(slices.map(\.ts) == [1_000_000, 2_000_000, 5_000_000])
    #expect(slices.map(\.dur) == [3_000_000, 8_000_000, 5_000_000])
    #expect(slices.map { $0.args?.cause } == ["throttled", "server", "adoption"])
    for number in 0..<100 { log.wait(.retry, "p", for: .zero, at: .seconds(6), cause: "cause \(number)") }
    #expect(log.figures.retries == 102 && log.figures.causes.values.reduce(0, +) == 102)
    #expect(log.figures.causes.count == 41 && log.figures.causes[RunFigures.otherCauses] == 62)
  }

  @Test("What is under way when the trace is written is in it, and the run goes on")
  func unfinished() throws {
    var log = TimelineLog()
    let object = log.begin(object: Place(file: "f", bucket: "b", key: "k"), at: .seconds(1))
    log.enter(object, .sending, at: .seconds(1))
    let request = begin(&log, at: .seconds(2))
    log.goesOut(request, on: ends(1), at: .seconds(2))
    let early = try slices(log, at: .seconds(3))
    #expect(early.map(\.cat) == ["stopped", "phase", "stopped"])
    #expect(early.map { $0.args?.error } == ["unfinished", nil, "unfinished"])
    log.enter(object, .assembling, at: .seconds(4))
    log.end(request: request, nil, status: 200, at: .seconds(4))
    log.end(object: object, nil, TraceTotals(parts: 1, size: 2, resumed: 0, evidence: "e"), at: .seconds(5))
    #expect(try slices(log).map(\.cat) == ["phase", "request", "assembly", "object"])
  }

  @Test("Names that are code or marks elsewhere are read back as they were, and each event is one line")
  func hostile() throws {
    let names = [
      "\"", "\\", "</script>", "\u{600}\"", "a\u{301}\"", "\n\r\t\u{0}\u{1b}", "\u{2028}\u{202e}", "\u{fffd}", "😀",
      "'&<",
    ]
    var log = TimelineLog()
    for name in names { log.worked(name, from: .zero, to: .seconds(1), [("key", .string(name))]) }
    #expect(try slices(log).map(\.name) == names)
    let lines = log.lines.split(separator: "\n").filter { $0.contains(#""ph":"X""#) }
    #expect(lines.count == names.count)
    #expect(!log.lines.unicodeScalars.contains { SafeText.isHarmful($0) && $0 != "\n" })
  }

  @Test("Beyond the most events a trace has no more, counts what it left out, and its totals have all")
  func bounded() throws {
    var log = TimelineLog(most: 10)
    for number in 0..<25 {
      let request = begin(&log, at: .milliseconds(number))
      log.carries(request, part: number + 1, isCopy: false)
      log.moved(request, 100, at: .milliseconds(number))
      log.end(request: request, nil, status: 200, at: .milliseconds(number))
    }
    #expect(try slices(log).count == 10)
    let figures = log.closed(at: .seconds(1)).figures
    #expect(figures.leftOut == 15 && figures.bytesSent == 2500 && figures.parts == 25)
    #expect(figures.totals.encoded.contains("\"events_left_out\":15"))
  }

  @Test("A timeline that nothing has used is a whole trace, and a place that cannot be written is a failure of output")
  func empty() throws {
    let path = FileManager.default.temporaryDirectory.path + "/timeline-\(UInt64.random(in: 0 ... .max)).json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Timeline().writeTrace(to: path)
    let text = try Data(contentsOf: URL(fileURLWithPath: path))
    let events = try JSONDecoder().decode(Document.self, from: text).traceEvents
    #expect(events.map(\.ph) == ["M"])
    let failure = #expect(throws: Failure.self) { try Timeline().writeTrace(to: "/nowhere/trace.json") }
    #expect(failure?.code == .output)
  }
}
