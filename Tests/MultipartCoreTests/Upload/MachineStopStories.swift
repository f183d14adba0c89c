@testable import MultipartCore
import Testing

/// The run is told to stop while something is pending.
@Suite(.timeLimit(.minutes(15))) struct MachineStopStories {
  private static let lost = UploadMachine.Event.completeFailed(Failure(.network, "reset"))
  private static let gone = UploadMachine.Event.completeFailed(Failure(.uploadGone, "NoSuchUpload"))
  private let stop = Run<UploadMachine>.Event.interrupted(Failure(.interrupted, "stopped"))

  @Test("Interrupted while it looks or creates: the answer is awaited, and an upload that was created is aborted")
  func interruptedBefore() throws {
    var checking = try MachineStory(parts: 2, checksFirst: true)
    checking.begin()
    #expect(checking.tell(stop).isEmpty)
    #expect(checking.tell(.checked(nil)) == [.finish(.failed(.interrupted))])
    var creating = try MachineStory(parts: 2)
    creating.begin()
    #expect(creating.tell(stop).isEmpty)
    #expect(creating.tell(.created(uploadID: "id1")) == [.abort(uploadID: "id1")])
    creating.tell(.abortDone)
    #expect(creating.tell(.listed(uploadStillThere: false)) == [.finish(.failed(.interrupted))])
    var refused = try MachineStory(parts: 2)
    refused.begin()
    refused.tell(stop)
    #expect(refused.tell(.createFailed(Failure(.network, "reset"))) == [.finish(.failed(.interrupted))])
  }

  @Test("Interrupted while it waits for a retry: the run ends at once")
  func interruptedWaiting() throws {
    var creating = try MachineStory(parts: 2)
    creating.begin()
    #expect(creating.wakes(after: .createFailed(Failure(.network, "reset"))).count == 1)
    #expect(creating.tell(stop) == [.finish(.failed(.interrupted))])
    var sending = try MachineStory.sending(parts: 2, concurrency: 1)
    sending.failed(1, .network)
    #expect(sending.tell(stop) == [.abort(uploadID: "id1")])
    // The end of the wait still comes, and has no effect any more.
    sending.now = .seconds(60)
    #expect(sending.tell(.tick).isEmpty)
  }

  @Test("Interrupted while it sends: transfers are stopped, then the upload is aborted")
  func interruptedSending() throws {
    var story = try MachineStory.sending(parts: 5, concurrency: 2)
    #expect(story.tell(stop) == [.cancelTransfers])
    #expect(story.tell(stop).isEmpty)
    story.failed(1, .interrupted)
    #expect(story.failed(2, .interrupted) == [.abort(uploadID: "id1")])
    story.tell(.abortDone)
    #expect(story.tell(.listed(uploadStillThere: false)) == [.finish(.failed(.interrupted))])
  }

  @Test("Interrupted during a PutObject: it is stopped, and if it had arrived it is a success")
  func interruptedPut() throws {
    var story = try MachineStory(parts: 1)
    story.begin()
    #expect(story.tell(stop) == [.cancelTransfers])
    #expect(story.tell(.putFailed(Failure(.interrupted, "stopped"))) == [.finish(.failed(.interrupted))])
    var arrived = try MachineStory(parts: 1)
    arrived.begin()
    arrived.tell(stop)
    #expect(arrived.tell(.putDone(.proven(evidence: "e"))) == [.finish(.completed(evidence: "e"))])
  }

  @Test("Interrupted during complete: a positive answer is a success")
  func interruptedCompleting() throws {
    var story = try MachineStory.completing()
    #expect(story.tell(stop).isEmpty)
    #expect(story.tell(.completeDone(.proven(evidence: "e"))) == [.finish(.completed(evidence: "e"))])
    var looks = try MachineStory.completing()
    looks.tell(stop)
    #expect(looks.tell(.completeDone(.undecided(weak: "w"))) == [.head(mustBeOurs: false)])
    #expect(looks.tell(.headDone(.undecided(weak: "w"))) == [.finish(.completed(evidence: "w"))])
  }

  @Test("Interrupted during complete, and its answer is lost: one check, then the end, without a retry")
  func interruptedCompletingLost() throws {
    var story = try MachineStory.completing()
    story.tell(stop)
    #expect(story.tell(Self.lost) == [.listAfterLoss])
    #expect(story.tell(.listed(uploadStillThere: true)) == [.abort(uploadID: "id1")])
    story.tell(.abortDone)
    #expect(story.tell(.listed(uploadStillThere: false)) == [.finish(.failed(.interrupted))])
    var worked = try MachineStory.completing()
    worked.tell(stop)
    worked.tell(Self.lost)
    #expect(worked.tell(.listed(uploadStillThere: false)) == [.head(mustBeOurs: true)])
    #expect(worked.tell(.headDone(.proven(evidence: "e"))) == [.finish(.completed(evidence: "e"))])
    var blind = try MachineStory.completing()
    blind.tell(stop)
    blind.tell(Self.lost)
    #expect(blind.tell(.listFailed(Failure(.network, "reset"))) == [.head(mustBeOurs: true)])
    #expect(blind.tell(.headFailed(Failure(.network, "reset"))) == [.abort(uploadID: "id1")])
    var refused = try MachineStory.completing()
    refused.tell(stop)
    #expect(refused.tell(Self.gone).contains { if case .create = $0 { true } else { false } } == false)
  }

  @Test("Interrupted during a HEAD: that is the last one, and is not retried")
  func interruptedHeading() throws {
    var story = try MachineStory.completing()
    story.tell(.completeDone(.undecided(weak: "w")))
    #expect(story.tell(stop).isEmpty)
    #expect(
      story.tell(.headFailed(Failure(.network, "reset"))) == [
        .say(.leftBehind(uploadID: "id1")), .finish(.failed(.interrupted)),
      ])
  }

  @Test("Interrupted while it aborts in order to begin again: the abort finishes, nothing begins")
  func interruptedAborting() throws {
    var story = try MachineStory.sending(parts: 2, concurrency: 1)
    #expect(story.failed(1, .checksumUnsupported).hasAbort)
    #expect(story.tell(stop).isEmpty)
    story.tell(.abortDone)
    #expect(story.tell(.listed(uploadStillThere: false)) == [.finish(.failed(.interrupted))])
  }
}
