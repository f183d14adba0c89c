import MultipartCore
import Testing

@Suite struct MachineTailStories {
  /// Four parts at once, of which the last is still under way when the others took a second each.
  private static func tail(parts: Int = 4) throws -> MachineStory {
    let part: Int64 = 5 << 20
    var settings = UploadMachine.Settings(
      plan: try UploadPlan(size: part * Int64(parts), partSize: part), concurrency: parts,
      retry: RetryPolicy(tries: 3), form: .algorithm(.crc64nvme), formIsFree: true, seed: 1)
    settings.hedges = true
    var story = MachineStory(settings)
    story.tell(.start)
    story.tell(.created(uploadID: "id1"))
    story.now = .seconds(1)
    for part in 1..<parts { story.done(part) }
    return story
  }

  private static let copy = UploadMachine.Action.sendCopy(part: 4, form: .algorithm(.crc64nvme), freshConnection: true)

  /// Lets second after second pass, until something other than waiting is to be done.
  private static func look(_ story: inout MachineStory, until end: Duration) -> [UploadMachine.Action] {
    while story.now < end {
      story.now += .seconds(1)
      let rest = story.tell(.tick).filter { if case .wait = $0 { false } else { true } }
      if !rest.isEmpty { return rest }
    }
    return []
  }

  @Test("The last part that is slow beyond reason is sent once more; the first answer wins and the other is stopped")
  func hedged() throws {
    var story = try Self.tail()
    #expect(Self.look(&story, until: .seconds(10)) == [])
    #expect(Self.look(&story, until: .seconds(20)) == [Self.copy])
    #expect(Self.look(&story, until: .seconds(60)) == [], "it is not sent a third time")
    #expect(story.done(4) == [.cancelPart(4)], "complete waits until the other copy is out of the way")
    let end = story.tell(.partFailed(4, Failure(.interrupted, "cancelled")))
    #expect(end == [.complete(attempt: 1)])
    #expect(story.machine.retries == 0)
  }

  @Test("Both copies may arrive, and the part counts once")
  func both() throws {
    var story = try Self.tail()
    #expect(Self.look(&story, until: .seconds(20)) == [Self.copy])
    story.done(4)
    #expect(story.done(4) == [.complete(attempt: 1)])
  }

  @Test("Where both copies arrive under another ETag each, the part is sent once more, alone")
  func anotherETag() throws {
    var story = try Self.tail()
    #expect(Self.look(&story, until: .seconds(20)) == [Self.copy])
    var receipt = MachinePlay.receipt(4, story.machine.form, story.settings.plan, proof: .checksum)
    story.tell(.partDone(receipt))
    receipt.etag = "\"another\""
    #expect(story.tell(.partDone(receipt)).parts == [4])
    #expect(Self.look(&story, until: .seconds(90)) == [], "nor is that one doubled")
    receipt.etag = "\"a third\""
    #expect(story.tell(.partDone(receipt)) == [.complete(attempt: 1)])
    #expect(story.machine.receipts[3]?.etag == "\"a third\"")
    #expect(story.machine.retries == 0)
  }

  @Test("One copy that fails leaves it to the other; when both have failed the part is tried again")
  func failing() throws {
    var story = try Self.tail()
    #expect(Self.look(&story, until: .seconds(20)) == [Self.copy])
    #expect(story.failed(4, .network) == [])
    #expect(story.failed(4, .network).isWaiting)
    story.now += .seconds(1)
    #expect(story.tell(.tick).parts == [4])
    #expect(story.done(4) == [.complete(attempt: 1)])
  }

  @Test("An interruption ends both copies before the upload is aborted")
  func interrupted() throws {
    var story = try Self.tail()
    #expect(Self.look(&story, until: .seconds(20)) == [Self.copy])
    #expect(story.tell(.interrupted(Failure(.interrupted, "stopped"))) == [.cancelTransfers])
    #expect(story.failed(4, .interrupted) == [])
    #expect(story.failed(4, .interrupted) == [.abort])
  }

