/// The engine of an upload: takes what has happened and says what to do next. It has no clock, file or network, so every
/// order of events can be played in a test.
///
/// A machine is in one phase at a time. Each action is answered by one event (`say` and `cancelTransfers` by none), and
/// `finish` comes once, when nothing is under way any more.
package struct UploadMachine: Sendable {
  enum Phase: Equatable {
    case idle, checking
    /// Looks for an upload to go on with, lists its parts, or ends one that is of no use any more.
    case finding, listingParts, abortingOld
    /// A stream's first piece is being read, or its end judged.
    case reading, confirming
    case creating, sending, putting, completing
    /// After a lost answer to complete: is the upload still there?
    case asking
    case heading(Look)
    /// Waits for the transfers under way to end.
    case stopping
    case aborting, listing
    /// The object is proven; whether it has what was asked for it is looked at.
    case inspecting
    case done
  }

  /// Why the object is looked at.
  enum Look: Equatable {
    /// The store said that it is made, and showed no proof of it. How often it was looked at and not seen.
    case confirms(misses: Int)
    /// An answer was lost: only an object that this run has made is a success. Whether the upload is known to be gone.
    case decides(isGone: Bool)
    /// The store has given the upload up, perhaps for the sake of this very object. Else a new upload begins, and this
    /// is why.
    case beforeAnew(Wording, isGone: Bool)
    /// The recorded upload is gone, or on its way: an earlier run may have completed it.
    case recovers
  }

  /// What is known of the request that makes the object.
  enum Publication: Equatable {
    /// None has gone out that may have worked.
    case unmade
    /// An answer was lost: the object may be there.
    case maybe
    /// The object is proven to be ours, and this is how; only what may be left of the upload is still to be ended.
    case proven(String)
  }

  package internal(set) var settings: Settings
  /// As it was before an upload was looked at that is cut otherwise.
  private let ownPlan: UploadPlan
  var phase = Phase.idle
  package internal(set) var uploadID: String?
  package internal(set) var form: ChecksumForm
  /// By part number less one.
  package internal(set) var receipts: [PartReceipt?]
  /// The first failure that cannot be mended; later ones are its consequences.
  package internal(set) var cause: Failure?
  /// Came while complete or a HEAD was out, whose answer decides; no further try is made.
  var interruption: Failure?
  package internal(set) var retries = 0
  /// Uploads that could not be shown to be gone after their abort.
  package internal(set) var abandoned: [String] = []

  var attempts: [Int]
  var queue: PartQueue
  var partsDone = 0
  var inFlight: Set<Int> = []
  var resume = Resume()
  var stream = Stream()
  var tail = Tail()
  var flight = Flight()
  /// The time of the event that is handled.
  var now: Duration = .zero
  /// A later run can go on with the upload: it stands in a record.
  package internal(set) var isRecorded = false
  var waiting: [Waiting] = []
  /// Why something waits for its next try.
  var lastTrouble: Wording = ""
  var fresh: Set<Int> = []
  /// How many parts may be under way now; a store that asks for less halves it.
  package internal(set) var window: Int
  var pace: Pace?
  /// Stopped, to be sent again when fewer are under way.
  var takenBack: Set<Int> = []
  var successesAtWindow = 0
  var lastNarrowing: Duration?

  /// Tries of the one request that a phase other than sending is about.
  var phaseAttempts = 0
  var restarts = 0
  var restartsAfterAbort = false
  var createTries = 0
  /// A create may have worked although no answer said so: it left an upload without parts, whose id nobody knows. It
  /// looks like one that another machine has just begun, and so nobody ends it; without parts it costs nothing.
  package internal(set) var createWasLost = false
  var publication = Publication.unmade
  /// Begun anew once because complete missed a part that the store had taken.
  var hasMetInvalidPart = false
  var dice: Dice

  struct Waiting: Equatable {
    var part: Int?
    var until: Duration
  }

  package init(_ settings: Settings) {
    self.settings = settings
    ownPlan = settings.plan
    form = settings.form
    pace = settings.pace.map { Pace($0, partSize: settings.plan.partSize) }
    window = pace?.window ?? settings.concurrency
    let count = settings.plan.isSingle || settings.isStream ? 0 : settings.plan.partCount
    queue = PartQueue(count: count)
    receipts = Array(repeating: nil, count: count)
    attempts = Array(repeating: 0, count: count)
    dice = Dice(seed: settings.seed)
  }

  /// The parts are those of this plan; none is under way.
  mutating func cut(by plan: UploadPlan?) {
    let plan = plan ?? ownPlan
    guard plan != settings.plan, !settings.isStream else { return }
    settings.plan = plan
    queue = PartQueue(count: plan.partCount)
    receipts = Array(repeating: nil, count: plan.partCount)
    attempts = Array(repeating: 0, count: plan.partCount)
    pace = settings.pace.map { Pace($0, partSize: plan.partSize) }
    window = pace?.window ?? settings.concurrency
  }

  /// For an upload whose parts are all there: it begins with complete.
  package init(completing uploadID: String, receipts: [PartReceipt], _ settings: Settings) {
    self.init(settings)
    self.uploadID = uploadID
    self.receipts = receipts
    attempts = Array(repeating: 1, count: receipts.count)
    partsDone = receipts.count
  }

  package mutating func handle(_ event: Event, at now: Duration) -> [Action] {
    self.now = now
    switch event {
    case .start:
      guard phase == .idle else { return [] }
      if uploadID != nil { return complete() }
      guard settings.checksFirst else { return begin() }
      phase = .checking
      phaseAttempts = 1
      return [.check]
    case .checked(let failure): return checked(failure, now)
    case .found(let candidates): return found(candidates)
    case .findFailed(let failure): return findFailed(failure, now)
    case .partsListed(let list): return partsListed(list)
    case .partsListFailed(let failure): return partsListFailed(failure, now)
    case .oldAborted(let gone): return oldAborted(gone: gone)
    case .partVerified(let receipt): return partVerified(receipt)
    case .partRejected(let number): return partRejected(number)
    case .verifyFailed(let number, let failure): return verifyFailed(number, failure)
    case .recorded(let isRecorded):
      self.isRecorded = isRecorded
      return []
    case .piece(let number, let size, let isLast): return piece(number, size: size, isLast: isLast)
    case .readFailed(let failure): return readFailed(failure)
    case .ended: return ended()
    case .confirmed(let failure): return confirmed(failure)
    case .created(let id): return created(id)
    case .createFailed(let failure): return createFailed(failure, now)
    case .partDone(let receipt): return partDone(receipt)
    case .partFailed(let number, let failure): return partFailed(number, failure, now)
    case .putDone(let judgement), .completeDone(let judgement): return answered(judgement)
    case .putFailed(let failure): return putFailed(failure, now)
    case .completeFailed(let failure): return completeFailed(failure, now)
    case .headDone(let judgement): return headed(judgement)
    case .headFailed(let failure): return headFailed(failure, now)
    case .inspected(let inspection): return inspected(inspection)
    case .inspectFailed(let failure): return inspectFailed(failure, now)
    case .abortDone: return aborted()
    case .abortFailed(let failure): return abortFailed(failure, now)
    case .listed(let stillThere): return listed(stillThere: stillThere, now)
    case .listFailed(let failure): return listFailed(failure, now)
    case .tick: return tick(now)
    case .sampled(let sample, let moved): return sampled(sample, moved)
    case .interrupted(let failure): return interrupted(failure)
    }
  }
}

/// SplitMix64: the same seed throws the same dice.
struct Dice: Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// In 0..<1.
  mutating func next() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    z ^= z >> 31
    return Double(z >> 11) * 0x1p-53
  }
}
