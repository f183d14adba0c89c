import Synchronization

/// Counters that the transfers write and a progress line reads.
package final class UploadProgress: Sendable {
  /// Nil while they are not known.
  package let total: Int64?
  package var parts: Int? { planned.withLock { $0 } }
  private let planned: Locked<Int?>
  private let onTheWay = Atomic<Int64>(0)
  private let confirmed = Atomic<Int64>(0)
  private let sent = Atomic<Int64>(0)
  private let arrivedBytes = Atomic<Int64>(0)
  private let begun = Atomic<Int>(0)
  private let doing = Locked(UploadActivity.starting)
  private let doneParts = Atomic<Int>(0)
  private let active = Atomic<Int>(0)
  /// Parts and bytes that the store had before this run, of the upload that is under way.
  private let kept = Locked<(parts: Int, bytes: Int64)>((0, 0))
  private let stopped = Atomic<Bool>(false)
  private let underWay = Locked<[Transfer: PartProgress]>([:])
  /// Of a part that goes out twice both may arrive, and it counts once.
  private let arrived = Locked<Set<Int>>([])

  package init(total: Int64?, parts: Int?) {
    self.total = total
    planned = Locked(parts)
  }

  /// Bytes of the source that the store has, and those of parts under way that its side has acknowledged. What lies in a
  /// socket's buffer here is none of them.
  package var bytes: Int64 {
    bytesResumed + confirmed.load(ordering: .relaxed) + max(0, onTheWay.load(ordering: .relaxed))
  }
  /// All bytes that this run has brought to the other side, those of failed tries too: what tells the rate.
  package var taken: Int64 { arrivedBytes.load(ordering: .relaxed) }
  /// How often the upload has begun anew: each time the bytes begin at nothing.
  package var beginnings: Int { begun.load(ordering: .relaxed) }
  package var activity: UploadActivity { doing.withLock { $0 } }

  func show(_ activity: UploadActivity) { doing.withLock { $0 = activity } }

  /// All bytes that have gone out, those of failed tries too.
  package var bytesSent: Int64 { sent.load(ordering: .relaxed) }
  /// Bytes that the store had before this run.
  package var bytesResumed: Int64 { kept.withLock { $0.bytes } }
  package var partsDone: Int { kept.withLock { $0.parts } + doneParts.load(ordering: .relaxed) }
  package var connections: Int { active.load(ordering: .relaxed) }

  func plan(parts: Int) { planned.withLock { $0 = parts } }

  /// What the store has had since before this run, in all; an upload that begins anew has nothing of it.
  func keep(_ all: (parts: Int, bytes: Int64)) {
    kept.withLock { $0 = all }
  }

  /// Parts that are still being read for their checksums shall end: they hold the threads on which an interruption would
  /// be heeded.
  func stop() { stopped.store(true, ordering: .relaxed) }
  var isStopped: Bool { stopped.load(ordering: .relaxed) }

  /// A transfer of a part, the first one that is out or its copy.
  struct Transfer: Hashable, Sendable {
    var part: Int
    var isCopy = false
  }

  func begin(_ transfer: Transfer? = nil) -> PartProgress {
    active.wrappingAdd(1, ordering: .relaxed)
    let part = PartProgress(self, transfer)
    if let transfer { underWay.withLock { $0[transfer] = part } }
    return part
  }

  /// How much of each part that is under way was acknowledged, of the first transfer of it.
  var moved: [Int: Int64] {
    underWay.withLock { underWay in
      underWay.reduce(into: [:]) { if !$1.key.isCopy { $0[$1.key.part] = $1.value.acknowledged } }
    }
  }

  /// What libcurl has handed to the kernel of it.
  func moved(_ transfer: Transfer) -> Int64? { underWay.withLock { $0[transfer]?.bytes } }

  /// The bytes of one try of one part.
  final class PartProgress: Sendable {
    private let whole: UploadProgress
    private let transfer: Transfer?
    private let moved = Atomic<Int64>(0)
    private let acked = Atomic<Int64>(0)

    init(_ whole: UploadProgress, _ transfer: Transfer?) {
      self.whole = whole
      self.transfer = transfer
    }

    var bytes: Int64 { moved.load(ordering: .relaxed) }
    var acknowledged: Int64 { acked.load(ordering: .relaxed) }

    /// A negative count means that libcurl begins the body again on another connection.
    func add(_ count: Int64) {
      moved.wrappingAdd(count, ordering: .relaxed)
      if count > 0 { whole.sent.wrappingAdd(count, ordering: .relaxed) }
    }

    /// All of the try, so far.
    func acknowledge(_ all: Int64) {
      let more = all - acked.exchange(all, ordering: .relaxed)
      whole.onTheWay.wrappingAdd(more, ordering: .relaxed)
      if more > 0 { whole.arrivedBytes.wrappingAdd(more, ordering: .relaxed) }
    }

    func end(confirmed size: Int64?) {
      if let transfer { whole.underWay.withLock { $0[transfer] = nil } }
      whole.active.wrappingSubtract(1, ordering: .relaxed)
      whole.onTheWay.wrappingSubtract(acknowledged, ordering: .relaxed)
      guard let size else { return }
      if let part = transfer?.part, !whole.arrived.withLock({ $0.insert(part).inserted }) { return }
      whole.arrivedBytes.wrappingAdd(max(0, size - acknowledged), ordering: .relaxed)
      whole.confirmed.wrappingAdd(size, ordering: .relaxed)
      whole.doneParts.wrappingAdd(1, ordering: .relaxed)
    }
  }

  /// The upload begins anew: what was confirmed belongs to one that is gone.
  func reset() {
    begun.wrappingAdd(1, ordering: .relaxed)
    confirmed.store(0, ordering: .relaxed)
    doneParts.store(0, ordering: .relaxed)
    arrived.withLock { $0 = [] }
  }
}
