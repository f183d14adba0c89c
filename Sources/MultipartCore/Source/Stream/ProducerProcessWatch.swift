import Glibc
import MultipartBasics

/// Waits for one child on its own thread, and sends signals to it or to its group while it exists.
///
/// The child is reaped only under the lock: until then its pid cannot be reused for another process or group, so a
/// signal sent under the same lock never reaches an unrelated process. A group leader that has failed stays unreaped
/// until `letGo`, so that its group can still be signalled. One that has succeeded is reaped, because a process that it
/// started may wait for that (`tail --pid`); the group keeps its number while it has members, and it is a different
/// group only if a process has that pid.
final class ProducerWatch: Sendable {
  private enum Life: Sendable {
    case running(isLetGo: Bool)
    /// It has failed and is not reaped yet.
    case ended(Result<ProducerEnd, Failure>)
    /// It is reaped; processes that it started may still run in its group.
    case left(Result<ProducerEnd, Failure>)
    case gone(Result<ProducerEnd, Failure>)

    var end: Result<ProducerEnd, Failure>? {
      switch self {
      case .running: nil
      case .ended(let end), .left(let end), .gone(let end): end
      }
    }
  }

  private struct State: Sendable {
    var life: Life
    var waiters: [CheckedContinuation<Result<ProducerEnd, Failure>, Never>] = []
    /// Processes outside the group that a signal was sent to: without the processes between, nothing leads to them.
    var outside: Set<RunningProcess> = []
  }

  private let pid: pid_t
  private let group: ProducerGroup
  private let state: Locked<State>

  init(_ pid: pid_t, group: ProducerGroup) {
    self.pid = pid
    self.group = group
    state = Locked(State(life: .running(isLetGo: group == .ours)))
  }

  var end: Result<ProducerEnd, Failure>? { state.withLock { $0.life.end } }

  func begin() throws(Failure) {
    try OwnThread.start { self.run() }.detach()
  }

  /// Ends the child now, because no thread could be started to wait for it.
  func abandon() {
    signal(SIGKILL)
    letGo()
    run()
  }

  /// Sends a signal that ends processes. All of them stand still before the first one ends: another could take the end of
  /// a pipe for that of its input otherwise, and go on.
  func signal(_ number: Int32) {
    state.withLock { state in
      guard isThere(state) else { return }
      guard group == .own else { return send([number, SIGCONT], to: pid) }
      send([SIGSTOP], to: -pid)
      // What is still starting others is found by the second look.
      for _ in 0..<2 {
        state.outside.formUnion(RunningProcess.outside(group: pid))
        for process in state.outside where process.isAlive { send([SIGSTOP], to: process.number) }
      }
      for next in [number, SIGCONT] {
        send([next], to: -pid)
        for process in state.outside where process.isAlive { send([next], to: process.number) }
      }
    }
  }

  private func send(_ signals: [Int32], to target: pid_t) {
    for signal in signals { _ = kill(target, signal) }
  }

  /// Whether a process that the child started is still alive in its group, or outside it after a signal.
  var hasMembers: Bool {
    state.withLock { state in
      guard group == .own, isThere(state) else { return false }
      return ProducerGroup.hasMembers(beside: pid) || state.outside.contains(where: \.isAlive)
    }
  }

  /// Whether the number still belongs to the child or its group.
  private func isThere(_ state: State) -> Bool {
    switch state.life {
    case .running, .ended: true
    case .left: kill(pid, 0) != 0 && errno == ESRCH
    case .gone: false
    }
  }

  /// No more signals will be sent: the child is reaped now, or as soon as it ends.
  func letGo() {
    state.withLock { state in
      switch state.life {
      case .running: state.life = .running(isLetGo: true)
      case .ended(let end):
        reap()
        state.life = .gone(end)
      case .left(let end): state.life = .gone(end)
      case .gone: break
      }
    }
  }

  func wait() async -> Result<ProducerEnd, Failure> {
    await withCheckedContinuation { continuation in
      let end = state.withLock { state in
        if state.life.end == nil { state.waiters.append(continuation) }
        return state.life.end
      }
      if let end { continuation.resume(returning: end) }
    }
  }

  /// Waits with `waitid` and WNOWAIT, which returns the status and leaves the child unreaped.
  private func run() {
    var information = siginfo_t()
    var found = waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT)
    while found != 0, errno == EINTR { found = waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) }
    let end: Result<ProducerEnd, Failure> = found == 0 ? .success(Self.end(information)) : Self.lost(errno)
    let waiters = state.withLock { state in
      switch (state.life, end) {
      case (.running(isLetGo: false), .success(.exited(0))):
        reap()
        state.life = .left(end)
      case (.running(isLetGo: false), _): state.life = .ended(end)
      default:
        reap()
        state.life = .gone(end)
      }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: end) }
  }

  private static func end(_ information: siginfo_t) -> ProducerEnd {
    let status = information._sifields._sigchld.si_status
    return information.si_code == Int32(CLD_EXITED) ? .exited(status) : .signalled(status)
  }

  /// The child was reaped by other code: its status is lost, which counts as a failure.
  private static func lost(_ error: Int32) -> Result<ProducerEnd, Failure> {
    .failure(.system(.local, error, "the command's exit status cannot be determined"))
  }

  /// Reaps a child that has ended (`waitpid`), which returns at once.
  private func reap() {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
  }
}
