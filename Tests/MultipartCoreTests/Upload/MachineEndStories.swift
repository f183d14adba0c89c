import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct MachineEndStories {
  private static let lost = UploadMachine.Event.completeFailed(Failure(.network, "reset"))
  private static let gone = UploadMachine.Event.completeFailed(Failure(.uploadGone, "NoSuchUpload"))

  @Test("After a lost answer and NoSuchUpload, a HEAD that proves our object is a success")
  func lostThenGone() throws {
    var story = try MachineStory.completing()
    #expect(story.last == [.complete(attempt: 1)])
    #expect(story.wakes(after: Self.lost).count == 1)
    #expect(story.waitOut() == [.complete(attempt: 2)])
    #expect(story.tell(Self.gone) == [.head(mustBeOurs: true)])
    #expect(story.tell(.headDone(.proven(evidence: "e"))) == [.finish(.completed(evidence: "e"))])
    #expect(story.machine.cause == nil)
  }

  @Test("After a lost answer and 412, if the upload is gone, a HEAD distinguishes our object from another's")
  func lostThenPrecondition() throws {
    for (judgement, outcome): (Judgement, UploadMachine.Outcome) in [
      (.proven(evidence: "e"), .completed(evidence: "e")), (.contradicted(message: "other"), .failed(.precondition)),
      (.undecided(weak: "w"), .failed(.precondition)), (.notOurs(message: "older"), .failed(.precondition)),
      (.absent, .failed(.precondition)),
    ] {
      var story = try MachineStory.completing()
      story.tell(Self.lost)
      story.waitOut()
      #expect(story.tell(.completeFailed(Failure(.precondition, "412"))) == [.listAfterLoss])
      #expect(story.tell(.listed(uploadStillThere: false)) == [.head(mustBeOurs: true)])
      story.tell(.headDone(judgement))
      if story.outcome == nil { story.tell(.abortFailed(Failure(.uploadGone, "gone"))) }
      #expect(story.outcome == outcome)
    }
  }

  @Test("After a lost answer and 412, if the upload still exists, the object is another's, and no HEAD is sent")
  func lostThenPreconditionStillThere() throws {
    var story = try MachineStory.completing()
    story.tell(Self.lost)
    story.waitOut()
    story.tell(.completeFailed(Failure(.precondition, "412")))
    #expect(story.tell(.listed(uploadStillThere: true)) == [.abort(uploadID: "id1")])
    story.tell(.abortDone)
    #expect(story.tell(.listed(uploadStillThere: false)) == [.finish(.failed(.precondition))])
  }

  @Test("A lost answer without an object is a failure that may be retried, and not a data mismatch")
  func lostAndAbsent() throws {
    var story = try MachineStory.completing()
    story.tell(Self.lost)
    story.waitOut()
    story.tell(Self.gone)
    #expect(story.tell(.headDone(.absent)) == [.abort(uploadID: "id1")])
    story.tell(.abortFailed(Failure(.uploadGone, "gone")))
    #expect(story.outcome == .failed(.server))
  }

  @Test("A lost answer and a HEAD that shows only the size is not a success")
  func lostAndUndecided() throws {
    var story = try MachineStory.completing()
    story.tell(Self.lost)
    story.waitOut()
    story.tell(Self.gone)
    #expect(story.tell(.headDone(.undecided(weak: "w"))) == [.abort(uploadID: "id1")])
    story.tell(.abortDone)
    story.tell(.listed(uploadStillThere: false))
    #expect(story.outcome == .failed(.server))
  }

  /// A story in which each answer to complete is lost, or an internal error of the store.
  private static func unanswered(_ failure: Failure, isRecorded: Bool = true) throws -> MachineStory {
    var story = try MachineStory.completing(tries: 2, keepsOn: [.network, .server, .throttled, .interrupted])
    story.tell(.recorded(isRecorded))
    story.tell(.completeFailed(failure))
    story.waitOut()
    story.tell(.completeFailed(failure))
    return story
  }

  @Test("If complete never answers and the upload is gone, a HEAD decides, and only for an object that is ours")
  func neverAnswers() throws {
    for (judgement, outcome): (Judgement, UploadMachine.Outcome) in [
      (.proven(evidence: "e"), .completed(evidence: "e")),
      (.notOurs(message: "older"), .failed(.network, isKept: true)),
      (.undecided(weak: "w"), .failed(.network, isKept: true)), (.absent, .failed(.network, isKept: true)),
    ] {
      var story = try Self.unanswered(Failure(.network, "reset"))
      #expect(story.last == [.listAfterLoss])
      #expect(story.tell(.listed(uploadStillThere: false)) == [.head(mustBeOurs: true)])
      #expect(story.tell(.headDone(judgement)) == [.finish(outcome)])
    }
  }

  @Test(
    "If complete never answers and the upload still exists, it has not run: the upload is kept, whatever the key holds")
  func neverAnswersStillThere() throws {
    for failure in [Failure(.network, "reset"), Failure(.server, "500", status: 500), Failure(.stalled, "stalled")] {
      var story = try Self.unanswered(failure)
      let end = story.tell(.listed(uploadStillThere: true))
      #expect(
        end == (failure.code == .stalled ? [.abort(uploadID: "id1")] : [.finish(.failed(failure.code, isKept: true))]))
      #expect(!story.all.contains(.head(mustBeOurs: true)))
    }
  }

  @Test("A complete that was refused each time is not a lost answer: no HEAD is sent")
  func refusedEachTime() throws {
    for failure in [
      Failure(.throttled, "SlowDown", status: 503), Failure(.throttled, "429", status: 429),
      Failure(.throttled, "SlowDown in a 200", status: 200), Failure(.server, "InternalError", status: 503),
      Failure(.network, "RequestTimeout", status: 400), Failure(.server, "OperationAborted", status: 409),
    ] {
      let story = try Self.unanswered(failure)
      #expect(story.last == [.finish(.failed(failure.code, isKept: true))])
      #expect(!failure.mayHaveWorked)
    }
    for failure in [
      Failure(.server, "500", status: 500), Failure(.server, "502", status: 502), Failure(.server, "504", status: 504),
      Failure(.server, "no XML", status: 200), Failure(.network, "reset"), Failure(.stalled, "stalled"),
    ] {
      #expect(failure.mayHaveWorked)
    }
    // No store was reached, or what was reached does not speak HTTP.
    for (code, mayHaveWorked) in [(Failure.Code.network, false), (.stalled, false), (.server, true)] {
      var failure = Failure(code, "tried for a second")
      failure.triedInVain = .seconds(1)
      #expect(failure.mayHaveWorked == mayHaveWorked)
    }
  }

  @Test("If the upload cannot be listed after a lost answer, the HEAD decides, and the possible upload is aborted")
  func mayNotAsk() throws {
    var story = try Self.unanswered(Failure(.network, "reset"))
    #expect(story.tell(.listFailed(Failure(.credentials, "403", status: 403))) == [.head(mustBeOurs: true)])
    #expect(story.tell(.headDone(.proven(evidence: "e"))) == [.abort(uploadID: "id1")])
    #expect(story.abortOfGone() == [.finish(.completed(evidence: "e"))])
  }

  @Test("A PutObject that was refused each time is not a lost answer; after a lost one a HEAD is sent")
  func refusedPut() throws {
    for (failure, isLost) in [
      (Failure(.throttled, "SlowDown", status: 503), false), (Failure(.server, "500", status: 500), true),
    ] {
      var story = try MachineStory(parts: 1, tries: 2)
      story.begin()
      story.tell(.putFailed(failure))
      story.waitOut()
      let end = story.tell(.putFailed(failure))
      #expect(end == (isLost ? [.head(mustBeOurs: true)] : [.finish(.failed(.throttled))]))
      guard isLost else { continue }
      #expect(story.tell(.headDone(.notOurs(message: "older"))) == [.finish(.failed(.server))])
    }
  }

  @Test("InvalidPart at complete sends all parts again, once; an upload that this run has adopted is not aborted")
  func invalidPart() throws {
    let invalid = UploadMachine.Event.completeFailed(
      Failure(.refused, "InvalidPart", status: 400, s3Code: "InvalidPart"))
    var story = try MachineStory.completing()
    #expect(story.tell(invalid).last == .abort(uploadID: "id1"))
    #expect(story.abortOfGone() == [.create(story.machine.form)])
    story.tell(.created(uploadID: "id2"))
    for part in 1...2 { story.done(part) }
    #expect(story.tell(invalid) == [.abort(uploadID: "id2")])
    story.abortOfGone()
    #expect(story.outcome == .failed(.refused))
    var adopted = try MachineStory.adopting(.foreign)
    let actions = adopted.tell(invalid)
    #expect(actions.contains(.say(.leftAlone(uploadID: "old"))))
    #expect(actions.last == .create(adopted.machine.form))
    #expect(!adopted.all.hasAbort)
    var own = try MachineStory.adopting(.own)
    #expect(own.tell(invalid).last == .abort(uploadID: "old"))
  }

  @Test("NoSuchUpload at the first complete begins a new upload: no answer was lost that could have been a success")
  func goneAtOnce() throws {
    var story = try MachineStory.completing()
    #expect(story.tell(Self.gone).last == .abort(uploadID: "id1"))
    #expect(story.abortOfGone() == [.create(story.machine.form)])
  }

  @Test("After a success without proof a HEAD is sent; the right size is then enough, another object is not")
  func yesWithoutProof() throws {
    for (judgement, outcome): (Judgement, UploadMachine.Outcome) in [
      (.proven(evidence: "e"), .completed(evidence: "e")), (.undecided(weak: "size"), .completed(evidence: "size")),
      (.contradicted(message: "other"), .failed(.dataMismatch)), (.absent, .failed(.server, isKept: true)),
      (.notOurs(message: "other parts"), .failed(.server, isKept: true)),
    ] {
      var story = try MachineStory.completing(tries: 1, keepsOn: [.server])
      story.tell(.recorded(true))
      #expect(story.tell(.completeDone(.undecided(weak: "w"))) == [.head(mustBeOurs: false)])
      story.tell(.headDone(judgement))
      while story.outcome == nil, !story.wakes.isEmpty {
        #expect(story.waitOut() == [.head(mustBeOurs: false)])
        story.tell(.headDone(judgement))
      }
      #expect(story.outcome == outcome)
      // The upload became an object: there is nothing to abort.
      #expect(!story.all.hasAbort)
    }
  }

  @Test("An object that the store does not show at once is checked for some seconds, with growing waits")
  func shownLater() throws {
    var story = try MachineStory.completing(tries: 1)
    story.tell(.completeDone(.undecided(weak: "w")))
    let began = story.now
    for _ in 0..<5 {
      #expect(story.wakes(after: .headDone(.absent)).count == 1)
      #expect(story.waitOut() == [.head(mustBeOurs: false)])
    }
    #expect(story.now - began == .milliseconds(7750))
    #expect(story.tell(.headDone(.undecided(weak: "size"))) == [.finish(.completed(evidence: "size"))])
  }

  @Test("A completed upload whose object never appears and that is in no record is named, and not aborted")
  func neverShown() throws {
    var story = try MachineStory.completing(tries: 1)
    story.tell(.completeDone(.undecided(weak: "w")))
    while !story.wakes(after: .headDone(.absent)).isEmpty { story.waitOut() }
    #expect(story.last == [.say(.leftBehind(uploadID: "id1")), .finish(.failed(.server))])
    #expect(story.machine.abandoned == ["id1"])
    #expect(!story.all.hasAbort)
  }

  @Test("An answer to complete that contradicts the source is a failure, and is never retried")
  func contradicted() throws {
    var story = try MachineStory.completing()
    #expect(story.tell(.completeDone(.contradicted(message: "other"))) == [.finish(.failed(.dataMismatch))])
  }

  @Test("A store that reports success and then does not answer the HEAD is not a success")
  func headFails() throws {
    var story = try MachineStory.completing(tries: 2)
    story.tell(.completeDone(.undecided(weak: "w")))
    #expect(story.wakes(after: .headFailed(Failure(.network, "reset"))).count == 1)
    #expect(story.waitOut() == [.head(mustBeOurs: false)])
    #expect(
      story.tell(.headFailed(Failure(.network, "reset"))) == [
        .say(.leftBehind(uploadID: "id1")), .finish(.failed(.network)),
      ])
  }

  // MARK: - Abort

  @Test("An abort that does not take effect is repeated until the list shows that the upload is gone")
  func abortRepeats() throws {
    var story = try MachineStory.sending(parts: 2, concurrency: 1)
    #expect(story.failed(1, .refused) == [.abort(uploadID: "id1")])
    for _ in 0..<2 {
      story.tell(.abortDone)
      #expect(story.last == [.listAfterAbort(uploadID: "id1")])
      #expect(story.wakes(after: .listed(uploadStillThere: true)).count == 1)
      #expect(story.waitOut() == [.abort(uploadID: "id1")])
    }
    story.tell(.abortDone)
    #expect(story.tell(.listed(uploadStillThere: false)) == [.finish(.failed(.refused))])
    #expect(story.machine.abandoned.isEmpty)
  }

  @Test("After four aborts the upload is reported as left behind, by its ID")
  func leftBehind() throws {
    var story = try MachineStory.sending(parts: 2, concurrency: 1)
    story.failed(1, .refused)
    for _ in 0..<3 {
      story.tell(.abortDone)
      story.tell(.listed(uploadStillThere: true))
      #expect(story.waitOut() == [.abort(uploadID: "id1")])
    }
    story.tell(.abortFailed(Failure(.network, "reset")))
    #expect(story.last == [.say(.leftBehind(uploadID: "id1")), .finish(.failed(.refused))])
    #expect(story.machine.abandoned == ["id1"])
    #expect(story.machine.cause?.code == .refused)
  }

  @Test("Without the permission to list, the abort's own answer counts")
  func mayNotList() throws {
    var story = try MachineStory.sending(parts: 2, concurrency: 1)
    story.failed(1, .refused)
    story.tell(.abortDone)
    #expect(story.tell(.listFailed(Failure(.credentials, "AccessDenied"))) == [.finish(.failed(.refused))])
  }

  // MARK: - Before the first byte

  @Test("An object that violates the condition ends the run before create: no upload, no byte")
  func precondition() throws {
    var story = try MachineStory(parts: 2, checksFirst: true)
    #expect(story.begin() == [.check])
    #expect(story.tell(.checked(Failure(.precondition, "is there"))) == [.finish(.failed(.precondition))])
    #expect(story.all.count == 2)
  }

  @Test("A check that is not allowed decides nothing, one that fails is retried")
  func checkFails() throws {
    var story = try MachineStory(parts: 2, checksFirst: true)
    story.begin()
    #expect(story.tell(.checked(Failure(.credentials, "403", status: 403))) == [.create(story.machine.form)])
    // The object's SSE-C key is missing.
    var hidden = try MachineStory(parts: 2, checksFirst: true)
    hidden.begin()
    #expect(hidden.tell(.checked(Failure(.refused, "400", status: 400))) == [.create(hidden.machine.form)])
    var again = try MachineStory(parts: 2, checksFirst: true)
    again.begin()
    #expect(again.wakes(after: .checked(Failure(.server, "500"))).count == 1)
    #expect(again.waitOut() == [.check])
    #expect(again.tell(.checked(nil)) == [.create(again.machine.form)])
  }
}
