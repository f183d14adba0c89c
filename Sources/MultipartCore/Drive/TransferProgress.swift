import MultipartBasics
import Synchronization

/// Counters that the transfers update and the progress display reads.
final class TransferProgress: Sendable {
  /// The total; nil while it is not known.
  let total: Int64?
  var parts: Int? { planned.withLock { $0 } }
  private let planned: Locked<Int?>
  private let onTheWay = Atomic<Int64>(0)
  /// The sizes of the bodies that are being sent.
  private let toArrive = Atomic<Int64>(0)
  private let confirmed = Atomic<Int64>(0)
  private let sent = Atomic<Int64>(0)
  private let arrivedBytes = Atomic<Int64>(0)
  private let begun = Atomic<Int>(0)
  private let doing = Locked(UploadActivity.starting)
  private let doneParts = Atomic<Int>(0)
  private let active = Atomic<Int>(0)
  /// Parts and bytes of the current upload that the store had before this run.
  private let kept = Locked<(parts: Int, bytes: Int64)>((0, 0))
  private let stopped = Atomic<Bool>(false)
  private let underWay = Locked<[Transfer: PartProgress]>([:])
  /// The parts that have arrived: if both copies of a part arrive, it counts once.
  private let arrived = Locked<Set<Int>>([])

  init(total: Int64?, parts: Int?) {
    self.total = total
    planned = Locked(parts)
  }

  /// Bytes of the source that the store has, and bytes of parts being sent that its side has acknowledged. Bytes in the
  /// buffer of a local socket do not count.
  var bytes: Int64 {
    bytesResumed + confirmed.load(ordering: .relaxed) + max(0, onTheWay.load(ordering: .relaxed))
  }
  /// All bytes that this run has sent and that were acknowledged, including failed tries; the rate is computed from
  /// this number.
  var transferred: Int64 { arrivedBytes.load(ordering: .relaxed) }
  /// How often the upload has started over; `bytes` then starts from zero.
  var beginnings: Int { begun.load(ordering: .relaxed) }
  var activity: UploadActivity { doing.withLock { $0 } }
  /// Whether every body that is being sent has arrived, and no answer yet.
  var awaitsAnswers: Bool {
    let all = toArrive.load(ordering: .relaxed)
    return all > 0 && onTheWay.load(ordering: .relaxed) >= all
  }

  func show(_ activity: UploadActivity) { doing.withLock { $0 = activity } }

  /// All bytes written to sockets, including failed tries.
  var bytesSent: Int64 { sent.load(ordering: .relaxed) }
  /// Bytes that the store had before this run.
  var bytesResumed: Int64 { kept.withLock { $0.bytes } }
  var partsDone: Int { kept.withLock { $0.parts } + doneParts.load(ordering: .relaxed) }
  var connections: Int { active.load(ordering: .relaxed) }

  func plan(parts: Int) { planned.withLock { $0 = parts } }

  /// Sets what the store has had since before this run; zero for an upload that starts over.
  func keep(_ all: (parts: Int, bytes: Int64)) {
    kept.withLock { $0 = all }
  }

  /// Bytes of a part that has not arrived as a whole: they need not be transferred again.
  func confirm(_ bytes: Int64) { confirmed.wrappingAdd(bytes, ordering: .relaxed) }

  /// What was counted of a part that has to be transferred again as a whole.
  func forget(resumed: Int64, confirmed bytes: Int64) {
    kept.withLock { $0.bytes -= resumed }
    confirmed.wrappingSubtract(bytes, ordering: .relaxed)
  }

  /// Ends the checksums that are being computed: they occupy the threads that an interruption needs.
  func stop() { stopped.store(true, ordering: .relaxed) }
  var isStopped: Bool { stopped.load(ordering: .relaxed) }

  /// One transfer of a part: the first, or its second copy.
  struct Transfer: Hashable, Sendable {
    var part: Int
    var isCopy = false
  }

  /// `size`: of the body that is sent.
  func begin(_ transfer: Transfer? = nil, sending size: Int64 = 0) -> PartProgress {
    active.wrappingAdd(1, ordering: .relaxed)
    toArrive.wrappingAdd(size, ordering: .relaxed)
    let part = PartProgress(self, transfer, size)
    if let transfer { underWay.withLock { $0[transfer] = part } }
    return part
  }

  /// How much of each part being sent was acknowledged, for its first transfer.
  var moved: [Int: Int64] {
    underWay.withLock { underWay in
      underWay.reduce(into: [:]) { if !$1.key.isCopy { $0[$1.key.part] = $1.value.acknowledged } }
    }
  }

  /// How many bytes of it libcurl has written to the socket.
  func moved(_ transfer: Transfer) -> Int64? { underWay.withLock { $0[transfer]?.bytes } }

  /// The bytes of one try of one part.
  final class PartProgress: Sendable {
    private let whole: TransferProgress
    private let transfer: Transfer?
    private let size: Int64
    private let moved = Atomic<Int64>(0)
    private let acked = Atomic<Int64>(0)

    init(_ whole: TransferProgress, _ transfer: Transfer?, _ size: Int64) {
      self.whole = whole
      self.transfer = transfer
      self.size = size
    }

    var bytes: Int64 { moved.load(ordering: .relaxed) }
    var acknowledged: Int64 { acked.load(ordering: .relaxed) }

    /// Adds bytes. A negative count means that libcurl has started the body again on another connection.
    func add(_ count: Int64, of request: RequestTrace? = nil) {
      moved.wrappingAdd(count, ordering: .relaxed)
      guard count > 0 else { return }
      whole.sent.wrappingAdd(count, ordering: .relaxed)
      request?.moved(count)
    }

    func goes(with request: RequestTrace?) {
      request?.carries(part: transfer?.part ?? 0, isCopy: transfer?.isCopy ?? false)
    }

    /// `all` is the total of this try so far.
    func acknowledge(_ all: Int64) {
      let more = all - acked.exchange(all, ordering: .relaxed)
      whole.onTheWay.wrappingAdd(more, ordering: .relaxed)
      if more > 0 { whole.arrivedBytes.wrappingAdd(more, ordering: .relaxed) }
    }

    func end(confirmed size: Int64?) {
      if let transfer { whole.underWay.withLock { $0[transfer] = nil } }
      whole.active.wrappingSubtract(1, ordering: .relaxed)
      whole.toArrive.wrappingSubtract(self.size, ordering: .relaxed)
      whole.onTheWay.wrappingSubtract(acknowledged, ordering: .relaxed)
      guard let size else { return }
      if let part = transfer?.part, !whole.arrived.withLock({ $0.insert(part).inserted }) { return }
      whole.arrivedBytes.wrappingAdd(max(0, size - acknowledged), ordering: .relaxed)
      whole.confirmed.wrappingAdd(size, ordering: .relaxed)
      whole.doneParts.wrappingAdd(1, ordering: .relaxed)
    }
  }

  /// The upload starts over: what was confirmed belongs to an upload that is gone.
  func reset() {
    begun.wrappingAdd(1, ordering: .relaxed)
    confirmed.store(0, ordering: .relaxed)
    doneParts.store(0, ordering: .relaxed)
    arrived.withLock { $0 = [] }
  }
}
