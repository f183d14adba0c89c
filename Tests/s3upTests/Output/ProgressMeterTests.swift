import MultipartBasics
@testable import MultipartCore
import Testing

@testable import s3up

@Suite struct ProgressMeterTests {
  private static let mega: Int64 = 1 << 20

  /// A run that is measured five times per second.
  struct Played {
    var meter = ProgressMeter()
    var state = ProgressState(name: "f", total: 100 * mega, parts: 13)
    var now: Duration = .zero
    var shown = ProgressState(name: "", total: nil)

    init() { state.connections = 2 }

    /// Lets this many bytes per second arrive.
    mutating func run(_ time: Duration, rate: Int64) {
      let end = now + time
      while now < end {
        now += .milliseconds(200)
        state.done += rate / 5
        state.transferred += rate / 5
        look()
      }
    }

    mutating func look() { shown = meter.measure(state, at: now) }
    var line: String { ProgressLine.draw(shown, width: 120) }
  }

  @Test("The rate is that of the last seconds, and the time left is computed from it")
  func rate() {
    var run = Played()
    run.run(.milliseconds(800), rate: Self.mega)
    #expect(run.shown.rate == nil && run.shown.eta == nil, "none yet")
    run.run(.seconds(10), rate: 4 * Self.mega)
    #expect(run.shown.rate.map { abs($0 - Double(4 * Self.mega)) < 10 } == true)
    let left = Double(100 * Self.mega - run.state.done) / Double(4 * Self.mega)
    #expect(run.shown.eta == .seconds(left.rounded(.up)))
  }

  @Test("Bytes that the store had before count as progress, but not for the rate")
  func resumed() {
    var run = Played()
    run.look()
    run.state.done = 60 * Self.mega
    run.run(.seconds(2), rate: 0)
    #expect(run.shown.rate == nil && run.shown.eta == nil)
    #expect(run.line.contains("60%"))
    run.run(.seconds(5), rate: Self.mega)
    #expect(run.shown.rate.map { $0 <= Double(Self.mega) + 10 } == true)
  }

  @Test("The percentage never falls within one upload, only if it begins again; the time left is for the missing bytes")
  func neverFalls() throws {
    var run = Played()
    run.run(.seconds(10), rate: 4 * Self.mega)
    let before = run.shown.done
    run.state.done = 3 * Self.mega
    run.run(.seconds(1), rate: Self.mega)
    #expect(run.shown.done == before)
    #expect(run.line.contains("39%"), "\(run.line)")
    let rate = try #require(run.shown.rate)
    #expect(run.shown.eta == .seconds((Double(100 * Self.mega - run.state.done) / rate).rounded(.up)))
    run.state.beginnings += 1
    run.look()
    #expect(run.shown.done == run.state.done)
  }

  @Test("If nothing arrives, it says so, without a rate or time left, until something does")
  func stalled() {
    var run = Played()
    run.run(.seconds(5), rate: Self.mega)
    run.run(.seconds(2), rate: 0)
    #expect(run.shown.words == nil)
    run.run(.seconds(5), rate: 0)
    #expect(run.shown.words == "stalled for 7s")
    #expect(run.shown.rate == nil && run.shown.eta == nil)
    #expect(run.line.contains("stalled for 7s") && !run.line.contains("ETA") && !run.line.contains("/s"))
    run.run(.milliseconds(200), rate: Self.mega)
    #expect(run.shown.words == nil)
    run.state.activity = .waitingForAnswers
    run.run(.seconds(5), rate: 0)
    #expect(run.shown.words == "waiting for the store" && run.shown.rate == nil, "nothing can move")
  }

