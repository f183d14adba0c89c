@testable import MultipartCore
import Testing

/// Nothing useless is left at the store, and no upload of another client is aborted.
@Suite(.timeLimit(.minutes(15))) struct MachineLeftoverStories {
  private static func finding(_ candidate: UploadMachine.Candidate) throws -> MachineStory {
    let part: Int64 = 5 << 20
    var settings = SoloSettings(
      plan: try UploadPlan(size: part * 2, partSize: part), retry: RetryPolicy(tries: 2),
      form: .algorithm(.crc64nvme), formIsFree: true, seed: 1)
    settings.finds = true
    settings.keepsOn = [.network, .interrupted]
    var story = MachineStory(settings)
    story.begin()
    #expect(story.tell(.found([candidate])) == [.listParts(uploadID: candidate.uploadID)])
    return story
  }

  private static let foreign = UploadMachine.Candidate(uploadID: "theirs", use: .foreign)
  private static let own = UploadMachine.Candidate(uploadID: "ours", use: .own)
  private static let whole = UploadMachine.Candidate(uploadID: "ours", use: .own, isWhole: true)
  private static let list = UploadMachine.Event.partsListed(
    UploadMachine.PartList(sizes: [1: 5 << 20], form: .algorithm(.crc64nvme)))
  private static let stop = Run<UploadMachine>.Event.interrupted(Failure(.interrupted, "stopped"))
  private static let gone = UploadMachine.Event.partsListFailed(Failure(.uploadGone, "NoSuchUpload"))

  @Test("Stopped while the parts of another client's upload are listed: it is not aborted")
  func stoppedWhileListing() throws {
    var story = try Self.finding(Self.foreign)
    story.tell(Self.stop)
    #expect(story.tell(Self.list) == [.finish(.failed(.interrupted))])
    #expect(story.machine.ownUploadID == nil)
  }

  @Test("Stopped, or the source gone, while the parts of another client's upload are compared: it is not aborted")
  func stoppedWhileComparing() throws {
    for (last, code): (Run<UploadMachine>.Event, Failure.Code) in [
      (Self.stop, .interrupted), (.of(0, .verifyFailed(1, Failure(.sourceChanged, "rewritten"))), .sourceChanged),
    ] {
      var story = try Self.finding(Self.foreign)
      #expect(story.tell(Self.list) == [.verify(part: 1)])
      story.tell(last)
      if code == .interrupted { story.tell(.verifyFailed(1, Failure(.interrupted, "cancelled"))) }
      #expect(story.outcome == .failed(code))
      #expect(!story.all.hasAbort)
    }
  }

  /// A computed property, because LeakSanitizer does not find the pointer within a stored enum, and reports a leak.
  private static var changed: UploadMachine.Candidate { .init(uploadID: "ours", use: .changed("another source")) }

  @Test("A recorded upload of a source that was touched since is resumed if its parts still match the source")
  func touched() throws {
    var story = try Self.finding(Self.changed)
    #expect(story.tell(Self.list) == [.verify(part: 1)])
    #expect(story.machine.ownUploadID == nil)
    let receipt = PartReceipt(number: 1, size: 5 << 20, etag: "\"1\"", checksum: nil, proof: .none)
    let actions = story.tell(.partVerified(receipt))
    #expect(actions.first == .adopt(uploadID: "ours"))
    #expect(story.machine.ownUploadID == "ours" && !story.machine.leavesOldRecord)
  }

  @Test("If one of its parts no longer matches the source, it is aborted, with the reason, and another is begun")
  func rewritten() throws {
    var story = try Self.finding(Self.changed)
    story.tell(Self.list)
    let actions = story.tell(.partRejected(1))
    #expect(actions == [.say(.startsAnew(why: "another source")), .abort(uploadID: "ours")])
    #expect(story.endsOld() == [.create(story.machine.form)])
  }

  @Test("If its parts cannot be listed now, it is left with its record")
  func unlisted() throws {
    var story = try Self.finding(Self.changed)
    story.tell(.partsListFailed(Failure(.credentialsExpired, "not now")))
    #expect(story.outcome == .failed(.credentialsExpired))
    #expect(story.machine.leavesOldRecord)
    #expect(!story.all.hasAbort)
  }

  @Test("Stopped while its parts are listed or compared, it is left with its record", arguments: [true, false])
  func stoppedBeforeItIsKnown(listing: Bool) throws {
    var story = try Self.finding(Self.changed)
    if !listing { story.tell(Self.list) }
    story.tell(Self.stop)
    story.tell(listing ? Self.list : .verifyFailed(1, Failure(.interrupted, "cancelled")))
    #expect(story.outcome == .failed(.interrupted))
    #expect(story.machine.leavesOldRecord)
    #expect(!story.all.hasAbort)
  }

  @Test("A recorded upload that the store no longer has is aborted before another is created")
  func forgottenIsAborted() throws {
    var story = try Self.finding(Self.own)
    #expect(story.tell(Self.gone).last == .abort(uploadID: "ours"))
    #expect(story.machine.leavesOldRecord)
    #expect(story.endsOld() == [.create(story.machine.form)])
  }

  @Test("A recorded complete upload that is gone, and an object that is not ours: aborted too, then begun again")
  func forgottenWholeIsAborted() throws {
    var story = try Self.finding(Self.whole)
    #expect(story.tell(Self.gone) == [.head(mustBeOurs: true)])
    #expect(story.tell(.headDone(.contradicted(message: "other"))).last == .abort(uploadID: "ours"))
  }

  @Test("A recorded complete upload that is gone, and a proven object: a success that leaves nothing")
  func forgottenWholeIsProven() throws {
    var story = try Self.finding(Self.whole)
    story.tell(Self.gone)
    #expect(story.tell(.headDone(.proven(evidence: "e"))) == [.abort(uploadID: "ours")])
    #expect(story.abortOfGone() == [.finish(.completed(evidence: "e"))])
  }

  @Test(
    "A list that shows less than the complete record is doubted: a HEAD is sent, and nothing is aborted")
  func beingCompleted() throws {
    var story = try Self.finding(Self.whole)
    #expect(story.tell(Self.list) == [.head(mustBeOurs: true)])
    #expect(story.tell(.headDone(.proven(evidence: "e"))) == [.finish(.completed(evidence: "e"))])
    #expect(story.machine.wasComplete)
  }

  @Test("Without the object it is listed again a few times; parts that are really gone are then sent")
  func losesParts() throws {
    var story = try Self.finding(Self.whole)
    var lists = 1
    while story.tell(Self.list) == [.head(mustBeOurs: true)] {
      guard !story.wakes(after: .headDone(.contradicted(message: "not there"))).isEmpty else { break }
      #expect(story.waitOut() == [.listParts(uploadID: "ours")])
      lists += 1
    }
    #expect(lists == 4)
    #expect(story.all.parts == [2])
    #expect(story.count { $0 == .verify(part: 1) } == 1)
  }

  @Test("A resumed upload that is gone at complete may have been completed before: a HEAD is sent")
  func goneAtComplete() throws {
    for proven in [true, false] {
      var story = try Self.finding(Self.own)
      story.tell(Self.list)
      story.tell(.partVerified(MachinePlay.receipt(1, story.machine.form, story.settings.plan)))
      #expect(story.done(2) == [.complete(attempt: 1)])
      #expect(story.tell(.completeFailed(Failure(.uploadGone, "NoSuchUpload"))) == [.head(mustBeOurs: true)])
      let end = story.tell(.headDone(proven ? .proven(evidence: "e") : .contradicted(message: "other")))
      #expect(end.contains(.finish(.completed(evidence: "e"))) == proven)
      #expect(end.hasAbort == !proven)
    }
  }

  private static let mayNotList = UploadMachine.Event.listFailed(Failure(.credentials, "403", status: 403))

  @Test("If complete never answers and listing is not allowed, our object is a success, and the upload is aborted")
  func provenByAnEarlierRun() throws {
    let lost = UploadMachine.Event.completeFailed(Failure(.network, "reset"))
    var story = try MachineStory.completing(tries: 2)
    story.tell(lost)
    story.waitOut()
    #expect(story.tell(lost) == [.listAfterLoss])
    #expect(story.tell(Self.mayNotList) == [.head(mustBeOurs: true)])
    #expect(story.tell(.headDone(.proven(evidence: "e"))) == [.abort(uploadID: "id1")])
    #expect(story.tell(.interrupted(Failure(.interrupted, "stopped"))).isEmpty)
    story.tell(.abortDone)
    #expect(story.tell(.listed(uploadStillThere: false)) == [.finish(.completed(evidence: "e"))])
    #expect(story.machine.cause == nil)
  }

  @Test("A proven object is a success even if the upload cannot be shown to be gone, which is reported")
  func provenAndLeftBehind() throws {
    let lost = UploadMachine.Event.completeFailed(Failure(.network, "reset"))
    var story = try MachineStory.completing(tries: 1)
    story.tell(lost)
    #expect(story.tell(Self.mayNotList) == [.head(mustBeOurs: true)])
    #expect(story.tell(.headDone(.proven(evidence: "e"))) == [.abort(uploadID: "id1")])
    story.tell(.abortFailed(Failure(.network, "reset")))
    #expect(story.last == [.say(.leftBehind(uploadID: "id1")), .finish(.completed(evidence: "e"))])
  }

  // MARK: - Checks before a failure is reported

  private static func conflicted(after answer: UploadMachine.Event) throws -> MachineStory {
    var story = try MachineStory.completing()
    story.tell(answer)
    story.waitOut()
    let conflict = Failure(.server, "409", status: 409, s3Code: "ConditionalRequestConflict")
    #expect(story.tell(.completeFailed(conflict)) == [.head(mustBeOurs: true)])
    return story
  }

  @Test("After a conflict and a lost answer, the other writer may have been this run, so a HEAD is sent")
  func conflictAfterLostAnswer() throws {
    let lost = UploadMachine.Event.completeFailed(Failure(.network, "reset"))
    var ours = try Self.conflicted(after: lost)
    #expect(ours.tell(.headDone(.proven(evidence: "e"))) == [.abort(uploadID: "id1")])
    #expect(ours.abortOfGone() == [.finish(.completed(evidence: "e"))])
    var theirs = try Self.conflicted(after: lost)
    #expect(theirs.tell(.headDone(.contradicted(message: "other"))).last == .abort(uploadID: "id1"))
    #expect(theirs.abortOfGone() == [.create(theirs.machine.form)])
    #expect(theirs.outcome == nil)
  }

  @Test("If all answers to PutObject are lost, a HEAD is sent before it counts as failed")
  func putNeverAnswers() throws {
    for (judgement, outcome): (Judgement, UploadMachine.Outcome) in [
      (.proven(evidence: "e"), .completed(evidence: "e")), (.contradicted(message: "other"), .failed(.network)),
    ] {
      var story = try MachineStory(parts: 1, tries: 2)
      story.begin()
      let lost = UploadMachine.Event.putFailed(Failure(.network, "reset"))
      story.tell(lost)
      story.waitOut()
      #expect(story.tell(lost) == [.head(mustBeOurs: true)])
      #expect(story.tell(.headDone(judgement)) == [.finish(outcome)])
    }
  }

  // MARK: - An object that must not be replaced

  /// An object is at the key, an upload of the same source is recorded, and its parts are asked for.
  private static func blocked(by found: UploadMachine.Event) throws -> MachineStory {
    var settings = try MachineStory(parts: 2, tries: 2, checksFirst: true).settings
    (settings.finds, settings.hasRecord) = (true, true)
    var story = MachineStory(settings)
    #expect(story.begin() == [.check])
    #expect(story.tell(found) == [.find])
    #expect(story.tell(.found([whole])) == [.listParts(uploadID: "ours")])
    return story
  }

  @Test(
    "If the object cannot be read, whether the recorded upload became it is not guessed: the run ends, and is resumed")
  func recoveryFails() throws {
    for (failure, isFinal) in [
      (Failure(.server, "503", status: 503), true), (Failure(.credentials, "403", status: 403), false),
    ] {
      var settings = try MachineStory(parts: 2, tries: 1).settings
      (settings.finds, settings.hasRecord, settings.keepsOn) = (true, true, [.server])
      var story = MachineStory(settings)
      #expect(story.begin() == [.find])
      #expect(story.tell(.found([Self.whole])) == [.listParts(uploadID: "ours")])
      #expect(story.tell(Self.gone) == [.head(mustBeOurs: true)])
      let next = story.tell(.headFailed(failure))
      #expect((next == [.finish(.failed(.server, isKept: true))]) == isFinal, "\(next)")
      #expect(story.all.hasAbort != isFinal)
    }
  }

  private static let blocks: [(UploadMachine.Event, UploadMachine.Outcome)] = [
    (.checked(Failure(.precondition, "exists")), .failed(.precondition)), (.exists, .skipped(meanwhile: false)),
    (.same(evidence: "e"), .unchanged(evidence: "e")),
  ]

  @Test("An object that must not be replaced, and that the recorded upload became, is a success")
  func blockedByOurs() throws {
    for (found, _) in Self.blocks {
      var gone = try Self.blocked(by: found)
      #expect(gone.tell(Self.gone) == [.head(mustBeOurs: true)])
      #expect(gone.tell(.headDone(.proven(evidence: "p"))) == [.abort(uploadID: "ours")])
      #expect(gone.abortOfGone() == [.finish(.completed(evidence: "p"))])
      var doubted = try Self.blocked(by: found)
      #expect(doubted.tell(Self.list) == [.head(mustBeOurs: true)])
      #expect(doubted.tell(.headDone(.proven(evidence: "p"))) == [.finish(.completed(evidence: "p"))])
    }
  }

  @Test("Another object that must not be replaced ends the run, and the recorded upload is not touched")
  func blockedByOther() throws {
    let whole = UploadMachine.Event.partsListed(
      UploadMachine.PartList(sizes: [1: 5 << 20, 2: 5 << 20], form: .algorithm(.crc64nvme)))
    let failures = [Failure(.credentials, "403", status: 403), Failure(.server, "500", status: 500)]
    for (found, outcome) in Self.blocks {
      var gone = try Self.blocked(by: found)
      gone.tell(Self.gone)
      #expect(gone.tell(.headDone(.notOurs(message: "older"))) == [.finish(outcome)])
      #expect(gone.machine.leavesOldRecord && !gone.all.hasAbort)
      for answer in [whole] + failures.map({ UploadMachine.Event.partsListFailed($0) }) {
        var story = try Self.blocked(by: found)
        #expect(story.tell(answer) == [.finish(outcome)])
        #expect(story.machine.leavesOldRecord)
      }
      var unfinished = MachineStory(try Self.blocked(by: found).settings)
      unfinished.begin()
      unfinished.tell(found)
      #expect(unfinished.tell(.found([Self.own])) == [.finish(outcome)])
      #expect(unfinished.machine.leavesOldRecord)
    }
  }

  @Test("Stopped while the recorded upload is asked about: neither it nor its record is touched")
  func blockedAndStopped() throws {
    for (found, _) in Self.blocks {
      for answer in [Self.gone, Self.list, .partsListFailed(Failure(.network, "reset"))] {
        var story = try Self.blocked(by: found)
        #expect(story.tell(Self.stop) == [])
        #expect(story.tell(answer) == [.finish(.failed(.interrupted))])
        #expect(story.machine.leavesOldRecord && !story.all.hasAbort)
      }
      var judged = try Self.blocked(by: found)
      judged.tell(Self.gone)
      judged.tell(Self.stop)
      #expect(judged.tell(.headDone(.notOurs(message: "older"))) == [.finish(.failed(.interrupted))])
      #expect(judged.machine.leavesOldRecord && !judged.all.hasAbort)
    }
  }
}
