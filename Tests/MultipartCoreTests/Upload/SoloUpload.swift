import MultipartCore

/// The settings of a run and of its one object.
@dynamicMemberLookup
struct SoloSettings: Sendable {
  var upload: UploadMachine.Settings
  var run = Scheduler.Settings()

  init(
    plan: UploadPlan, concurrency: Int = 8, retry: RetryPolicy = RetryPolicy(), form: ChecksumForm = .none,
    formIsFree: Bool = false, payloadIsSigned: Bool = false, checksFirst: Bool = false, alwaysVerifies: Bool = false,
    seed: UInt64 = 0
  ) {
    upload = UploadMachine.Settings(
      plan: plan, form: form, formIsFree: formIsFree, payloadIsSigned: payloadIsSigned, checksFirst: checksFirst,
      alwaysVerifies: alwaysVerifies)
    run.concurrency = concurrency
    run.retry = retry
    run.seed = seed
  }

  subscript<Value>(dynamicMember path: WritableKeyPath<UploadMachine.Settings, Value>) -> Value {
    get { upload[keyPath: path] }
    set { upload[keyPath: path] = newValue }
  }

  subscript<Value>(dynamicMember path: WritableKeyPath<Scheduler.Settings, Value>) -> Value {
    get { run[keyPath: path] }
    set { run[keyPath: path] = newValue }
  }
}

/// A run of one object, which gets that object's events and its own.
@dynamicMemberLookup
struct SoloUpload: Sendable {
  private(set) var run: UploadRun
  private let before: UploadMachine

  init(_ settings: SoloSettings) {
    run = UploadRun(settings.run, settings.upload)
    before = UploadMachine(settings.upload)
  }

  subscript<Value>(dynamicMember path: KeyPath<UploadMachine, Value>) -> Value { (run[0] ?? before)[keyPath: path] }

  var window: Int { run.scheduler.width }

  mutating func handle(_ event: UploadMachine.Event, at now: Duration) -> [UploadMachine.Action] {
    handle(UploadRun.Event.of(0, event), at: now)
  }

  mutating func handle(_ event: UploadRun.Event, at now: Duration) -> [UploadMachine.Action] {
    if case .of(_, .start) = event { return run.begin(at: now).map(\.action) }
    return run.handle(event, at: now).map(\.action)
  }
}

extension UploadRun.Event {
  static func sampled(_ sample: LineSample, parts: [Int: Int64]) -> UploadRun.Event {
    .sampled(sample, moved: Dictionary(uniqueKeysWithValues: parts.map { (Slot(object: 0, part: $0), $1) }))
  }
}

extension UploadMachine.Action {
  var isAbort: Bool {
    if case .abort = self { true } else { false }
  }
}

extension [UploadMachine.Action] {
  var hasAbort: Bool { contains { $0.isAbort } }
}
