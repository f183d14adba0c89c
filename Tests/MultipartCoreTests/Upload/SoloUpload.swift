@testable import MultipartCore

/// The settings of a run and of its one object.
@dynamicMemberLookup
struct SoloSettings: Sendable {
  var upload: UploadMachine.Settings
  var run = RunSettings()

  init(
    plan: UploadPlan, concurrency: Int = 8, retry: RetryPolicy = RetryPolicy(), form: ChecksumForm = .nothing,
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

  subscript<Value>(dynamicMember path: WritableKeyPath<RunSettings, Value>) -> Value {
    get { run[keyPath: path] }
    set { run[keyPath: path] = newValue }
  }
}

/// A run of one object, which gets that object's events and its own.
@dynamicMemberLookup
struct SoloUpload: Sendable {
  private(set) var run: Run<UploadMachine>
  private let before: UploadMachine
  /// When the run wants to be woken, according to its last reply.
  private(set) var wakes: [Duration] = []

  init(_ settings: SoloSettings) {
    run = Run(settings.run)
    before = UploadMachine(settings.upload)
    run.add(0, before, partSize: settings.upload.plan.partSize)
    run.close()
  }

  subscript<Value>(dynamicMember path: KeyPath<UploadMachine, Value>) -> Value { (run[0] ?? before)[keyPath: path] }

  var window: Int { run.scheduler.width }

  mutating func begin(at now: Duration) -> [UploadMachine.Action] { take(run.begin(at: now)) }

  mutating func handle(_ event: UploadMachine.Event, at now: Duration) -> [UploadMachine.Action] {
    handle(Run<UploadMachine>.Event.of(0, event), at: now)
  }

  mutating func handle(_ event: Run<UploadMachine>.Event, at now: Duration) -> [UploadMachine.Action] {
    take(run.handle(event, at: now))
  }

  private mutating func take(_ orders: [Run<UploadMachine>.Order]) -> [UploadMachine.Action] {
    wakes = orders.wakes
    return orders.compactMap { order in
      switch order {
      case .act(_, let action): action
      case .paced(_, let change): .say(.connections(change.connections, why: change.why))
      case .wake: nil
      }
    }
  }
}

extension Run<UploadMachine>.Event {
  static func sampled(_ sample: LineSample, parts: [Int: Int64]) -> Run<UploadMachine>.Event {
    .sampled(sample, moved: Dictionary(uniqueKeysWithValues: parts.map { (Slot(object: 0, part: $0), $1) }))
  }
}

extension [Run<UploadMachine>.Order] {
  var wakes: [Duration] {
    compactMap { if case .wake(let time) = $0 { time } else { nil } }
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