  @Test("While parts are left to send, or none has shown how long they take, nothing is sent twice")
  func tooEarly() throws {
    var story = try MachineStory.sending(parts: 40, concurrency: 4)
    story.now = .seconds(500)
    #expect(Self.look(&story, until: .seconds(520)) == [])
    var short = try Self.tail(parts: 2)
    #expect(Self.look(&short, until: .seconds(120)) == [])
  }

  private static let warmCopy = UploadMachine.Action.sendCopy(
    part: 4, form: .algorithm(.crc64nvme), freshConnection: false)

  /// What is done when part 4, of 5 MiB as the others that took a second, has moved so far in the last three seconds.
  private static func told(
    from then: Int64, to gone: Int64, parts: Int = 4
  ) throws -> [UploadMachine.Action] {
    var story = try tail(parts: parts)
    for moved in [then, gone] {
      story.now += .seconds(3)
      story.tell(.sampled(LineSample(at: story.now, delivered: 0), moved: [4: moved]))
    }
    return story.last.filter { if case .wait = $0 { false } else { true } }
  }

  @Test("A part that would take an idle connection less time from its beginning is sent by that too")
  func outrun() throws {
    #expect(try Self.told(from: 2 << 20, to: 7 << 19) == [], "three more seconds")
    #expect(try Self.told(from: 2 << 20, to: 3 << 20) == [Self.warmCopy], "six more")
    #expect(try Self.told(from: 1 << 20, to: 1 << 20) == [Self.warmCopy], "it stands still")
    #expect(try Self.told(from: 0, to: 4 << 20) == [], "it was slow, and is not any more")
    #expect(try Self.told(from: 4 << 20, to: 1 << 20) == [], "another try, that has just begun")
    #expect(try Self.told(from: 4 << 20, to: 5 << 20) == [], "all of it has gone out: its answer is waited for")
    #expect(try Self.told(from: 5 << 20, to: 5 << 20) == [])
    #expect(try Self.told(from: 1 << 20, to: 1 << 20, parts: 3) == [], "nobody knows what a part takes")
  }

  @Test("Where several parts all stand still the store pauses, and none is sent twice; where one goes on, the other is")
  func pause() throws {
    for (others, copies) in [(Int64(0), 0), (1 << 20, 1)] {
      let part: Int64 = 5 << 20
      var settings = UploadMachine.Settings(
        plan: try UploadPlan(size: part * 5, partSize: part), concurrency: 5, form: .algorithm(.crc64nvme), seed: 1)
      settings.hedges = true
      var story = MachineStory(settings)
      story.tell(.start)
      story.tell(.created(uploadID: "id1"))
      story.now = .seconds(1)
      for part in 1...3 { story.done(part) }
      for moved in [0, others] {
        story.now += .seconds(3)
        story.tell(.sampled(LineSample(at: story.now, delivered: 0), moved: [4: 1 << 20, 5: moved + (2 << 20)]))
      }
      #expect(story.count { if case .sendCopy = $0 { true } else { false } } == copies)
    }
  }

  @Test("One part at a time is sent twice, the slowest first, while a connection is idle, and none a third time")
  func idle() throws {
    let part: Int64 = 5 << 20
    var settings = UploadMachine.Settings(
      plan: try UploadPlan(size: part * 8, partSize: part), concurrency: 5, form: .algorithm(.crc64nvme), seed: 1)
    settings.hedges = true
    var story = MachineStory(settings)
    story.tell(.start)
    story.tell(.created(uploadID: "id1"))
    story.now = .seconds(1)
    for part in 1...5 { story.done(part) }
    var copies: [Int] = []
    for second in 0..<6 {
      let moved = Int64(second) * 10_000
      let sample = LineSample(at: story.now, delivered: 0)
      for case .sendCopy(let part, _, _) in story.tell(.sampled(sample, moved: [6: moved, 7: moved / 2, 8: moved])) {
        copies.append(part)
      }
      story.now += .seconds(3)
    }
    #expect(copies == [7, 6])
  }
}
