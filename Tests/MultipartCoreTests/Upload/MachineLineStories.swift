import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// The cost of an interruption, on various lines.
@Suite struct MachineLineStories {
  private static let mega = 1_048_576.0

  @Test("2 MiB/s for 20 s: most of what was sent is at the store, in whole parts")
  func twoMega() throws {
    var upload = try PlayedUpload(parts: 24) { _ in 2 * Self.mega }
    upload.run(.seconds(20))
    #expect(upload.done.count >= 3, "40 MiB are five parts: \(upload.done)")
    #expect(upload.out.count <= 2)
    #expect(upload.lost < 2 * Self.mega, "a second of the line")
  }

  @Test("600 kB/s for 45 s: parts are sent one after the other", arguments: [5 << 20, 8 << 20] as [Int64])
  func halfMega(_ partSize: Int64) throws {
    var upload = try PlayedUpload(parts: 5, partSize: partSize) { _ in 600_000 }
    upload.run(.seconds(45))
    #expect(upload.done.count >= (partSize == 5 << 20 ? 4 : 2), "\(upload.done)")
    #expect(upload.out.count <= 1)
  }

  @Test(
    "1 MB/s: after 40 s at most ten seconds of the line are in parts that are not at the store, whatever is lost",
    arguments: [0, 0.001, 0.005], [20, 50])
  func oneMega(_ loss: Double, _ trip: Int) async throws {
    let (unsafe, told) = try await aside {
      let line = ModelLine(roundTrip: .milliseconds(trip), rate: 1_000_000, loss: loss)
      let bounds = Pace.Bounds(start: 13, most: 48, mostWhenLossy: 64, opening: 13)
      var upload = try PlayedUpload(parts: 24, partSize: 5 << 20, bounds: bounds, line: line)
      upload.run(.seconds(40))
      let unsafe = upload.out.reduce(upload.lost) { $0 + $1.gone }
      return (unsafe, "\(upload.delivered / 1e6) MB; \(upload.done) done: \(upload.story.notices)")
    }
    #expect(unsafe <= 10e6, "\(unsafe / 1e6) of \(told)")
  }

  @Test(
    "1 MB/s over a long line: an interruption after 40 s costs about ten seconds of it",
    arguments: [0, 0.001], [100, 200])
  func longMega(_ loss: Double, _ trip: Int) async throws {
    let unsafe = try await aside {
      try (0..<12).map { seed in
        let line = ModelLine(roundTrip: .milliseconds(trip), rate: 1_000_000, loss: loss, seed: UInt64(seed))
        let bounds = Pace.Bounds(start: 13, most: 48, mostWhenLossy: 64, opening: 13)
        var upload = try PlayedUpload(parts: 24, partSize: 5 << 20, bounds: bounds, line: line)
        upload.run(.seconds(40))
        return upload.out.reduce(upload.lost) { $0 + $1.gone } / 1e6
      }
    }
    #expect(unsafe.reduce(0, +) / 12 <= 13, "\(unsafe)")
    #expect(unsafe.allSatisfy { $0 <= 20 }, "\(unsafe)")
  }

  @Test("Under a limit of 1 MiB/s: one or two parts at once, no probing, nothing sent twice")
  func limited() throws {
    var upload = try PlayedUpload(parts: 12, limit: 1 << 20) { _ in Self.mega }
    upload.run(.seconds(200))
    #expect(upload.story.outcome == nil && upload.done.count == 12, "\(upload.done)")
    #expect(upload.most <= 2)
    #expect(upload.copies == 0)
    #expect(!upload.story.notices.contains { if case .connections(let count, _) = $0 { count > 2 } else { false } })
    #expect(upload.lost == 0)
  }