  @Test(
    "What is sent again without an answer is not progress: it says how long there was no answer, until there is more")
  func unanswered() {
    var run = Played()
    run.run(.seconds(5), rate: Self.mega)
    let since = run.now
    run.state.activity = .tryingAgain(attempt: 2, of: 3, since: since)
    run.run(.milliseconds(400), rate: Self.mega)
    #expect(run.shown.words == nil && run.shown.rate != nil, "there is more than before")
    run.state.done -= 4 * Self.mega
    run.run(.seconds(4), rate: Self.mega / 2)
    #expect(run.shown.words == "no answer for 4s, trying again (2 of 3)")
    #expect(run.shown.rate == nil && run.shown.eta == nil)
    #expect(ProgressLine.draw(run.shown, width: 78).contains("no answer for 4s, trying again (2 of 3)"))
    #expect(ProgressLine.draw(run.shown, width: 38).contains(" trying again (2 of 3)"))
    run.state.activity = .waitingToRetry(why: "x", until: run.now)
    run.look()
    run.state.activity = .tryingAgain(attempt: 3, of: 3, since: since)
    run.run(.milliseconds(600), rate: Self.mega / 2)
    #expect(run.shown.words == "no answer for 5s, trying again (3 of 3)")
    run.run(.seconds(4), rate: Self.mega)
    #expect(run.shown.words == nil && run.shown.rate != nil, "there is more than before")
  }

  @Test(
    "Each state has a text, and only sending has a rate and a time left",
    arguments: [
      (UploadActivity.starting, "starting"), (.connecting(until: .seconds(9)), "connecting, 4s left"),
      (.connecting(until: .seconds(4)), "waiting for the first answer"), (.waitingForRun, "waiting for another run"),
      (.waitingForCredentials, "waiting for credentials"), (.looking, "looking for an unfinished upload"),
      (.comparing, "comparing parts"), (.reading, "waiting for the source"), (.assembling, "assembling"),
      (.checking, "checking"), (.cleaningUp, "cleaning up"),
      (.waitingToRetry(why: "the store says SlowDown", until: .seconds(9)), "the store says SlowDown, next try in 4s"),
    ])
  func words(_ activity: UploadActivity, _ words: String) {
    var run = Played()
    run.run(.seconds(5), rate: Self.mega)
    run.state.activity = activity
    run.look()
    #expect(run.shown.words == words)
    #expect(run.shown.rate == nil && run.shown.eta == nil)
    #expect(run.line.contains(words) && !run.line.contains("/s") && !run.line.contains("ETA"), "\(run.line)")
    #expect(ProgressLine.plain(run.shown).contains(words))
    let event = Event.progress(Event.Subject(), run.shown).json
    #expect(event.contains("\"state\":\"\(words)\"") && event.contains("\"bytes_per_second\":null"), "\(event)")
  }

  @Test("After the process was stopped for a while the rate begins again, and that is not a stall")
  func paused() {
    var run = Played()
    run.run(.seconds(6), rate: 4 * Self.mega)
    run.now += .seconds(3600)
    run.run(.milliseconds(600), rate: 4 * Self.mega)
    #expect(run.shown.rate == nil && run.shown.words == nil)
    run.run(.seconds(1), rate: 4 * Self.mega)
    #expect(run.shown.rate.map { abs($0 - Double(4 * Self.mega)) < 10 } == true)
  }

  @Test("On a narrow terminal the state is shown longer than the bytes")
  func narrow() {
    var run = Played()
    run.state.activity = .assembling
    run.look()
    let line = ProgressLine.draw(run.shown, width: 24)
    #expect(line.contains("assembling") && line.contains("0%"), "\(line)")
    let why: Wording = "the store throttles UploadPart: please reduce your rate"
    run.state.activity = .waitingToRetry(why: why, until: .seconds(4))
    run.look()
    for width in [30, 38, 78] {
      let line = ProgressLine.draw(run.shown, width: width)
      #expect(line.contains("next try in 4s") && !line.contains("…") && line.contains("0%"), "\(line)")
    }
    #expect(ProgressLine.draw(run.shown, width: 150).contains("please reduce your rate, next try in 4s"))
  }
}
