import MultipartCore
import Testing

/// Nothing is left at the store that nobody needs, and nothing of somebody else is ended.
@Suite struct MachineLeftoverStories {
  private static func finding(_ candidate: UploadMachine.Candidate) throws -> MachineStory {
    let part: Int64 = 5 << 20
    var settings = UploadMachine.Settings(
      plan: try UploadPlan(size: part * 2, partSize: part), retry: RetryPolicy(tries: 2),
      form: .algorithm(.crc64nvme), formIsFree: true, seed: 1)
    settings.finds = true
    settings.keepsOn = [.network, .interrupted]
    var story = MachineStory(settings)
    story.tell(.start)
    #expect(story.tell(.found([candidate])) == [.listParts(uploadID: candidate.uploadID)])
    return story
  }

  private static let foreign = UploadMachine.Candidate(uploadID: "theirs", use: .foreign)
  private static let list = UploadMachine.Event.partsListed(
    UploadMachine.PartList(sizes: [1: 5 << 20], form: .algorithm(.crc64nvme)))
  private static let stop = UploadMachine.Event.interrupted(Failure(.interrupted, "stopped"))

  @Test("Stopped while the parts of a foreign upload are listed: it is not aborted")
  func stoppedWhileListing() throws {
    var story = try Self.finding(Self.foreign)
    story.tell(Self.stop)
    #expect(story.tell(Self.list) == [.finish(.failed(.interrupted))])
    #expect(story.machine.ownUploadID == nil)
  }

  @Test("Stopped, or the source gone, while the parts of a foreign upload are compared: it is not aborted")
  func stoppedWhileComparing() throws {
    for (last, code): (UploadMachine.Event, Failure.Code) in [
      (Self.stop, .interrupted), (.verifyFailed(1, Failure(.sourceChanged, "rewritten")), .sourceChanged),
    ] {
      var story = try Self.finding(Self.foreign)
      #expect(story.tell(Self.list) == [.verify(part: 1)])
      story.tell(last)
      if code == .interrupted { story.tell(.verifyFailed(1, Failure(.interrupted, "cancelled"))) }
      #expect(story.outcome == .failed(code))
      #expect(!story.all.contains(.abort))
    }
  }
}
