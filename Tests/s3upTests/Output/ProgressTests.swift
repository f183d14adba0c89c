import Foundation
import Glibc
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import s3up

/// Counts columns as the C library does, as an independent check of our own count.
private func wcwidthColumns(_ text: String) -> Int {
  // Glibc's module leaves `wcwidth` out (it is part of XOPEN), but the library has it.
  guard let symbol = dlsym(nil, "wcwidth") else { return .max }
  let wcwidth = unsafeBitCast(symbol, to: (@convention(c) (wchar_t) -> Int32).self)
  let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
  let before = uselocale(locale)
  defer {
    uselocale(before)
    freelocale(locale)
  }
  return text.unicodeScalars.reduce(0) { $0 + max(0, Int(wcwidth(wchar_t($1.value)))) }
}

private let names = [
  "f", "backup.tar", "日本語のとても長いファイル名.tar.gz", "👩‍👩‍👧‍👦 family 😀😀😀😀😀😀.zip", "e\u{301}\u{301}\u{301}clair",
  "evil\u{1b}[2J\r\nname",
  String(repeating: "long", count: 200), "한국어 파일", "❤️☎️.txt", "",
]

private func states(_ name: String) -> [ProgressState] {
  var running = ProgressState(name: name, total: 1_610_612_736, parts: 192)
  running.done = 805_306_368
  running.partsDone = 90
  running.connections = 8
  running.rate = 87_031_808
  running.eta = .seconds(65)
  var done = ProgressState(name: name, total: 0, parts: 1)
  done.partsDone = 1
  var stream = ProgressState(name: name, total: nil)
  stream.done = Int64.max
  stream.rate = 1
  stream.partsDone = 9999
  var huge = running
  huge.total = Int64.max
  huge.done = Int64.max - 1
  huge.parts = 10_000
  huge.eta = .seconds(300 * 86_400)
  var over = running
  over.done = .max
  return [ProgressState(name: name, total: 5), running, done, stream, huge, over]
}

@Suite(.timeLimit(.minutes(15))) struct ProgressLineTests {
  @Test(arguments: names)
  func theLineNeverExceedsTheWidth(_ name: String) {
    for state in states(name) {
      for width in 0...200 {
        let line = ProgressLine.draw(state, width: width)
        #expect(TextWidth.columns(line) <= width, "\(width): \(line)")
        #expect(wcwidthColumns(line) <= width, "\(width): \(line)")
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 })
      }
    }
  }

  @Test func aWideTerminalShowsAll() {
    let state = states("backup.tar")[1]
    #expect(
      ProgressLine.draw(state, width: 140)
        == "backup.tar  [==============>             ]  50%  768 MiB of 1.5 GiB  83 MiB/s  ETA 1m05s  parts 90/192  8 connections"
    )
  }

  @Test func anEightyColumnTerminalShowsWhatMattersMost() {
    let line = ProgressLine.draw(states("backup.tar")[1], width: 79)
    for word in ["backup.tar", "50%", "768 MiB of 1.5 GiB", "83 MiB/s", "ETA 1m05s"] {
      #expect(line.contains(word), "\(line)")
    }
  }

  @Test func aNarrowTerminalKeepsNameAndPercent() {
    let line = ProgressLine.draw(states("backup.tar")[1], width: 20)
    #expect(line.contains("50%") && line.contains("b"), "\(line)")
  }

  @Test func withoutATotalThereIsNoPercent() {
    let line = ProgressLine.draw(states("f")[3], width: 100)
    #expect(!line.contains("%"))
    #expect(line.contains("8.0 EiB") && line.contains("[~~"))
  }

  @Test func aHundredPercentMeansAll() {
    var state = ProgressState(name: "f", total: 100_000)
    state.done = 99_999
    #expect(ProgressLine.draw(state, width: 80).contains("99%"))
    state.done = 100_000
    #expect(ProgressLine.draw(state, width: 80).contains("100%"))
    #expect(ProgressLine.draw(ProgressState(name: "f", total: 0), width: 80).contains("100%"))
  }

  @Test("On a narrow line facts are dropped in one order, and the bar does not reappear")
  func order() {
    let all = ["[", "parts", "MiB/s", "GiB", "ETA", "connections", "%"]
    var last = Set(all)
    for width in stride(from: 140, through: 8, by: -1) {
      let line = ProgressLine.draw(states("backup.tar")[1], width: width)
      let shown = Set(all.filter { line.contains($0) })
      #expect(shown.isSubset(of: last), "\(width): \(line)")
      last = shown
    }
    #expect(last == ["%"])
  }

  @Test("When everything is sent and answers are missing, there is no time left")
  func allSent() {
    var meter = ProgressMeter()
    var state = ProgressState(name: "f", total: 1000)
    (state.done, state.transferred, state.connections) = (1000, 1000, 3)
    let measured = meter.measure(state, at: .seconds(1))
    #expect(measured.words == "waiting for the store" && measured.eta == nil && measured.rate == nil)
  }

  @Test func longNamesKeepBothEnds() {
    #expect(TextWidth.cut("abcdefghij", to: 5) == "ab…ij")
    #expect(TextWidth.cut("日本語日本語", to: 6) == "日…語")
    #expect(TextWidth.cut("abc", to: 3) == "abc")
    #expect(TextWidth.cut("abc", to: 1) == "…")
    #expect(TextWidth.cut("abc", to: 0) == "")
  }
}