  @Test("When the time of day lifts the limit, as many parts are sent as on any line, and fewer when it returns")
  func timetable() throws {
    var upload = try PlayedUpload(parts: 200, limit: 1 << 20) { _ in 50 * Self.mega }
    upload.rate = { [rate = upload.rate] count in min(rate(count), Self.mega) }
    upload.run(.seconds(60))
    #expect(upload.done.count >= 5 && upload.most <= 2, "\(upload.done)")
    upload.limit = nil
    upload.rate = { _ in 50 * Self.mega }
    upload.run(.seconds(10))
    #expect(upload.out.count >= 8 && upload.done.count >= 50, "\(upload.done.count)")
    upload.limit = 1 << 20
    upload.rate = { _ in Self.mega }
    // Parts that have begun are sent.
    upload.run(.seconds(120))
    #expect(upload.out.count <= 2, "\(upload.story.notices)")
    #expect(upload.copies == 0)
  }

  @Test("Under a limit no part is sent a second time, however long it takes", arguments: [nil, 1 << 20] as [Int64?])
  func notHedged(_ limit: Int64?) throws {
    let part: Int64 = 5 << 20
    var settings = SoloSettings(
      plan: try UploadPlan(size: part * 4, partSize: part), concurrency: 4, form: .algorithm(.crc64nvme), seed: 1)
    settings.hedges = true
    settings.limitRate = limit
    var story = MachineStory(settings)
    story.begin()
    story.tell(.created(uploadID: "id1"))
    story.now = .seconds(1)
    for part in 1...3 { story.done(part) }
    while story.now < .seconds(60) {
      story.now += .seconds(1)
      story.tell(.tick)
      var sample = LineSample(at: story.now, delivered: 0)
      sample.limit = limit
      story.tell(.sampled(sample, parts: [4: 1]))
    }
    let copies = story.count { if case .sendCopy = $0 { true } else { false } }
    #expect(copies == (limit == nil ? 1 : 0))
  }

  @Test("A limit above the line's speed changes nothing")
  func limitAboveLine() throws {
    var upload = try PlayedUpload(parts: 400, limit: 1 << 30) { Double($0) * 10 * Self.mega }
    upload.run(.seconds(10))
    #expect(upload.most >= 8)
  }

  @Test("On a line that was slow and is fast now eight parts are soon being sent", arguments: [0, 10, 50, 100])
  func fast(_ milliseconds: Int) throws {
    let bounds = Pace.Bounds(start: 8, most: 48, opening: 2)
    var upload = try PlayedUpload(parts: 4000, bounds: bounds) { _ in 500 * Self.mega }
    upload.roundTrip = .milliseconds(milliseconds)
    #expect(upload.out.count == 2)
    upload.run(max(.milliseconds(125), .milliseconds(milliseconds * 4)))
    #expect(upload.out.count >= 8, "\(upload.story.notices)")
    #expect(upload.lost == 0)
  }

  @Test("If a fast line becomes slow, soon at most ten seconds of parts are being sent")
  func becomesSlow() throws {
    var upload = try PlayedUpload(parts: 4000) { _ in 100 * Self.mega }
    upload.run(.seconds(5))
    #expect(upload.out.count >= 8)
    upload.rate = { _ in 2 * Self.mega }
    upload.run(.seconds(25))
    #expect(upload.out.count <= 2)
    let before = upload.done.count
    upload.run(.seconds(20))
    #expect(upload.done.count - before >= 3)
  }

  @Test("If a slow line becomes fast, eight parts are being sent within two seconds", arguments: [0.3, 2])
  func becomesFast(_ mega: Double) throws {
    var upload = try PlayedUpload(parts: 4000) { _ in mega * Self.mega }
    upload.run(.seconds(30))
    #expect(upload.out.count <= 2)
    upload.rate = { _ in 100 * Self.mega }
    upload.run(.seconds(2))
    #expect(upload.out.count >= 8, "\(upload.story.notices)")
  }

  @Test("If each connection has its own slow rate, all of them are used")
  func ownRates() throws {
    var upload = try PlayedUpload(parts: 400) { Double($0) * 0.3 * Self.mega }
    upload.run(.seconds(15))
    #expect(upload.out.count >= 8, "\(upload.story.notices)")
  }

