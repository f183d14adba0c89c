import Glibc

/// Waits for one child on a thread of its own, and signals it, or its group, while it is there.
///
/// The child is only reaped under the lock: until then its number cannot become another process's or another group's, so
/// a signal sent under the same lock never hits a stranger. One that leads a group and has failed stays unreaped until it
/// is let go: what it has started is signalled by its number. One that has ended well is reaped, for what it has started
/// may wait for that (`tail --pid`); its group keeps the number as long as it has members, and only when a process has
/// it as its own is the group another one.
final class ProducerWatch: Sendable {
  private enum Life: Sendable {
    case running(isLetGo: Bool)
    /// It has failed and is not reaped.
    case ended(Result<ProducerEnd, Failure>)
    /// It is reaped, and what it has started may run on in its group.
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

  /// There is no thread to wait with: the child ends now.
  func abandon() {
    signal(SIGKILL)
    letGo()
    run()
  }

  func signal(_ number: Int32) {
    state.withLock { state in
      if isThere(state) { _ = kill(group == .own ? -pid : pid, number) }
    }
  }

  /// Something that the child has started is still alive in its group.
  var hasMembers: Bool {
    state.withLock { group == .own && isThere($0) && ProducerGroup.hasMembers(beside: pid) }
  }

  /// The number is still the child's, or its group's.
  private func isThere(_ state: State) -> Bool {
    switch state.life {
    case .running, .ended: true
    case .left: kill(pid, 0) != 0 && errno == ESRCH
    case .gone: false
    }
  }

  /// Nobody signals it any more: it is reaped now, or as soon as it ends.
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

  /// `waitid` with WNOWAIT, which tells the end and leaves the child to be reaped.
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

  /// Somebody else has taken the status: what the command says of its output is lost, and not good news.
  private static func lost(_ error: Int32) -> Result<ProducerEnd, Failure> {
    .failure(.system(.local, error, "how the command ended cannot be known"))
  }

  /// `waitpid` of a child that has ended: it does not wait.
  private func reap() {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
  }
}
