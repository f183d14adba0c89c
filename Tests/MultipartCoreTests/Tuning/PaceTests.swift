import MultipartBasics
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct PaceTests {
  @Test("If each connection adds its own rate, more are used until the line is full")
  func climbs() {
    var line = PlayedLine { min(Double($0) * 10, 200) * PlayedLine.mega }
    line.run(.seconds(4))
    #expect((20...30).contains(line.pace.window), "20 fill the line: \(line.changes)")
    line.run(.seconds(60))
    #expect((18...30).contains(line.pace.window))
  }

  @Test("If more connections gain nothing, they are closed, and tried again less and less often")
  func takesBack() {
    var line = PlayedLine { _ in 100 * PlayedLine.mega }
    line.run(.seconds(3))
    #expect(line.pace.window == 8)
    #expect(line.changes.map(\.connections) == [12, 8])
    line.run(.seconds(200))
    let trials = line.changes.count { $0.connections > 8 }
    #expect((3...6).contains(trials), "\(line.changes)")
    #expect(line.changes.allSatisfy { $0.connections <= 12 && !$0.stopsSome })
  }

  @Test(
    "A line's speed is known after a second, or four round trips, and not before",
    arguments: [(20, 1000), (500, 2000)])
  func opening(_ roundTrip: Int, _ time: Int) {
    var opening = Opening()
    let settled = (0..<100).first { look in
      var sample = LineSample(at: .milliseconds(50 * look), delivered: Int64(look) << 19)
      sample.roundTrip = .milliseconds(roundTrip)
      if case .settled = opening.look(sample) { return true }
      return false
    }
    // The first sample shows nothing, the second that sending has begun.
    #expect(settled == 1 + time / 50)
  }

  @Test("While the first connections are still getting faster, no more are added")
  func beginning() {
    var line = PlayedLine { _ in 0 }
    for step in 1...8 {
      line.rate = { _ in Double(1 << step) * PlayedLine.mega }
      line.run(.milliseconds(300))
    }
    #expect(line.changes == [])
  }

  @Test("The maximum holds, however much each connection gains")
  func cap() {
    var line = PlayedLine(Pace.Bounds(start: 4, most: 13)) { Double($0) * PlayedLine.mega }
    line.run(.seconds(30))
    #expect(line.pace.window == 13)
    #expect(line.changes.allSatisfy { $0.connections <= 13 })
  }

  @Test("If the parts in flight need minutes on a line, no more begin, and soon some are stopped")
  func slow() {
    var line = PlayedLine { _ in 100_000 }
    line.run(.seconds(20))
    #expect(line.pace.window == 1)
    #expect(line.changes.map(\.stopsSome) == [false, true])
    #expect(line.changes.allSatisfy { $0.connections < 8 }, "more are not even tried: \(line.changes)")
    var faster = PlayedLine { _ in 0.7 * PlayedLine.mega }
    faster.run(.seconds(20))
    #expect(faster.pace.window == 1)
    var notSlow = PlayedLine { _ in 6.5 * PlayedLine.mega }
    notSlow.held = 0.9
    notSlow.run(.seconds(20))
    #expect(notSlow.changes == [], "eight parts of 8 MiB take less than 10 s")
  }

  @Test("A store that pauses for fifteen seconds does not make the line slow", arguments: [0, 2e4])
  func pauses(rest: Double) {
    var line = PlayedLine { _ in 100 * PlayedLine.mega }
    line.run(.seconds(5))
    line.rate = { _ in rest }
    line.run(.seconds(15))
    line.rate = { _ in 100 * PlayedLine.mega }
    line.run(.seconds(30))
    #expect(line.changes.allSatisfy { !$0.stopsSome }, "\(line.changes)")
    #expect(line.pace.window >= 8)
  }

  @Test(
    "After a longer pause, and after a line that became slower, all connections are used again once it is fast again",
    arguments: [[Slow(rate: 0, seconds: 40, left: 1)], [Slow(rate: 4, left: 4), Slow(rate: 0.3, left: 1)]])
  func comesBack(_ times: [Slow]) {
    var line = PlayedLine { _ in 100 * PlayedLine.mega }
    line.run(.seconds(5))
    for slow in times {
      line.rate = { _ in slow.rate * PlayedLine.mega }
      line.run(.seconds(slow.seconds))
      #expect(line.pace.window == slow.left)
    }
    line.rate = { _ in 100 * PlayedLine.mega }
    line.run(.seconds(3))
    #expect(line.pace.window == 8)
  }

  /// A rate in MiB per second, its duration, and the remaining connections.
  struct Slow: Sendable {
    var rate: Double
    var seconds = 25
    var left: Int
  }

  @Test("A line that is repeatedly slow for nine seconds and fast for one keeps its connections")
  func dips() {
    var line = PlayedLine { _ in 100 * PlayedLine.mega }
    line.run(.seconds(5))
    for _ in 0..<10 {
      line.rate = { _ in PlayedLine.mega }
      line.run(.seconds(9))
      line.rate = { _ in 100 * PlayedLine.mega }
      line.run(.seconds(1))
    }
    #expect(line.changes.allSatisfy { !$0.stopsSome }, "\(line.changes)")
    line.rate = { _ in PlayedLine.mega }
    line.run(.seconds(12))
    #expect(line.changes.contains { $0.stopsSome } && line.pace.window == 1)
  }

  @Test("If fewer connections are slower, the others are used again, and are not closed a second time")
  func needsMany() {
    var line = PlayedLine { Double($0) * 20_000 }
    line.run(.seconds(200))
    #expect(line.pace.window >= 8)
    #expect(line.changes.count { $0.stopsSome } == 1, "\(line.changes)")
  }

  @Test("If the loops use all of their cores, no more connections are used")
  func loaded() {
    var line = PlayedLine { Double($0) * 100 * PlayedLine.mega }
    line.load = 0.9
    line.run(.seconds(60))
    #expect(line.changes == [])
  }

  @Test("If the line limits all connections, not the store, no more are used")
  func full() {
    var line = PlayedLine { Double($0) * PlayedLine.mega }
    line.held = 0.9
    line.run(.seconds(60))
    #expect(line.changes == [])
    line.held = 0.5
    line.run(.seconds(60))
    #expect(line.pace.window == 48)
  }

  @Test("While there is not enough work for all connections, the rate is no reason for more")
  func notFull() {
    var line = PlayedLine { Double($0) * PlayedLine.mega }
    line.run(.seconds(60), underWay: 4)
    #expect(line.changes == [])
  }

  @Test("Even a few parts on a slow line are sent one after the other")
  func fewParts() {
    var line = PlayedLine { _ in 200_000 }
    line.run(.seconds(20), underWay: 4)
    #expect(line.pace.window == 1)
    #expect(line.changes.map(\.stopsSome) == [false, true])
  }

  @Test("While the rate limit is reached, no more connections are tried; otherwise they are")
  func limit() {
    var line = PlayedLine(Pace.Bounds(start: 8, most: 48, limit: 10 << 20)) { _ in 10 * PlayedLine.mega }
    line.run(.seconds(60))
    #expect(line.changes == [])
    var free = PlayedLine(Pace.Bounds(start: 8, most: 48, limit: 1 << 30)) { Double($0) * 4 * PlayedLine.mega }
    free.run(.seconds(60))
    #expect(free.pace.window == 48)
    #expect(Pace(Pace.Bounds(start: 8, most: 48, limit: 3 << 20), partSize: 8 << 20).window == 3)
    #expect(Pace(Pace.Bounds(start: 8, most: 48, limit: 1), partSize: 8 << 20).window == 1)
    #expect(Pace(Pace.Bounds(start: 8, most: 48, limit: .max), partSize: 1).window == 8)
  }

  @Test(
    "With smaller parts as many bytes begin as planned, but on a line that was slow only as many parts"
  )
  func smallerParts() {
    func begins(_ bounds: Pace.Bounds, from before: Int64 = 8 << 20, to size: Int64) -> Int {
      var settings = RunSettings()
      settings.pace = bounds
      var window = Window(settings, partSize: before)
      window.recut(size, before: before)
      return window.width
    }
    #expect(begins(Pace.Bounds(start: 8, most: 48, opening: .max), to: 5 << 20) == 13)
    #expect(begins(Pace.Bounds(start: 8, most: 48), to: 5 << 20) == 13)
    #expect(begins(Pace.Bounds(start: 8, most: 48), to: 1) == 48)
    #expect(begins(Pace.Bounds(start: 8, most: 48), to: 64 << 20) == 8)
    #expect(begins(Pace.Bounds(start: 8, most: 8), to: 5 << 20) == 8, "a stream's parts are in memory")
    #expect(begins(Pace.Bounds(start: 8, most: 48, opening: 2), to: 5 << 20) == 2)
    #expect(begins(Pace.Bounds(start: 8, most: 48, limit: 1 << 20), to: 5 << 20) == 2)
  }

  @Test("The next object with parts of the same size changes nothing that was learned with the one before")
  func sameParts() {
    var settings = RunSettings()
    settings.pace = Pace.Bounds(start: 8, most: 48)
    var scheduler = UploadMachine.Scheduler(settings, partSize: 8 << 20)
    scheduler.recut(1 << 20, before: 8 << 20)
    #expect(scheduler.width == 48)
    scheduler.begin(Slot(object: 0, part: 1), size: 1 << 20)
    _ = scheduler.failed(Slot(object: 0, part: 1), Failure(.throttled, "SlowDown"))
    #expect(scheduler.width == 24)
    scheduler.recut(1 << 20, before: 8 << 20)
    #expect(scheduler.width == 24)
    scheduler.recut(8 << 20)
    #expect(scheduler.width == 8)
  }

  @Test("While objects are small, the ranges of a large one do not change how many are sent at once")
  func partsAmongSmall() {
    var settings = RunSettings()
    settings.pace = Pace.Bounds(start: 8, most: 48)
    settings.mostSmall = 256
    var window = Window(settings, partSize: 8 << 20)
    window.carries(small: true)
    window.recut(1 << 20, before: 8 << 20)
    #expect(window.width == 8)
    window.carries(small: false)
    #expect(window.width == 48)
  }

  @Test("A changed limit sets the number of connections to what it allows in ten seconds, from the next look on")
  func limitChanges() {
    var line = PlayedLine { _ in 100 * PlayedLine.mega }
    line.run(.seconds(20))
    line.limit = 2 << 20
    line.rate = { _ in 2 * PlayedLine.mega }
    line.run(.milliseconds(100))
    #expect(line.pace.window == 2)
    #expect(line.changes.last?.why == "the limit is 2.0 MiB/s" && line.changes.last?.stopsSome == false)
    line.run(.seconds(60))
    #expect(line.pace.window == 2 && line.pace.isHeldByLimit, "\(line.changes)")
    line.limit = nil
    line.rate = { Double($0) * 10 * PlayedLine.mega }
    line.run(.milliseconds(100))
    #expect(line.pace.window == 8 && !line.pace.isHeldByLimit)
    #expect(line.changes.last?.why == "there is no limit")
    line.run(.seconds(30))
    #expect(line.pace.window == 48)
  }

  @Test("A store that asked for less gets ten seconds, and then more connections are tried")
  func throttled() {
    var line = PlayedLine { Double($0) * PlayedLine.mega }
    line.run(.milliseconds(100))
    line.pace.throttled(to: 4, at: line.now)
    line.run(.seconds(9))
    #expect(line.pace.window == 4)
    line.run(.seconds(30))
    #expect(line.pace.window > 8)
  }

  @Test("After that the first number is reached again even if the line holds the few connections back")
  func comesBack() {
    var line = PlayedLine { Double($0) * PlayedLine.mega }
    line.held = 0.9
    line.run(.milliseconds(100))
    line.pace.throttled(to: 2, at: line.now)
    line.run(.seconds(60))
    #expect((8...12).contains(line.pace.window), "\(line.changes)")
  }

  @Test("With long round trips a change is judged only after some of them")
  func longWay() {
    var line = PlayedLine { Double($0) * PlayedLine.mega }
    line.roundTrip = .milliseconds(400)
    line.run(.seconds(5))
    #expect(line.changes.map(\.connections) == [12], "twice 1.6 s to judge, then 1.2 s for the new ones to begin")
  }
}
