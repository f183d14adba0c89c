import Glibc
import MultipartBasics

/// Which end of a command is a pipe to this program.
enum PipeEnd: Sendable {
  case output, input
}

/// How a producer ended.
enum ProducerEnd: Sendable, Equatable {
  case exited(Int32)
  case signalled(Int32)

  /// Why its output must not be published, or why it may not have read its input; nil if it succeeded. Ctrl-C goes to
  /// every process of the terminal's group, so a command in our group may be seen to die of it before the signal has
  /// reached this process.
  func failure(of command: String, group: ProducerGroup = .own, end: PipeEnd = .output) -> Failure? {
    if case .ours = group, [.signalled(SIGINT), .signalled(SIGQUIT)].contains(self) {
      return Failure.interrupted.at(Place(file: command))
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
          .dataMismatch, "the command \(what), so it may not have read the whole object", remedy: "see why it fails")
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

/// A command whose standard output is the source of an upload, or whose standard input receives an object.
///
/// It inherits the other standard streams, and runs in our process group or its own. Its output counts only if it exits
/// with 0: the end of the stream alone proves nothing, and a command that closes its output early is waited for too.
///
///     let producer = try ProducerProcess(["pg_dump", "db"].map { Array($0.utf8) })
///     let source = try StreamSource(descriptor: producer.takeDescriptor(), owns: true, plan: plan, ring: ring)
///     … every part …
///     if let failure = try await producer.wait().failure(of: producer.command) { throw failure }
final class ProducerProcess: Sendable {
  /// The command's first word, for messages.
  let command: String
  let pid: Int32
  let group: ProducerGroup
  private let watch: ProducerWatch
  private let pipe: Locked<Int32>

  /// Starts the command, looked up in PATH as a shell would. Its words are bytes, like file names. Without an
  /// environment it inherits ours; with `readsNothing` its standard input is `/dev/null`. `errors` becomes its standard
  /// error; the caller closes it.
  init(
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

  /// Sends SIGTERM to a command that no caller waits for; it is still reaped, so that no zombie stays.
  deinit {
    let left = pipe.withLock { $0 }
    if left >= 0 { close(left) }
    watch.signal(SIGTERM)
    watch.letGo()
  }

  /// Our end of the pipe, which the caller must close: the command then gets SIGPIPE if it writes more, or the end of
  /// its input. -1 if it was already taken.
  func takeDescriptor() -> Int32 {
    pipe.withLock { pipe in
      defer { pipe = -1 }
      return pipe
    }
  }

  /// Waits until the command has ended. Throws if its exit status cannot be determined.
  ///
  /// A signal that has ended it may have been sent to all processes of a job, as by systemd, and reach this one a moment
  /// later: then the run is interrupted, and the command has not failed.
  func wait() async throws(Failure) -> ProducerEnd {
    let end = try await watch.wait().get()
    if case .signalled(let number) = end, [SIGINT, SIGQUIT, SIGTERM, SIGHUP].contains(number) {
      try? await Task.sleep(for: .milliseconds(300))
    }
    return end
  }

  /// How it ended; nil while it runs.
  var end: ProducerEnd? { try? watch.end?.get() }

  /// Sends SIGKILL to the command, or to its whole group if it has its own.
  func kill() { watch.signal(SIGKILL) }

  /// Leaves processes running that a successful command has started in its group.
  func letGo() { watch.letGo() }

  /// Sends SIGTERM, and after the grace period SIGKILL; returns once the command has ended. This works in a cancelled
  /// task too. If the command has its own group, everything that it has started ends as well; otherwise such
  /// processes end because their pipes are closed, if at all.
  func terminate(grace: Duration, in world: World) async {
    watch.signal(SIGTERM)
    let killer = Task { [watch] in
      guard (try? await world.sleep(grace)) != nil else { return }
      watch.signal(SIGKILL)
    }
    _ = await watch.wait()
    // A task of its own, because a cancelled task cannot sleep.
    await Task { [watch] in
      func isEmpty(within limit: Duration) async -> Bool {
        let start = world.uptime()
        while watch.hasMembers, world.uptime() - start < limit {
          guard (try? await world.sleep(.milliseconds(20))) != nil else { break }
        }
        return !watch.hasMembers
      }
      guard await !isEmpty(within: grace) else { return }
      // On a busy machine SIGKILL may be late.
      await killer.value
      // A process that does not end within a second of it hangs in the kernel.
      _ = await isEmpty(within: .seconds(1))
    }.value
    killer.cancel()
    watch.letGo()
  }
}
