import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct MachinePartStories {
  @Test("A store that asks for less gets half the window, once in two seconds however often it asks")
  func halves() throws {
    var story = try MachineStory.sending(parts: 100)
    #expect(story.last.parts == Array(1...8))
    for part in 1...4 { story.failed(part, .throttled) }
    #expect(story.machine.window == 4)
    // Four wait and four are being sent: nothing new is sent.
    #expect(story.count { if case .send = $0 { true } else { false } } == 8)
    story.now = .milliseconds(1999)
    story.failed(5, .throttled)
    #expect(story.machine.window == 4)
    story.now = .milliseconds(2000)
    story.failed(6, .throttled)
    #expect(story.machine.window == 2)
    story.now = .seconds(10)
    story.failed(7, .throttled)
    story.now = .seconds(20)
    story.failed(8, .throttled)
    #expect(story.machine.window == 1)
  }

  @Test("A narrowed window lets parts finish before it sends a new one, and grows back to its former size")
  func growsBack() throws {
    var story = try MachineStory.sending(parts: 300, concurrency: 4)
    story.failed(1, .throttled)
    #expect(story.machine.window == 2)
    story.done(2)
    story.done(3)
    #expect(story.all.parts.max() == 4)
    story.now = .seconds(60)
    var out = story.tell(.tick).parts
    #expect(out == [1])
    out.append(4)
    var windows: Set<Int> = []
    while let part = out.first, part < 200 {
      out.removeFirst()
      out += story.done(part).parts
      windows.insert(out.count)
    }
    #expect(story.machine.window == 4)
    #expect(windows == [2, 3, 4])
    #expect(story.machine.retries == 1)
  }

  @Test("A plan that arrives with the upload's id divides the source, even after the upload was begun again")
  func cutAtCreate() throws {
    var settings = try MachineStory(parts: 3, concurrency: 3).settings
    settings.plan = try UploadPlan(size: 24 << 20, partSize: 8 << 20)
    let finer = try UploadPlan(size: 24 << 20, partSize: 5 << 20)
    var story = MachineStory(settings)
    story.begin()
    #expect(story.tell(.created(uploadID: "id1", plan: finer)).parts == [1, 2, 3])
    for part in 1...3 { story.failed(part, .uploadGone) }
    story.abortOfGone()
    let sent = story.tell(.created(uploadID: "id2", plan: finer)).parts
    #expect(sent == [1, 2, 3] && story.machine.settings.plan == finer)
    for part in 1...5 { story.done(part) }
    #expect(story.machine.receipts.count == 5)
  }

  @Test("A stalled part is sent again on a fresh connection; one whose connection broke is not")
  func fresh() throws {
    var story = try MachineStory.sending(parts: 3, concurrency: 3)
    story.failed(1, .stalled)
    #expect(story.waitOut() == [.send(part: 1, form: story.machine.form, attempt: 2, freshConnection: true)])
    story.failed(2, .network)
    #expect(story.waitOut() == [.send(part: 2, form: story.machine.form, attempt: 2, freshConnection: false)])
    // A part with that number in another upload begins like any other.
    story.done(1)
    story.failed(3, .uploadGone)
    #expect(story.failed(2, .uploadGone) == [.abort(uploadID: "id1")])
    story.abortOfGone()
    story.tell(.created(uploadID: "id2"))
    #expect(story.last.contains(.send(part: 1, form: story.machine.form, attempt: 1, freshConnection: false)))
  }

  @Test("A part has as many tries as the policy says, and its last failure is the cause")
  func tries() throws {
    var story = try MachineStory.sending(parts: 2, concurrency: 1, tries: 3)
    story.failed(1, .network)
    #expect(story.waitOut().parts == [1])
    story.failed(1, .server)
    #expect(story.waitOut().parts == [1])
    #expect(story.failed(1, .server) == [.abort(uploadID: "id1")])
    #expect(story.machine.cause?.code == .server)
    #expect(story.machine.retries == 2)
  }

  @Test("A failure that no retry can fix stops the others, and aborts only after the last of them has answered")
  func stopsOthers() throws {
    var story = try MachineStory.sending(parts: 10, concurrency: 3)
    #expect(story.failed(2, .sourceChanged) == [.cancelTransfers])
    #expect(story.failed(1, .interrupted).isEmpty)
    #expect(story.done(3) == [.abort(uploadID: "id1")])
    #expect(story.tell(.abortDone) == [.listAfterAbort(uploadID: "id1")])
    #expect(story.tell(.listed(uploadStillThere: false)) == [.finish(.failed(.sourceChanged))])
    #expect(story.machine.cause?.code == .sourceChanged)
    #expect(story.machine.abandoned.isEmpty)
  }

  @Test("A refused checksum steps down from CRC64NVME to MD5 to none, each in a new upload")
  func stepsDown() throws {
    var story = try MachineStory(parts: 2, concurrency: 1)
    story.begin()
    #expect(story.last == [.create(.algorithm(.crc64nvme))])
    story.tell(.createFailed(Failure(.checksumUnsupported, "no")))
    #expect(story.last.contains(.create(.md5)))
    story.tell(.created(uploadID: "id1"))
    #expect(story.last.forms == [.md5])
    #expect(story.failed(1, .checksumUnsupported).hasAbort)
    story.tell(.abortDone)
    #expect(story.tell(.listed(uploadStillThere: false)) == [.create(.nothing)])
    story.tell(.created(uploadID: "id2"))
    #expect(story.last.forms == [.nothing])
    #expect(story.failed(1, .checksumUnsupported) == [.abort(uploadID: "id2")])
    story.tell(.abortDone)
    story.tell(.listed(uploadStillThere: false))
    #expect(story.outcome == .failed(.checksumUnsupported))
    let steps = story.notices.compactMap { notice -> [ChecksumForm]? in
      if case .checksumChanged(let from, let to, _) = notice { [from, to] } else { nil }
    }
    #expect(steps == [[.algorithm(.crc64nvme), .md5], [.md5, .nothing]])
  }

  @Test("If the payload is signed, a refused checksum steps down to none")
  func stepsDownSigned() throws {
    var story = try MachineStory(parts: 2, signed: true)
    story.begin()
    story.tell(.createFailed(Failure(.checksumUnsupported, "no")))
    #expect(story.last.contains(.create(.nothing)))
  }

  @Test("A checksum that the user chose is never stepped down")
  func chosen() throws {
    var story = try MachineStory(parts: 2, form: .algorithm(.sha256), formIsFree: false)
    story.begin()
    story.tell(.createFailed(Failure(.checksumUnsupported, "no")))
    #expect(story.outcome == .failed(.checksumUnsupported))
    #expect(story.notices.isEmpty)
    var sent = try MachineStory(parts: 3, concurrency: 1, form: .algorithm(.sha256), formIsFree: false)
    sent.begin()
    sent.tell(.created(uploadID: "id1"))
    #expect(sent.done(1, proof: .none).forms == [.algorithm(.sha256)])
  }

  @Test("A store that returns no checksum gets MD5 for the following parts, and this is reported once")
  func unverified() throws {
    var story = try MachineStory.sending(parts: 6, concurrency: 2)
    #expect(story.done(1, proof: .etag).forms == [.md5])
    // Part 2 was sent in the old form, which shows nothing new.
    let late = MachinePlay.receipt(2, .algorithm(.crc64nvme), story.settings.plan, proof: .etag)
    #expect(story.tell(.partDone(late)).forms == [.md5])
    #expect(story.notices.count == 1)
    // A part that waited for its retry is sent in the current form.
    story.failed(3, .network)
    #expect(story.waitOut().forms == [.md5])
    #expect(story.machine.uploadID == "id1")
  }

  @Test("An upload that the store no longer has is begun again with all its parts, three times at most")
  func startsAnew() throws {
    var story = try MachineStory.sending(parts: 3, concurrency: 1)
    story.done(1)
    for round in 2...4 {
      #expect(story.failed(story.all.parts.last ?? 0, .uploadGone).last == .abort(uploadID: "id\(round - 1)"))
      #expect(story.abortOfGone() == [.create(story.machine.form)])
      story.tell(.created(uploadID: "id\(round)"))
      #expect(story.last.parts == [1])
      #expect(story.machine.receipts.allSatisfy { $0 == nil })
    }
    story.failed(1, .uploadGone)
    story.abortOfGone()
    #expect(story.outcome == .failed(.uploadGone))
    #expect(story.notices == Array(repeating: .startsAnew(why: "the store no longer has the upload"), count: 3))
    #expect(story.machine.abandoned.isEmpty)
  }

  @Test("A part of an upload that was aborted does not count for the next one")
  func lateAnswer() throws {
    var story = try MachineStory.sending(parts: 3, concurrency: 2)
    #expect(story.failed(1, .uploadGone).contains(.cancelTransfers))
    // Part 2 still arrived, in an upload that is gone.
    #expect(story.done(2) == [.abort(uploadID: "id1")])
    #expect(story.abortOfGone() == [.create(story.machine.form)])
    story.tell(.created(uploadID: "id2"))
    #expect(story.last.parts == [1, 2])
    #expect(story.machine.receipts.allSatisfy { $0 == nil })
  }

  @Test("Ten thousand parts need as many sends, and no more than a few actions each")
  func tenThousand() throws {
    let part: Int64 = 5 << 20
    let plan = try UploadPlan(size: part * 10_000, partSize: part)
    var story = MachineStory(
      SoloSettings(plan: plan, concurrency: 64, form: .nothing, seed: 1))
    story.begin()
    var out = story.tell(.created(uploadID: "id1")).parts[...]
    var most = out.count
    while let part = out.popFirst() {
      out += story.done(part).parts
      most = max(most, out.count)
    }
    #expect(most == 64)
    #expect(story.last == [.complete(attempt: 1)])
    #expect(story.all.parts == Array(1...10_000))
    #expect(story.all.count == 10_002)
    #expect(story.machine.receipts.compactMap { $0?.number } == Array(1...10_000))
  }

  @Test("Events that no action asked for change nothing, and count as mistakes")
  func strangers() throws {
    let events: [UploadMachine.Event] = [
      .checked(nil), .created(uploadID: "x"), .createFailed(Failure(.network, "")), .putFailed(Failure(.network, "")),
      .completeFailed(Failure(.network, "")), .headDone(.proven(evidence: "x")), .headFailed(Failure(.network, "")),
      .abortDone, .abortFailed(Failure(.network, "")), .listed(uploadStillThere: true),
      .listFailed(Failure(.network, "")), .completeDone(.proven(evidence: "x")),
    ]
    for event in events {
      var story = try MachineStory.sending(parts: 3, concurrency: 2)
      #expect(story.tell(stray: event).isEmpty, "\(event)")
      #expect(story.done(1).parts == [3])
      var ended = try MachineStory.completing()
      ended.tell(.completeDone(.proven(evidence: "e")))
      #expect(ended.outcome != nil)
      #expect(ended.tell(stray: event).isEmpty, "\(event)")
    }
  }
}