  @Test("A line that was fast in the last run begins with all parts, and if it is slow today, most are stopped at once")
  func remembered() throws {
    var upload = try PlayedUpload(parts: 24, bounds: Pace.Bounds(start: 8, most: 48, opening: .max)) { _ in
      2 * Self.mega
    }
    #expect(upload.out.count == 8)
    upload.run(.seconds(20))
    #expect(upload.done.count >= 3, "\(upload.done)")
    #expect(upload.lost < 3 * Self.mega)
  }

  @Test("An interruption lets parts finish that need less than two seconds, and they count")
  func interrupted() throws {
    var upload = try PlayedUpload(parts: 24) { _ in 2 * Self.mega }
    while (upload.out.first?.gone ?? 0) < 6.5 * Self.mega { upload.run(PlayedUpload.step) }
    let (out, done) = (upload.out.count, upload.done.count)
    upload.rate = { _ in 1.5 * Self.mega }
    let begun = upload.story.now
    upload.tell(.interrupted(Failure(.interrupted, "stopped")))
    upload.run(.seconds(10))
    #expect(upload.story.outcome == .failed(.interrupted, isKept: true))
    #expect(upload.story.now - begun < .milliseconds(2100))
    #expect(upload.done.count == done + out)
    #expect(upload.story.machine.receipts.count { $0 != nil } == done + out)
  }

  @Test("The others are stopped at once: those that need longer, have just begun, or make no progress")
  func others() throws {
    var settings = SoloSettings(
      plan: try UploadPlan(size: 40 << 20, partSize: 8 << 20), concurrency: 5, form: .algorithm(.crc64nvme), seed: 1)
    settings.keepsOn = [.interrupted]
    var story = MachineStory(settings)
    story.begin()
    story.tell(.created(uploadID: "id1", isRecorded: true))
    let mega: Int64 = 1 << 20
    for second in 1...2 {
      story.now = .seconds(second)
      let moved = [1: mega * 5 + mega * Int64(second), 2: mega * Int64(second), 3: mega * 7, 4: mega * 8]
      story.tell(.sampled(LineSample(at: story.now, delivered: 0), parts: moved))
    }
    story.tell(.interrupted(Failure(.interrupted, "stopped")))
    #expect(story.last == [.cancelPart(2), .cancelPart(3), .cancelPart(5)])
    #expect(story.wakes == [.seconds(4)])
    for part in [2, 3, 5] { #expect(story.failed(part, .interrupted) == []) }
    #expect(story.done(4) == [])
    #expect(story.done(1) == [.finish(.failed(.interrupted, isKept: true))])
    #expect(story.machine.receipts.compactMap { $0?.number } == [1, 4])
  }

  @Test("A part that may finish and does not is stopped after two seconds")
  func overstays() throws {
    var upload = try PlayedUpload(parts: 24) { _ in 2 * Self.mega }
    while (upload.out.first?.gone ?? 0) < 6.5 * Self.mega { upload.run(PlayedUpload.step) }
    upload.rate = { _ in 0 }
    let begun = upload.story.now
    upload.tell(.interrupted(Failure(.interrupted, "stopped")))
    upload.run(.seconds(10))
    #expect(upload.story.outcome == .failed(.interrupted, isKept: true))
    #expect((.seconds(2) ... .milliseconds(2100)).contains(upload.story.now - begun))
  }

  @Test("If an interruption aborts the upload, it waits for no part")
  func nothingKept() throws {
    var upload = try PlayedUpload(parts: 24) { _ in 2 * Self.mega }
    while (upload.out.first?.gone ?? 0) < 6.5 * Self.mega { upload.run(PlayedUpload.step) }
    upload.tell(.interrupted(Failure(.local, "the disk is full")))
    #expect(upload.story.last == [.cancelTransfers])
  }
}
