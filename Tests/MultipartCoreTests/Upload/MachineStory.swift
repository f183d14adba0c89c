@testable import MultipartCore
import Testing

/// A machine that is given events one by one, and its reply to each.
struct MachineStory {
  var machine: SoloUpload
  let settings: SoloSettings
  var now: Duration = .zero
  private var strays = 0
  private(set) var last: [UploadMachine.Action] = []
  private(set) var all: [UploadMachine.Action] = []

  init(_ settings: SoloSettings) {
    self.settings = settings
    machine = SoloUpload(settings)
  }

  init(
    parts: Int, concurrency: Int = 8, tries: Int = 10, form: ChecksumForm = .algorithm(.crc64nvme),
    formIsFree: Bool = true, signed: Bool = false, checksFirst: Bool = false
  ) throws(Failure) {
    let part: Int64 = 5 << 20
    self.init(
      SoloSettings(
        plan: try UploadPlan(size: part * Int64(parts), partSize: part), concurrency: concurrency,
        retry: RetryPolicy(tries: tries), form: form, formIsFree: formIsFree, payloadIsSigned: signed,
        checksFirst: checksFirst, seed: 1))
  }

  /// Begins and creates the upload.
  static func sending(
    parts: Int, concurrency: Int = 8, tries: Int = 10, form: ChecksumForm = .algorithm(.crc64nvme),
    signed: Bool = false
  ) throws(Failure) -> MachineStory {
    var story = try MachineStory(
      parts: parts, concurrency: concurrency, tries: tries, form: form, signed: signed)
    story.begin()
    story.tell(.created(uploadID: "id1"))
    return story
  }

  /// An upload whose parts are all at the store, and complete is pending.
  static func completing(
    parts: Int = 2, tries: Int = 10, keepsOn: Set<Failure.Code> = []
  ) throws(Failure) -> MachineStory {
    var settings = try MachineStory(parts: parts, tries: tries).settings
    settings.keepsOn = keepsOn
    var story = MachineStory(settings)
    story.begin()
    story.tell(.created(uploadID: "id1"))
    for part in 1...parts { story.done(part) }
    return story
  }

  /// Resumes an upload of two parts that are both at the store, and complete is pending.
  static func adopting(_ use: UploadMachine.Candidate.Use) throws(Failure) -> MachineStory {
    var settings = try MachineStory(parts: 2).settings
    settings.finds = true
    var story = MachineStory(settings)
    story.begin()
    story.tell(.found([UploadMachine.Candidate(uploadID: "old", use: use)]))
    let part = settings.plan.partSize
    // Nothing was sent to it for a long time.
    let list = UploadMachine.PartList(
      sizes: [1: part, 2: part], form: settings.form,
      activity: UploadMachine.Activity(
        traces: [1: "e", 2: "e"], last: Timestamp(seconds: 0), clock: Timestamp(seconds: 1000)))
    story.tell(.partsListed(list))
    for part in 1...2 {
      story.tell(.partVerified(MachinePlay.receipt(part, settings.form, settings.plan)))
    }
    // An unrecorded upload is listed again before it is adopted.
    if story.last.contains(.listParts(uploadID: "old")) { story.tell(.partsListed(list)) }
    return story
  }

  @discardableResult
  mutating func begin() -> [UploadMachine.Action] { take(machine.begin(at: now)) }

  @discardableResult
  mutating func tell(_ event: UploadMachine.Event) -> [UploadMachine.Action] {
    take(machine.handle(event, at: now))
  }

  @discardableResult
  mutating func tell(_ event: Run<UploadMachine>.Event) -> [UploadMachine.Action] {
    take(machine.handle(event, at: now))
  }

  /// An event that no action asked for.
  mutating func tell(stray event: UploadMachine.Event) -> [UploadMachine.Action] {
    strays += 1
    return tell(event)
  }

  private mutating func take(_ actions: [UploadMachine.Action]) -> [UploadMachine.Action] {
    last = actions
    all += last
    let misfits = machine.misfits
    #expect(misfits == strays, "nothing was waiting for that event")
    return last
  }

  /// Aborts an old upload, which is then gone.
  @discardableResult
  mutating func endsOld() -> [UploadMachine.Action] {
    tell(.abortDone)
    return tell(.listed(uploadStillThere: false))
  }

  @discardableResult
  mutating func done(_ part: Int, proof: PartProof = .checksum) -> [UploadMachine.Action] {
    tell(.partDone(MachinePlay.receipt(part, machine.form, settings.plan, proof: proof)))
  }

  @discardableResult
  mutating func failed(_ part: Int, _ code: Failure.Code) -> [UploadMachine.Action] {
    tell(.partFailed(part, Failure(code, "told to fail")))
  }

  /// Aborts an upload that the store no longer has: the abort is requested nevertheless, and answered in the same way.
  @discardableResult
  mutating func abortOfGone() -> [UploadMachine.Action] {
    tell(.abortFailed(Failure(.uploadGone, "gone")))
  }

  /// The times at which the reply to this event asks to be woken.
  mutating func wakes(after event: UploadMachine.Event) -> [Duration] {
    tell(event)
    return wakes
  }

  /// The times at which the last reply asks to be woken.
  var wakes: [Duration] { machine.wakes }

  /// Advances the clock to the end of the earliest wait in the last reply.
  @discardableResult
  mutating func waitOut() -> [UploadMachine.Action] {
    now = max(now, wakes.min() ?? now)
    return tell(.tick)
  }

  var outcome: UploadMachine.Outcome? {
    for case .finish(let outcome) in all { return outcome }
    return nil
  }

  var notices: [UploadEvent] {
    all.compactMap { if case .say(let notice) = $0 { notice } else { nil } }
  }

  func count(_ matches: (UploadMachine.Action) -> Bool) -> Int { all.count(where: matches) }
}

extension [UploadMachine.Action] {
  /// The numbers of the parts to send, in order.
  var parts: [Int] {
    compactMap { if case .send(let part, _, _, _) = $0 { part } else { nil } }
  }

  var forms: [ChecksumForm] {
    compactMap { if case .send(_, let form, _, _) = $0 { form } else { nil } }
  }
}
