import Glibc

/// Which end of a command is a pipe to this program.
package enum PipeEnd: Sendable {
  case output, input
}

/// How a producer ended.
package enum ProducerEnd: Sendable, Equatable {
  case exited(Int32)
  case signalled(Int32)

  /// Why its output must not be published, or its input may not have been taken; nil if it succeeded. Ctrl-C goes to
  /// every process of the terminal's group, so we may learn that a command in our group died of it before the signal
  /// has reached us.
  package func failure(of command: String, group: ProducerGroup = .own, end: PipeEnd = .output) -> Failure? {
    if case .ours = group, self == .signalled(SIGINT) {
      return Failure(.interrupted, "interrupted").at(Place(file: command))
    }
    let what =
      switch self {
      case .exited(0): ""
      case .exited(let code): "ended with exit code \(code)"
      case .signalled(let signal): "was ended by signal \(Self.title(of: signal))"
      }
    guard !what.isEmpty else { return nil }
    let failure =
      switch end {
      case .output:
        Failure(
          .dataMismatch, "the command \(what), so its output is incomplete",
          remedy: "nothing was published: see why it fails")
      case .input:
        Failure(
          .dataMismatch, "the command \(what), so it may not have taken the object", remedy: "see why it fails")
      }
    return failure.at(Place(file: command))
  }

  private static func title(_ number: Int32) -> String? {
    let titles: [(Int32, String)] = [
      (SIGHUP, "SIGHUP"), (SIGINT, "SIGINT"), (SIGQUIT, "SIGQUIT"), (SIGILL, "SIGILL"), (SIGABRT, "SIGABRT"),
      (SIGBUS, "SIGBUS"), (SIGFPE, "SIGFPE"), (SIGKILL, "SIGKILL"), (SIGSEGV, "SIGSEGV"), (SIGPIPE, "SIGPIPE"),
      (SIGALRM, "SIGALRM"), (SIGTERM, "SIGTERM"), (SIGXCPU, "SIGXCPU"), (SIGXFSZ, "SIGXFSZ"),
    ]
    return titles.first { $0.0 == number }?.1
  }

  private static func title(of signal: Int32) -> String {
    title(signal).map { "\(signal) (\($0))" } ?? "\(signal)"
  }
}

/// A command whose standard output is the source of an upload, or whose standard input takes an object.
///
/// It runs with our other standard streams, in our process group or its own. Its output counts only if it exits
/// with 0: the end of the stream alone proves nothing, and a command that closes its output early is waited for too.
///
///     let producer = try ProducerProcess(["pg_dump", "db"].map { Array($0.utf8) })
///     let source = try StreamSource(descriptor: producer.takeDescriptor(), owns: true, plan: plan, ring: ring)
///     … every part …
///     if let failure = try await producer.wait().failure(of: producer.command) { throw failure }
package final class ProducerProcess: Sendable {
  /// The command's first word, for messages.
  package let command: String
  package let pid: Int32
  let group: ProducerGroup
  private let watch: ProducerWatch
  private let pipe: Locked<Int32>

  /// Starts the command, looked up in PATH as a shell would. Its words are bytes, as file names are. Without an
  /// environment it inherits ours; with `readsNothing` its standard input is `/dev/null`. `errors` becomes its standard
  /// error; the caller closes it.
  package init(
    _ words: [[UInt8]], environment: [String: String]? = nil, readsNothing: Bool = false, group: ProducerGroup = .ours,
    errors: Int32? = nil, end: PipeEnd = .output
  ) throws(Failure) {
    guard let first = words.first, !first.isEmpty else {
      throw Failure(.usage, "no command is named", remedy: "write it after --, such as -- pg_dump mydb")
    }
    guard words.allSatisfy({ !$0.contains(0) }) else { throw Failure(.usage, "a word of the command holds a NUL") }
    command = String(decoding: first, as: UTF8.self)
    self.group = group
    let spawned = try ProducerSpawn.run(
      words, environment: environment, readsNothing: readsNothing, group: group, errors: errors, end: end)
    pid = spawned.pid
    pipe = Locked(spawned.pipe)
    watch = ProducerWatch(spawned.pid, group: group)
    do throws(Failure) {
      try watch.begin()
    } catch {
      close(spawned.pipe)
      watch.abandon()
      throw error
    }
  }

  /// A command that nobody waits for gets SIGTERM; it is still waited for, so that no zombie stays.
  deinit {
    let left = pipe.withLock { $0 }
    if left >= 0 { close(left) }
    watch.signal(SIGTERM)
    watch.letGo()
  }

  /// Our end of the pipe, which the caller must close: the command then gets SIGPIPE if it writes more, or the end of its
  /// input. -1 if it was taken before.
  package func takeDescriptor() -> Int32 {
    pipe.withLock { pipe in
      defer { pipe = -1 }
      return pipe
    }
  }

  /// Waits until it has ended. Throws if its exit status cannot be found out.
  package func wait() async throws(Failure) -> ProducerEnd {
    try await watch.wait().get()
  }

  /// How it ended; nil while it runs.
  package var end: ProducerEnd? { try? watch.end?.get() }

  /// Sends SIGKILL to it, or to its whole group if that is its own.
  package func kill() { watch.signal(SIGKILL) }

  /// After a success: processes that it left running in its group are not ended.
  package func letGo() { watch.letGo() }

  /// Sends SIGTERM, and after the grace period SIGKILL; returns once it has ended. Works for a cancelled task too. If the
  /// group is its own, everything that it started there ends as well; otherwise that ends because of its closed pipes, if
  /// at all.
  package func terminate(grace: Duration, in world: World) async {
    watch.signal(SIGTERM)
    // A stopped process handles SIGTERM only after SIGCONT.
    watch.signal(SIGCONT)
    let killer = Task { [watch] in
      guard (try? await world.sleep(grace)) != nil else { return }
      watch.signal(SIGKILL)
    }
    _ = await watch.wait()
    // In a task of its own, because a cancelled task cannot sleep.
    await Task { [watch] in
      // What does not end within a second of SIGKILL hangs in the kernel.
      let start = world.uptime()
      while watch.hasMembers, world.uptime() - start < grace + .seconds(1) {
        guard (try? await world.sleep(.milliseconds(20))) != nil else { return }
      }
    }.value
    killer.cancel()
    watch.letGo()
  }
}
