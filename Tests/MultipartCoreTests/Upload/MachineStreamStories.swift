@testable import MultipartCore
import Testing

/// A stream is read only once: every piece is sent to the upload that is completed, however many are begun.
@Suite(.timeLimit(.minutes(15))) struct MachineStreamStories {
  private static let part: Int64 = 5 << 20

  /// Two pieces are being sent, and a third one is being read.
  private func sending() throws -> MachineStory {
    var settings = try MachineStory(parts: 1, concurrency: 3).settings
    settings.isStream = true
    var story = MachineStory(settings)
    #expect(story.begin() == [.read])
    #expect(story.tell(.piece(size: Self.part, isLast: false)) == [.create(.algorithm(.crc64nvme))])
    #expect(sent(story.tell(.created(uploadID: "id1"))) == [1] && story.last.contains(.read))
    #expect(sent(story.tell(.piece(size: Self.part, isLast: false))) == [2] && story.last.contains(.read))
    return story
  }

  private func sent(_ actions: [UploadMachine.Action]) -> [Int] {
    actions.compactMap { if case .send(let part, _, _, _) = $0 { part } else { nil } }
  }

  /// The store refuses the checksum of the first part.
  private func refused() throws -> MachineStory {
    var story = try sending()
    #expect(story.failed(1, .checksumUnsupported).last == .cancelParts)
    return story
  }

  enum Moment: CaseIterable { case stopping, cleaning, creating, sending }

  @Test(
    "A piece that is read while another upload begins is part of it, and so is the end", arguments: Moment.allCases)
  func readMeanwhile(_ moment: Moment) throws {
    var story = try refused()
    var rest = [UploadMachine.Event.piece(size: Self.part, isLast: false), .ended]
    func read(_ now: Moment) {
      if now == moment { #expect(story.tell(rest.removeFirst()).isEmpty) }
    }
    read(.stopping)
    #expect(story.failed(2, .interrupted) == [.abort(uploadID: "id1")])
    read(.cleaning)
    story.tell(.abortDone)
    #expect(story.tell(.listed(uploadStillThere: false)).count == 1)
    read(.creating)
    story.tell(.created(uploadID: "id2"))
    #expect(sent(story.last).prefix(2) == [1, 2])
    guard moment != .sending else {
      #expect(sent(story.tell(rest[0])) == [3])
      for part in 1...2 { story.done(part) }
      story.tell(rest[1])
      #expect(story.done(3) == [.release(part: 3), .confirm])
      return
    }
    #expect(sent(story.last) == [1, 2, 3])
    for part in 1...2 { #expect(story.done(part).contains(.release(part: part))) }
    story.tell(rest[0])
    #expect(story.done(3) == [.release(part: 3), .confirm])
    #expect(story.tell(.confirmed(nil)) == [.complete(attempt: 1)])
    #expect(story.machine.receipts.count == 3)
  }

  @Test("A part that arrives while its upload is given up is kept for the next one")
  func arrivesLate() throws {
    var story = try refused()
    #expect(story.done(2) == [.abort(uploadID: "id1")])
    story.tell(.piece(size: 1, isLast: false))
    story.tell(.abortDone)
    story.tell(.listed(uploadStillThere: false))
    story.tell(.created(uploadID: "id2"))
    #expect(sent(story.last) == [1, 2, 3])
  }

  @Test("If reading fails while another upload begins, that is the failure", arguments: [Moment.stopping, .creating])
  func failsMeanwhile(_ moment: Moment) throws {
    var story = try refused()
    let failed = UploadMachine.Event.readFailed(Failure(.sourceMissing, "the command has failed"))
    if moment == .stopping { #expect(story.tell(failed) == [.cancelTransfers]) }
    story.failed(2, .interrupted)
    story.tell(.abortDone)
    story.tell(.listed(uploadStillThere: false))
    if moment == .creating {
      #expect(story.tell(failed).isEmpty)
      #expect(story.tell(.created(uploadID: "id2")) == [.abort(uploadID: "id2")])
      story.tell(.abortDone)
      story.tell(.listed(uploadStillThere: false))
    }
    #expect(story.outcome == .failed(.sourceMissing))
  }

  @Test("Interrupted while another upload begins: reading is stopped, and awaited")
  func interruptedMeanwhile() throws {
    var story = try refused()
    story.failed(2, .interrupted)
    #expect(story.tell(.interrupted(Failure(.interrupted, "stopped"))).isEmpty)
    story.tell(.abortDone)
    #expect(story.tell(.listed(uploadStillThere: false)) == [.cancelTransfers])
    #expect(story.tell(.readFailed(Failure(.interrupted, "stopped"))) == [.finish(.failed(.interrupted))])
  }

  @Test("A conflict when a stream is completed is its failure: S3 drops the upload, and nothing can be sent again")
  func conflict() throws {
    var story = try sending()
    story.tell(.ended)
    for part in 1...2 { story.done(part) }
    story.tell(.confirmed(nil))
    let conflict = Failure(.server, "409", status: 409, s3Code: "ConditionalRequestConflict")
    #expect(story.tell(.completeFailed(conflict)) == [.abort(uploadID: "id1")])
    #expect(story.endsOld() == [.finish(.failed(.server))])
  }
}
