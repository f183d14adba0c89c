import Glibc

/// Waits for one child on a thread of its own, and signals it while it is there.
///
/// The child is only reaped under the lock: until then its number cannot become another process's, so a signal sent
/// under the same lock never hits a stranger.
final class ProducerWatch: Sendable {
  private struct State: Sendable {
    var end: Result<ProducerEnd, Failure>?
    var waiters: [CheckedContinuation<Result<ProducerEnd, Failure>, Never>] = []
  }

  private let pid: pid_t
  private let state = Locked(State())

  init(_ pid: pid_t) {
    self.pid = pid
  }

  var end: Result<ProducerEnd, Failure>? { state.withLock { $0.end } }

  func begin() throws(Failure) {
    try OwnThread.start { self.run() }.detach()
  }

  /// There is no thread to wait with: the child ends now.
  func abandon() {
    signal(SIGKILL)
    run()
  }

  func signal(_ number: Int32) {
    state.withLock { state in
      if state.end == nil { _ = kill(pid, number) }
    }
  }

  func wait() async -> Result<ProducerEnd, Failure> {
    await withCheckedContinuation { continuation in
      let end = state.withLock { state in
        if state.end == nil { state.waiters.append(continuation) }
        return state.end
      }
      if let end { continuation.resume(returning: end) }
    }
  }

  /// `waitid` with WNOWAIT until the child has ended, then `waitpid`, which no longer waits.
  private func run() {
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let (end, waiters) = state.withLock { state in
      let end = reap()
      state.end = end
      defer { state.waiters = [] }
      return (end, state.waiters)
    }
    for waiter in waiters { waiter.resume(returning: end) }
  }

  private func reap() -> Result<ProducerEnd, Failure> {
    var status: Int32 = 0
    var found = waitpid(pid, &status, 0)
    while found < 0, errno == EINTR { found = waitpid(pid, &status, 0) }
    // Somebody else has taken the status: what the command says of its output is lost, and not good news.
    guard found == pid else {
      return .failure(
        Failure(.local, "how the command ended cannot be known: " + String(cString: strerror(errno))))
    }
    let signal = status & 0x7F
    return .success(signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal))
  }
}