@Suite(.timeLimit(.minutes(15))) struct RateMeterTests {
  @Test func aSteadyStreamHasARateAndATimeLeft() {
    var meter = RateMeter()
    meter.add(0, at: .zero)
    #expect(meter.rate == nil)
    for tick in 1...100 { meter.add(Int64(tick) * 100_000, at: .milliseconds(tick * 100)) }
    #expect(meter.rate.map { abs($0 - 1_000_000) < 1 } == true)
    #expect(meter.eta(remaining: 60_000_000) == .seconds(60))
  }

  @Test func aStallIsShownWithinSeconds() {
    var meter = RateMeter()
    for tick in 0...300 { meter.add(Int64(tick) * 100_000, at: .milliseconds(tick * 100)) }
    for tick in 301...310 { meter.add(30_000_000, at: .milliseconds(tick * 100)) }
    #expect(meter.rate.map { $0 > 700_000 && $0 < 900_000 } == true)
    #expect(meter.eta(remaining: 80_000_000) == .seconds(100), "what remains by that rate")
    for tick in 311...400 { meter.add(30_000_000, at: .milliseconds(tick * 100)) }
    #expect(meter.rate == 0)
  }

  @Test func bytesThatAreTakenBackMakeNoNegativeRate() {
    var meter = RateMeter()
    meter.add(0, at: .zero)
    meter.add(8_000_000, at: .seconds(1))
    meter.add(0, at: .seconds(2))
    #expect(meter.rate == 0)
    #expect(meter.eta(remaining: -5) == nil)
  }

  @Test func withoutMovementThereIsNoTimeLeft() {
    var meter = RateMeter()
    for second in 0...5 { meter.add(0, at: .seconds(second)) }
    #expect(meter.eta(remaining: 1) == nil)
  }
}

