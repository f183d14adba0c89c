internal import CKernels

/// Computes the SHA-256, and whatever else is asked for, of slices of one file, two at a time on one core: the two
/// streams hide the latency of each other's instructions, which takes a third off the cost of each.
///
/// Whoever comes waits in a line. A worker takes two from it and goes through both in step, a window at a time; when
/// one ends the next takes its place. There are as many workers as it takes, and no more than there are cores.
final class SumDesk: Sendable {
  /// Where the CPU has the instructions; elsewhere OpenSSL is better.
  static let isWorthIt = ck_sha256_has_pairs() == 1

  struct Job: Sendable {
    var identifier: UInt64
    var slice: PartSlice
    /// Beside SHA-256.
    var others: Set<ChecksumAlgorithm>
    var isStopped: @Sendable () -> Bool
    var finish: @Sendable (Result<[ChecksumAlgorithm: Checksum], Failure>) -> Void
  }

  private struct State: Sendable {
    var line: [Job] = []
    var workers = 0
    /// In the line or with a worker.
    var jobs = 0
    var identifiers: UInt64 = 0
    /// Known here until they are done, and whether whoever waits has gone.
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

  /// One worker serves two, so another one begins only when those that there are have their hands full.
  private func submit(_ job: Job) {
    let begins = state.withLock { state in
      state.line.append(job)
      state.jobs += 1
      let begins = state.jobs > 2 * state.workers && state.workers < Self.cores
      if begins { state.workers += 1 }
      return begins
    }
    if begins { Task.begin { [self] in await work() } }
  }

  private func work() async {
    var lanes: [SumLane] = []
    var steps = 0
    while take(&lanes) {
      let done = SumLane.step(&lanes)
      for lane in done { finish(lane.job, lane.result) }
      // There may be no more threads than workers: whoever waited for these sums goes on before the next window, and
      // everybody else at least each millisecond.
      steps += 1
      if steps % 8 == 0 { dismiss() }
      if !done.isEmpty || steps % 8 == 0 { await Task.yield() }
      for index in lanes.indices where isCancelled(lanes[index].job) { lanes[index].stop() }
    }
  }

  /// Fills the lanes from the line; false when there is nothing to do, and the worker is none any more.
  private func take(_ lanes: inout [SumLane]) -> Bool {
    let jobs = state.withLock { state in
      let taken = Array(state.line.prefix(2 - lanes.count))
      state.line.removeFirst(taken.count)
      if taken.isEmpty, lanes.isEmpty { state.workers -= 1 }
      return taken
    }
    for job in jobs { lanes.append(SumLane(job)) }
    return !lanes.isEmpty
  }

  private func isCancelled(_ job: Job) -> Bool {
    job.isStopped() || state.withLock { $0.cancelled[job.identifier] == true }
  }

  /// Whoever waits in the line and wants no sum any more does not wait for those before it.
  private func dismiss() {
    let gone = state.withLock { state in
      let gone = state.line.filter { $0.isStopped() || state.cancelled[$0.identifier] == true }
      if !gone.isEmpty { state.line.removeAll { job in gone.contains { $0.identifier == job.identifier } } }
      return gone
    }
    for job in gone { finish(job, .failure(Failure(.interrupted, "interrupted"))) }
  }

  private func finish(_ job: Job, _ result: Result<[ChecksumAlgorithm: Checksum], Failure>) {
    state.withLock { state in
      state.jobs -= 1
      state.cancelled[job.identifier] = nil
    }
    job.finish(result)
  }
}
