import MultipartBasics

/// The part buffers of one stream: they are reused, and there are never more of them than the plan's window allows.
///
/// The limit is in bytes: the buffers in use may not exceed the first part's size times the concurrency, or twice the
/// requested size if that is more. So it also applies while older small parts and newer large ones are in use together.
/// Buffers of a size that is no longer requested are unmapped.
final class PartRing: Sendable {
  private struct State: Sendable {
    var free: [StreamBuffer] = []
    var bytesOut: Int64 = 0
    var buffersOut = 0
    var peak: Int64 = 0
    /// The last requested size.
    var size: Int64 = 0
    var stopped: Failure?
    var keepsFree = true
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var identifiers: UInt64 = 0
  }

  private enum Grant {
    case reuse(StreamBuffer)
    case make(dropping: [StreamBuffer])
    case refuse(Failure)
    case wait
  }

  private let budget: Int64
  private let state = Locked(State())

  init(plan: StreamPlan, concurrency: Int) {
    budget = plan.budget(concurrency)
  }

  /// Bytes of the buffers in use, and their maximum so far.
  var bytesInUse: Int64 { state.withLock { $0.bytesOut } }
  var peakBytes: Int64 { state.withLock { $0.peak } }
  var buffersInUse: Int { state.withLock { $0.buffersOut } }
  var waiting: Int { state.withLock { $0.waiters.count } }

  /// A buffer of `size` bytes, as soon as the limit allows. Throws if the ring is stopped or the task is cancelled.
  func acquire(_ size: Int64) async throws(Failure) -> StreamBuffer {
    while true {
      guard !Task.isCancelled else { throw Self.interrupted }
      switch state.withLock({ take(&$0, size) }) {
      case .reuse(let buffer):
        return buffer
      case .make(let old):
        for buffer in old { buffer.unmap() }
        do throws(Failure) {
          return try StreamBuffer(size: size)
        } catch {
          returned(size)
          throw error
        }
      case .refuse(let failure):
        throw failure
      case .wait:
        await wait(size)
      }
    }
  }

  /// Takes back a buffer that is no longer used.
  func giveBack(_ buffer: StreamBuffer) {
    // Unmapped before it is subtracted, so that the next buffer never exists at the same time.
    let keeps = state.withLock { $0.keepsFree && $0.stopped == nil && buffer.size == $0.size }
    if !keeps { buffer.unmap() }
    returned(buffer.size, keeping: keeps ? buffer : nil)
  }

  /// No more buffers will be requested: returned buffers are unmapped.
  func retire() {
    let free = state.withLock { state in
      state.keepsFree = false
      defer { state.free = [] }
      return state.free
    }
    for buffer in free { buffer.unmap() }
  }

  /// Ends waiting for a buffer, now and later, with an error. Buffers in use stay valid.
  func stop() {
    let waiters = state.withLock { state in
      state.stopped = state.stopped ?? Self.interrupted
      return Self.takeWaiters(&state)
    }
    retire()
    for waiter in waiters { waiter.resume() }
  }

  private func take(_ state: inout State, _ size: Int64) -> Grant {
    if let failure = state.stopped { return .refuse(failure) }
    guard fits(state, size) else { return .wait }
    state.bytesOut += size
    state.buffersOut += 1
    state.peak = max(state.peak, state.bytesOut)
    if state.size == size, let buffer = state.free.popLast() { return .reuse(buffer) }
    state.size = size
    defer { state.free = [] }
    return .make(dropping: state.free)
  }

  private func fits(_ state: State, _ size: Int64) -> Bool {
    state.bytesOut + size <= max(budget, 2 * size)
  }

  private func returned(_ size: Int64, keeping buffer: StreamBuffer? = nil) {
    let (waiters, late) = state.withLock { state in
      state.bytesOut -= size
      state.buffersOut -= 1
      // The size may have changed, or the ring been stopped, since the decision to keep it.
      let keeps = state.keepsFree && state.size == size
      if let buffer, keeps { state.free.append(buffer) }
      return (Self.takeWaiters(&state), keeps ? nil : buffer)
    }
    late?.unmap()
    for waiter in waiters { waiter.resume() }
  }

  /// Suspends until something has changed; then the caller checks again.
  private func wait(_ size: Int64) async {
    let identifier = state.withLock { state in
      state.identifiers += 1
      return state.identifiers
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The task is marked as cancelled before the handler runs: either this check sees it, or the handler finds the
        // waiter.
        let isOver = state.withLock { state in
          if state.stopped != nil || fits(state, size) || Task.isCancelled { return true }
          state.waiters[identifier] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: identifier) }?.resume()
    }
  }

  private static func takeWaiters(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    defer { state.waiters = [:] }
    return Array(state.waiters.values)
  }

  private static var interrupted: Failure { Failure(.interrupted, "waiting for a part's memory was stopped") }
}