@Suite(.timeLimit(.minutes(15))) struct ConsoleTests {
  private final class Paper: Sendable {
    private let bytes = Locked<[UInt8]>([])
    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
    var console: Console { Console { new in self.bytes.withLock { $0 += new } } }
  }

  private let clear = "\r\u{1b}[K"

  @Test func aLineClearsTheBarAndDrawsItAgain() {
    let paper = Paper()
    let console = paper.console
    console.line("one")
    console.live("bar 1")
    console.line("two")
    console.live("bar 2")
    console.finishLive("bar 3")
    console.line("three")
    #expect(paper.text == "one\n\(clear)bar 1\(clear)two\nbar 1\(clear)bar 2\(clear)bar 3\nthree\n")
  }

  @Test func aBarIsDrawnAtEachTickAndItsLastFrameStays() {
    let paper = Paper()
    let printer = ProgressPrinter(style: .bar, console: paper.console, width: { 41 })
    var state = ProgressState(name: "f", total: 10)
    printer.tick(state, now: .zero)
    state.done = 10
    printer.finish(state, now: .seconds(1))
    printer.finish(state, now: .seconds(2))
    printer.tick(state, now: .seconds(3))
    let frames = paper.text.components(separatedBy: clear)
    #expect(frames.count == 3, "\(frames)")
    #expect(frames[1].contains("0%"))
    #expect(frames[2].contains("100%") && frames[2].hasSuffix("\n"))
  }

  @Test func plainIsALineEachTenSeconds() {
    let paper = Paper()
    let printer = ProgressPrinter(style: .plain, console: paper.console, width: { 80 })
    var state = ProgressState(name: "f", total: 1000)
    for second in 0...25 {
      state.done = Int64(second)
      state.transferred = Int64(second)
      printer.tick(state, now: .seconds(second))
    }
    #expect(paper.text.split(separator: "\n").count == 2)
    printer.finish(state, now: .seconds(26))
    #expect(paper.text.split(separator: "\n").count == 3)
    #expect(!paper.text.contains("\u{1b}"))
    #expect(paper.text.hasPrefix("f: 1%, 10 B of 1000 B, "))
  }

  @Test("In a CI job there is a line at once and every 30 s, and no control character")
  func log() {
    let paper = Paper()
    let printer = ProgressPrinter(style: .log, console: paper.console, width: { 80 })
    var state = ProgressState(name: "f", total: 3 << 30)
    for second in 0...200 {
      state.done = Int64(second) * (15 << 20)
      state.transferred = state.done
      printer.tick(state, now: .seconds(second))
    }
    printer.finish(state, now: .seconds(201))
    let lines = paper.text.split(separator: "\n")
    #expect(lines.count == 7 && lines.first?.hasPrefix("f: 0%, 0 B of 3.0 GiB") == true, "\(lines)")
    #expect(lines.last?.hasPrefix("f: 87%, ") == true && paper.text.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0A })
  }

  @Test func noneWritesNothing() {
    let paper = Paper()
    let printer = ProgressPrinter(style: .none, console: paper.console, width: { 80 })
    let measured = printer.tick(ProgressState(name: "f", total: 10), now: .zero)
    #expect(measured.name == "f")
    printer.finish(measured, now: .seconds(20))
    #expect(paper.text.isEmpty)
  }

  @Test func aBarIsOnlyForTerminals() {
    #expect(ProgressPrinter.style(.auto, terminal: true, environment: ["TERM": "xterm"]) == .bar)
    #expect(ProgressPrinter.style(.auto, terminal: false, environment: [:]) == .none)
    #expect(ProgressPrinter.style(.auto, terminal: true, environment: ["TERM": "dumb"]) == .none)
    #expect(ProgressPrinter.style(.auto, terminal: true, environment: [:]) == .none)
    #expect(ProgressPrinter.style(.auto, terminal: false, environment: ["CI": "true"]) == .log)
    #expect(ProgressPrinter.style(.auto, terminal: true, environment: ["CI": "1", "TERM": "xterm"]) == .bar)
    for value in ["", "false", "0"] {
      #expect(ProgressPrinter.style(.auto, terminal: false, environment: ["CI": value]) == .none)
    }
    #expect(ProgressPrinter.style(.bar, terminal: false, environment: [:]) == .none)
    #expect(ProgressPrinter.style(.plain, terminal: false, environment: [:]) == .plain)
    #expect(ProgressPrinter.style(.none, terminal: true, environment: [:]) == .none)
  }

  @Test func linesOfManyThreadsStayWhole() async {
    let paper = Paper()
    let console = paper.console
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask { for _ in 0..<50 { console.line(String(repeating: "\(task)", count: 20)) } }
      }
    }
    let lines = paper.text.split(separator: "\n")
    #expect(lines.count == 400)
    #expect(lines.allSatisfy { Set($0).count == 1 && $0.count == 20 })
  }
}

@Suite(.timeLimit(.minutes(15))) struct DescriptorTests {
  @Test func aReaderThatIsGoneIsAnErrorAndNotTheEnd() throws {
    Descriptor.ignoreBrokenPipes()
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    #expect(WholeWrite.write([1], to: ends[1]) == EPIPE)
    close(ends[1])
    #expect(WholeWrite.write([], to: -1) == 0)
  }

  @Test func aFullPipeThatDoesNotBlockIsWaitedFor() throws {
    let pipe = try #require(Pipe(isNonblocking: true))
    let bytes = [UInt8](repeating: 7, count: 1 << 20)
    let end = pipe.writing
    Thread {
      #expect(WholeWrite.write(bytes, to: end) == 0)
      close(end)
    }.start()
    var (all, piece) = ([UInt8](), [UInt8](repeating: 0, count: 64 << 10))
    while true {
      var look = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
      poll(&look, 1, -1)
      let count = read(pipe.reading, &piece, piece.count)
      guard count != 0 else { break }
      if count > 0 { all += piece[..<count] }
    }
    #expect(all == bytes)
    close(pipe.reading)
  }

  @Test func aPipeIsNotATerminalAndColumnsComeFromTheEnvironment() {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer {
      close(ends[0])
      close(ends[1])
    }
    #expect(!Descriptor.isTerminal(ends[1]))
    #expect(Descriptor.columns(ends[1], environment: ["COLUMNS": "120"]) == 120)
    #expect(Descriptor.columns(ends[1], environment: ["COLUMNS": "-3"]) == 80)
    #expect(Descriptor.columns(ends[1], environment: [:]) == 80)
  }
}
