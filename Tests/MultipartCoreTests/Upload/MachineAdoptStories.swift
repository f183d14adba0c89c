@testable import MultipartCore
import Support
import Testing

/// Unrecorded uploads: when they are adopted, when the run waits for them, and when they are left alone.
@Suite struct MachineAdoptStories {
  private static let id = "theirs"

  /// All parts of the first list have been compared, and it is listed once more.
  private static func compared(
    last: Int64?, clock: Int64? = 1000, quiet: Duration = .seconds(60), more: [String] = []
  ) throws -> MachineStory {
    let part: Int64 = 5 << 20
    var settings = SoloSettings(
      plan: try UploadPlan(size: part * 2, partSize: part), retry: RetryPolicy(tries: 10),
      form: .algorithm(.crc64nvme), formIsFree: true, seed: 1)
    settings.finds = true
    settings.quietTime = quiet
    var story = MachineStory(settings)
    story.begin()
    let candidates = ([id] + more).map { UploadMachine.Candidate(uploadID: $0, use: .foreign) }
    #expect(story.tell(.found(candidates)) == [.listParts(uploadID: id)])
    #expect(story.tell(list(last: last, clock: clock)) == [.verify(part: 1)])
    #expect(story.machine.kept.bytes == 0)
    #expect(story.tell(.partVerified(receipt(story))) == [.listParts(uploadID: id)])
    #expect(story.machine.ownUploadID == nil && story.machine.kept.bytes == 0)
    return story
  }

  private static func receipt(_ story: MachineStory) -> PartReceipt {
    MachinePlay.receipt(1, story.settings.form, story.settings.plan)
  }

  private static func list(
    last: Int64?, clock: Int64?, parts: [Int] = [1], trace: String = "e"
  ) -> UploadMachine.Event {
    .partsListed(
      UploadMachine.PartList(
        sizes: Dictionary(uniqueKeysWithValues: parts.map { ($0, 5 << 20) }), form: .algorithm(.crc64nvme),
        activity: UploadMachine.Activity(
          traces: Dictionary(uniqueKeysWithValues: parts.map { ($0, trace) }),
          last: last.map { Timestamp(seconds: $0) }, clock: clock.map { Timestamp(seconds: $0) })))
  }

  private func expectAdopted(_ story: MachineStory) {
    #expect(story.last.first == .adopt(uploadID: Self.id))
    #expect(story.last.parts == [2])
    #expect(story.machine.ownUploadID == Self.id)
    #expect(story.machine.kept.parts == 1 && story.machine.kept.bytes == 5 << 20)
    #expect(story.notices.contains(.resumed(uploadID: Self.id, parts: 1, bytes: 5 << 20)))
  }

  private func expectLeft(_ story: MachineStory) {
    #expect(story.last.last == .create(story.settings.form))
    #expect(story.machine.ownUploadID == nil && story.machine.kept.bytes == 0)
    #expect(!story.all.contains(.adopt(uploadID: Self.id)))
    #expect(!story.all.hasAbort)
    #expect(story.notices.contains { if case .passedBy(Self.id, _) = $0 { true } else { false } })
  }

  @Test("An upload to which nothing was sent for a minute by the store's clock is adopted without a wait")
  func old() throws {
    var story = try Self.compared(last: 940)
    story.tell(Self.list(last: 940, clock: 1000))
    expectAdopted(story)
  }

