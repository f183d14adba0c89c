@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct MachineTailStories {
  /// A story of four parts at once, the last of which is still being sent when the others have taken a second each.
  private static func tail(parts: Int = 4) throws -> MachineStory {
    let part: Int64 = 5 << 20
    var settings = SoloSettings(
      plan: try UploadPlan(size: part * Int64(parts), partSize: part), concurrency: parts,
      retry: RetryPolicy(tries: 3), form: .algorithm(.crc64nvme), formIsFree: true, seed: 1)
    settings.hedges = true
    var story = MachineStory(settings)
    story.begin()
    story.tell(.created(uploadID: "id1"))
    story.now = .seconds(1)
    for part in 1..<parts { story.done(part) }
    return story
  }

  private static let copy = UploadMachine.Action.sendCopy(part: 4, form: .algorithm(.crc64nvme), freshConnection: true)

  /// Advances the clock second by second, until there is an action.
  private static func look(_ story: inout MachineStory, until end: Duration) -> [UploadMachine.Action] {
    while story.now < end {
      story.now += .seconds(1)
      let rest = story.tell(.tick)
      if !rest.isEmpty { return rest }
    }
    return []
  }

  @Test("A last part that is far too slow is sent once more; the first answer wins and the other transfer is stopped")
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

  @Test("If both copies arrive with different ETags, the part is sent once more, alone")
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

  @Test("If one copy fails, the other remains; if both have failed, the part is retried")
  func failing() throws {
    var story = try Self.tail()
    #expect(Self.look(&story, until: .seconds(20)) == [Self.copy])
    #expect(story.failed(4, .network) == [])
    story.failed(4, .network)
    #expect(!story.wakes.isEmpty)
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
    #expect(story.failed(4, .interrupted) == [.abort(uploadID: "id1")])
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

  /// The actions if part 4, of 5 MiB like the others that took a second, has moved this much in the last three seconds.
  private static func told(
    from then: Int64, to gone: Int64, parts: Int = 4
  ) throws -> [UploadMachine.Action] {
    var story = try tail(parts: parts)
    for moved in [then, gone] {
      story.now += .seconds(3)
      story.tell(.sampled(LineSample(at: story.now, delivered: 0), parts: [4: moved]))
    }
    return story.last
  }

  @Test("A part that an idle connection would send faster from the beginning is also sent over that one")
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

  /// Five of eight parts have arrived, after a second each, and the others have moved this much at each sample.
  private static func copies(_ looks: [[Int: Int64]], arrives: Int? = nil) throws -> [Int] {
    let part: Int64 = 5 << 20
    var settings = SoloSettings(
      plan: try UploadPlan(size: part * 8, partSize: part), concurrency: 5, form: .algorithm(.crc64nvme), seed: 1)
    settings.hedges = true
    var story = MachineStory(settings)
    story.begin()
    story.tell(.created(uploadID: "id1"))
    story.now = .seconds(1)
    for part in 1...5 { story.done(part) }
    var copies: [Int] = []
    for (number, moved) in looks.enumerated() {
      if number == 1, let arrives { story.done(arrives) }
      for case .sendCopy(let part, _, _) in story.tell(
        .sampled(LineSample(at: story.now, delivered: 0), parts: moved))
      {
        copies.append(part)
      }
      story.now += .seconds(3)
    }
    return copies
  }

  @Test("A part is sent twice if it takes twice as long as the others suggest; none is if all are slow")
  func compared() throws {
    let mega: Int64 = 1 << 20
    func copies(_ after: [Int: Int64], arrives: Int? = nil) throws -> [Int] {
      try Self.copies([[6: mega, 7: mega, 8: mega], after], arrives: arrives)
    }
    #expect(try copies([6: mega, 7: mega, 8: mega]) == [], "the store pauses")
    #expect(try copies([6: mega + 1000, 7: mega + 500, 8: mega + 1000]) == [], "the line is slow for all")
    #expect(try copies([6: mega * 2, 7: mega * 2, 8: mega + 1000]) == [8])
    let twoThirds = mega * 2 / 3
    // Sent again it takes 7.5 s; in the first case a little more than 15 s are left, in the second a little less.
    #expect(try copies([6: mega * 3, 7: mega + twoThirds - 1000, 8: mega * 3]) == [7])
    #expect(try copies([6: mega * 3, 7: mega + twoThirds + 1000, 8: mega * 3]) == [])
    #expect(try copies([7: mega + 1000, 8: mega + 1000], arrives: 6) == [7], "the one that arrived was fast")
  }

  @Test("A single part is compared with those before it, unless another has arrived since, hardly faster")
  func alone() throws {
    let mega: Int64 = 1 << 20
    let looks: [[Int: Int64]] = [[8: mega], [8: mega * 2], [8: mega * 3]]
    #expect(try Self.copies([[6: 0, 7: 0, 8: mega]] + looks.dropFirst(), arrives: nil) == [8])
    #expect(try Self.copies([[7: mega * 5 - 1000, 8: mega], [8: mega + 1000]], arrives: 7) == [])
    #expect(try Self.copies([[7: mega * 5 - 1000, 8: mega], [8: mega + 1000], [8: mega + 2000]], arrives: 7) == [8])
  }

  @Test("Only one part at a time is sent twice, the slowest first, while a connection is idle, and none a third time")
  func idle() throws {
    let looks = (0..<6).map { look -> [Int: Int64] in
      let moved = Int64(look) * 10_000
      return [6: moved, 7: moved / 2, 8: Int64(look) << 19]
    }
    #expect(try Self.copies(looks) == [7, 6])
  }
}
