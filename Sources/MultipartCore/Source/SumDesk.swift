internal import CKernels
import MultipartBasics

/// Computes the SHA-256, and other checksums on request, of slices of one file, two at a time on one core: each stream
/// hides the other's latency, which takes a third off the cost of each.
///
/// Slices wait in a queue. A worker takes two and processes both window by window; when one ends, the next takes its
/// place. There are as many workers as needed, and at most as many as cores.
final class SumDesk: Sendable {
  /// Whether it is worth using: whether the CPU has the instructions, without which OpenSSL is faster. A provider that
  /// OpenSSL is configured to use, such as a FIPS module, computes every SHA-256 itself.
  static let isWorthIt = ck_sha256_has_pairs() == 1 && DigestContext.isSHA256Default

  struct Job: Sendable {
    var identifier: UInt64
    var slice: PartSlice
    /// Checksums in addition to SHA-256.
    var others: Set<ChecksumAlgorithm>
    var isStopped: @Sendable () -> Bool
    var finish: @Sendable (Result<[ChecksumAlgorithm: Checksum], Failure>) -> Void
  }

  private struct State: Sendable {
    var queue: [Job] = []
    var workers = 0
    /// The number of jobs in the queue or with a worker.
    var jobs = 0
    var identifiers: UInt64 = 0
    /// Unfinished jobs, and whether their caller was cancelled.
    var cancelled: [UInt64: Bool] = [:]
  }

  private let state = Locked(State())
  private static let cores = Int(ck_processors())

  func sums(
    of slice: PartSlice, others: Set<ChecksumAlgorithm>, unless isStopped: @escaping @Sendable () -> Bool
  ) async throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    let identifier = state.withLock { state in
      state.identifiers += 1
      state.cancelled[state.identifiers] = false
      return state.identifiers
    }
    let result: Result<[ChecksumAlgorithm: Checksum], Failure> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(
          Job(identifier: identifier, slice: slice, others: others, isStopped: isStopped) {
            continuation.resume(returning: $0)
          })
      }
    } onCancel: {
      state.withLock { if $0.cancelled[identifier] != nil { $0.cancelled[identifier] = true } }
    }
    return try result.get()
  }

  /// Starts another worker only if the existing ones are busy, because a worker handles two jobs.
  private func submit(_ job: Job) {
    let begins = state.withLock { state in
      state.queue.append(job)
      state.jobs += 1
      let begins = state.jobs > 2 * state.workers && state.workers < Self.cores
      if begins { state.workers += 1 }
      return begins
    }
    if begins { Task { [self] in await work() } }
  }

  private func work() async {
    var lanes: [SumLane] = []
    var steps = 0
    while take(&lanes) {
      let done = SumLane.step(&lanes)
      for lane in done { finish(lane.job, lane.result) }
      // There may be no more threads than workers: callers whose checksums are ready get to run before the next window,
      // and all other tasks at least every millisecond.
      steps += 1
      if steps % 8 == 0 { dismiss() }
      if !done.isEmpty || steps % 8 == 0 { await Task.yield() }
      for index in lanes.indices where isCancelled(lanes[index].job) { lanes[index].stop() }
    }
  }

  /// Fills the lanes from the queue; false if there is nothing to do, and the worker ends.
  private func take(_ lanes: inout [SumLane]) -> Bool {
    let jobs = state.withLock { state in
      let taken = Array(state.queue.prefix(2 - lanes.count))
      state.queue.removeFirst(taken.count)
      if taken.isEmpty, lanes.isEmpty { state.workers -= 1 }
      return taken
    }
    for job in jobs { lanes.append(SumLane(job)) }
    return !lanes.isEmpty
  }

  private func isCancelled(_ job: Job) -> Bool {
    job.isStopped() || state.withLock { $0.cancelled[job.identifier] == true }
  }

  /// Ends jobs in the queue whose callers were cancelled, without waiting for the jobs before them.
  private func dismiss() {
    let gone = state.withLock { state in
      let gone = state.queue.filter { $0.isStopped() || state.cancelled[$0.identifier] == true }
      if !gone.isEmpty { state.queue.removeAll { job in gone.contains { $0.identifier == job.identifier } } }
      return gone
    }
    for job in gone { finish(job, .failure(.interrupted)) }
  }

  private func finish(_ job: Job, _ result: Result<[ChecksumAlgorithm: Checksum], Failure>) {
    state.withLock { state in
      state.jobs -= 1
      state.cancelled[job.identifier] = nil
    }
    job.finish(result)
  }
}
