import Glibc

/// How a producer ended.
package enum ProducerEnd: Sendable, Equatable {
  case exited(Int32)
  case signalled(Int32)

  /// Why its output must not be published; nil when it ended well. Ctrl-C goes to every process of the terminal's group:
  /// of a command that shares ours and died of it, this may be known before the signal has reached us.
  package func failure(of command: String, group: ProducerGroup = .own) -> Failure? {
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
    return Failure(
      .dataMismatch, "the command \(what), so its output is not whole",
      remedy: "nothing was published: see why it fails"
    ).at(Place(file: command))
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

/// A command whose standard output is the source of an upload.
///
/// It runs with our standard input and standard error, in our process group or one of its own. Its output counts only when it has ended with exit code 0: the end of the stream alone proves nothing, and a
/// command that closes its output early is waited for like any other.
///
///     let producer = try ProducerProcess(["pg_dump", "db"].map { Array($0.utf8) })
///     let source = try StreamSource(descriptor: producer.takeDescriptor(), owns: true, plan: plan, ring: ring)
///     … every part …
///     if let failure = try await producer.wait().failure(of: producer.command) { throw failure }
package final class ProducerProcess: Sendable {
  /// The command's first word, for people.
  package let command: String
  package let pid: Int32
  let group: ProducerGroup
  private let watch: ProducerWatch
  private let output: Locked<Int32>

  /// Starts the command, found by PATH like a shell would. Its words are bytes, as file names are. Without an
  /// environment of its own it inherits ours; one that reads nothing has `/dev/null` in place of our standard input.
  /// With `errors` that descriptor is its standard error; it stays the caller's.
  package init(
    _ words: [[UInt8]], environment: [String: String]? = nil, readsNothing: Bool = false, group: ProducerGroup = .ours,
    errors: Int32? = nil
  ) throws(Failure) {
    guard let first = words.first, !first.isEmpty else {
      throw Failure(.usage, "no command is named", remedy: "write it after --, as in: -- pg_dump mydb")
    }
    guard words.allSatisfy({ !$0.contains(0) }) else { throw Failure(.usage, "a word of the command holds a NUL") }
    command = String(decoding: first, as: UTF8.self)
    self.group = group
    let spawned = try ProducerSpawn.run(
      words, environment: environment, readsNothing: readsNothing, group: group, errors: errors)
    pid = spawned.pid
    output = Locked(spawned.output)
    watch = ProducerWatch(spawned.pid, group: group)
    do throws(Failure) {
      try watch.begin()
    } catch {
      close(spawned.output)
      watch.abandon()
      throw error
    }
  }

  /// A command that nobody waits for any more is asked to end; it is still waited for, so that no zombie stays.
  deinit {
    let left = output.withLock { $0 }
    if left >= 0 { close(left) }
    watch.signal(SIGTERM)
    watch.letGo()
  }

  /// The reading end of its standard output, which is the caller's to close from now on: that is how the command
  /// learns, by SIGPIPE, that nobody reads any more. -1 when it was taken before.
  package func takeDescriptor() -> Int32 {
    output.withLock { output in
      defer { output = -1 }
      return output
    }
  }

  /// Waits until it has ended. Throws when that cannot be known.
  package func wait() async throws(Failure) -> ProducerEnd {
    try await watch.wait().get()
  }

  /// How it ended, if it has.
  package var end: ProducerEnd? { try? watch.end?.get() }

  /// Forces it to end, with its group where that is its own.
  package func kill() { watch.signal(SIGKILL) }

  /// It has ended well, and what it may have left running in its group is nobody's concern.
  package func letGo() { watch.letGo() }

  /// Asks it to end (SIGTERM), and forces it (SIGKILL) after the time of grace; returns when it has ended. It does so
  /// also for a cancelled task. Where its group is its own, all that it has started there ends with it; else that ends by
  /// the closed pipes, if at all.
  package func terminate(grace: Duration, in world: World) async {
    watch.signal(SIGTERM)
    // One that is stopped would not see the other before it goes on.
    watch.signal(SIGCONT)
    let killer = Task.begin { [watch] in
      guard (try? await world.sleep(grace)) != nil else { return }
      watch.signal(SIGKILL)
    }
    _ = await watch.wait()
    // A task of its own, for a cancelled one does not sleep.
    await Task.begin { [watch] in
      // What SIGKILL does not end within a second, nothing ends.
      let start = world.uptime()
      while watch.hasMembers, world.uptime() - start < grace + .seconds(1) {
        guard (try? await world.sleep(.milliseconds(20))) != nil else { return }
      }
    }.value
    killer.cancel()
    watch.letGo()
  }
}