  @Test("One second short of the minute the run waits for that second, and reports this once")
  func young() throws {
    var story = try Self.compared(last: 941)
    #expect(
      story.tell(Self.list(last: 941, clock: 1000)) == [
        .say(.waitsForQuiet(uploadID: Self.id, wait: .seconds(1)))
      ])
    #expect(story.wakes == [.seconds(1)])
    #expect(story.waitOut() == [.listParts(uploadID: Self.id)])
    story.tell(Self.list(last: 941, clock: 1001))
    expectAdopted(story)
  }

  @Test(
    "A part that arrived, or was sent again, during the comparison or the wait shows that another client is sending")
  func touched() throws {
    for change in [
      Self.list(last: 940, clock: 1060, parts: [1, 2]), Self.list(last: 940, clock: 1060, trace: "other"),
      Self.list(last: 940, clock: 1060, parts: []),
    ] {
      var atOnce = try Self.compared(last: 900)
      atOnce.tell(change)
      expectLeft(atOnce)
      var later = try Self.compared(last: 990)
      later.tell(Self.list(last: 990, clock: 1000))
      later.waitOut()
      later.tell(change)
      expectLeft(later)
    }
  }

  @Test(
    "The wait ends at once if the run is told to stop, and the upload stays as it is",
    arguments: [
      Failure.Code.interrupted, .deadline,
    ])
  func stopped(code: Failure.Code) throws {
    var story = try Self.compared(last: 990)
    story.tell(Self.list(last: 990, clock: 1000))
    #expect(story.tell(.interrupted(Failure(code, "stopped"))) == [.finish(.failed(code))])
    #expect(!story.all.hasAbort)
  }

  @Test("If a store gives no times of parts, a whole minute passes from the first list, by the store's clock")
  func noMoments() throws {
    var story = try Self.compared(last: nil)
    story.tell(Self.list(last: nil, clock: 1010))
    #expect(story.wakes == [.seconds(50)])
    story.waitOut()
    story.tell(Self.list(last: nil, clock: 1060))
    expectAdopted(story)
  }

  @Test("If a store gives no time, its clock stops, or times are in the future, the upload is left alone")
  func oddClocks() throws {
    var silent = try Self.compared(last: 900, clock: nil)
    silent.tell(Self.list(last: 900, clock: nil))
    expectLeft(silent)
    var still = try Self.compared(last: 1000)
    var waits = 0
    while !still.wakes(after: Self.list(last: 1000, clock: 1000)).isEmpty, waits < 10 {
      waits += 1
      still.waitOut()
    }
    #expect(waits == 3)
    #expect(still.notices.count { if case .waitsForQuiet = $0 { true } else { false } } == 1)
    expectLeft(still)
    var ahead = try Self.compared(last: 1031)
    ahead.tell(Self.list(last: 1031, clock: 1000))
    expectLeft(ahead)
  }

  @Test("A list that is malformed repeatedly is given up after three tries, and the next upload is examined")
  func nonsense() throws {
    var story = try Self.compared(last: 900, more: ["older"])
    let nonsense = UploadMachine.Event.partsListFailed(Failure(.server, "not XML", status: 200))
    for _ in 1...2 {
      #expect(story.wakes(after: nonsense).count == 1)
      #expect(story.waitOut() == [.listParts(uploadID: Self.id)])
    }
    #expect(story.tell(nonsense) == [.listParts(uploadID: "older")])
  }

  @Test("A malformed list of uploads is tried three times, then the run begins its own upload and says why")
  func nonsenseOfUploads() throws {
    var story = try MachineStory(parts: 2)
    story = {
      var settings = story.settings
      settings.finds = true
      return MachineStory(settings)
    }()
    story.begin()
    let nonsense = UploadMachine.Event.findFailed(Failure(.server, "not XML", status: 200))
    for _ in 1...2 {
      #expect(story.wakes(after: nonsense).count == 1)
      #expect(story.waitOut() == [.find])
    }
    #expect(story.tell(nonsense).last == .create(story.settings.form))
    #expect(story.notices.contains { if case .startsAnew(let text) = $0 { text.contains("not XML") } else { false } })
  }

  @Test("The bytes compared in an upload that is not adopted do not count as resumed, even if another is adopted")
  func nothingKept() throws {
    var story = try Self.compared(last: 990, more: ["older"])
    story.tell(Self.list(last: 990, clock: 1000, trace: "other"))
    #expect(story.last.last == .listParts(uploadID: "older"))
    story.tell(Self.list(last: 100, clock: 1000))
    story.tell(.partVerified(Self.receipt(story)))
    story.tell(Self.list(last: 100, clock: 1000))
    #expect(story.machine.ownUploadID == "older")
    #expect(story.machine.kept.parts == 1 && story.machine.kept.bytes == 5 << 20)
  }
}
