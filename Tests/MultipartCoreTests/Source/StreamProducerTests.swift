import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct StreamProducerTests {
  private func start(_ words: [String], environment: [String: String]? = nil) throws -> ProducerProcess {
    try ProducerProcess(words.map { Array($0.utf8) }, environment: environment)
  }

  private func shell(_ script: String, _ words: [String] = []) throws -> ProducerProcess {
    try start(["sh", "-c", script] + words)
  }

  private func output(_ producer: ProducerProcess, part: Int64 = 1 << 16) async throws -> [ReadPiece] {
    try await StreamSource(producer.takeDescriptor(), steps: [(100, part)]).all()
  }

  /// A clock that a test sets: sleeps end at once, or only when cancelled.
  private func world(sleeps: Bool) -> World {
    World(
      now: { Timestamp(seconds: 0) }, uptime: { .zero },
      sleep: { _ in if sleeps { try await Task.sleep(for: .seconds(3600)) } }, random: { 0 }, environment: [:])
  }

  @Test("A command's output is the stream, and its exit code decides whether it is complete")
  func exitCode() async throws {
    for (script, code) in [("printf x; exit 3", Int32(3)), ("printf x", 0)] {
      let producer = try shell(script)
      let pieces = try await output(producer)
      #expect(pieces.map(\.bytes) == [[UInt8(ascii: "x")]])
      let end = try await producer.wait()
      #expect(end == .exited(code))
      #expect(producer.end == end)
      let failure = end.failure(of: producer.command)
      #expect((failure == nil) == (code == 0))
      if let failure {
        #expect(failure.code == .dataMismatch)
        #expect(failure.message.contains("exit code 3"))
        #expect(failure.place.file == "sh")
      }
    }
  }

  @Test("A command that was ended by a signal has failed, and the signal is named")
  func signalled() async throws {
    let producer = try shell("printf x; kill -KILL $$")
    #expect(try await output(producer).count == 1)
    #expect(try await producer.wait() == .signalled(SIGKILL))
    #expect(ProducerEnd.signalled(SIGKILL).failure(of: "sh")?.message.contains("9 (SIGKILL)") == true)
    // Ctrl-C in the terminal that the command shares with this program is an interruption, whichever of them ends
    // first.
    #expect(ProducerEnd.signalled(SIGINT).failure(of: "sh", group: .ours)?.code == .interrupted)
    #expect(ProducerEnd.signalled(SIGINT).failure(of: "sh")?.code == .dataMismatch)
    #expect(ProducerEnd.signalled(SIGTERM).failure(of: "sh", group: .ours)?.code == .dataMismatch)
    #expect(ProducerEnd.signalled(40).failure(of: "sh")?.message.contains("signal 40") == true)
  }

  @Test("A command that writes nothing and succeeds is an empty object")
  func empty() async throws {
    let producer = try shell("exit 0")
    #expect(try await output(producer) == [ReadPiece(number: 1, offset: 0, bytes: [], isShort: true)])
    #expect(try await producer.wait().failure(of: "sh") == nil)
  }

  @Test("A command that closes its output early and continues is waited for")
  func earlyClose() async throws {
    let folder = try TemporaryDirectory()
    let gate = folder.path("gate")
    guard mkfifo(gate, 0o600) == 0 else { throw SystemError("mkfifo") }
    let producer = try shell("printf x; exec >&-; read line <\"$0\"; exit 5", [gate])
    #expect(try await output(producer).map(\.bytes) == [[UInt8(ascii: "x")]])
    #expect(producer.end == nil)
    let ended = Task { try await producer.wait() }
    try PosixThread.start {
      let opened = open(gate, O_WRONLY | O_CLOEXEC)
      _ = write(opened, "\n", 1)
      close(opened)
    }.detach()
    #expect(try await ended.value == .exited(5))
  }

  @Test("A command gets SIGPIPE after reading has stopped")
  func stoppedReading() async throws {
    let producer = try start(["yes"])
    let source = try StreamSource(producer.takeDescriptor(), steps: [(100, 1000)])
    #expect(try await source.next()?.part.length == 1000)
    source.stop()
    #expect(try await producer.wait() == .signalled(SIGPIPE))
  }

  @Test("The end of a command's output is noticed while another one still runs")
  func side() async throws {
    let first = try shell("printf 1")
    let second = try shell("printf 2; exec sleep 1000")
    #expect(try await output(first).count == 1)
    #expect(second.end == nil)
    await second.terminate(grace: .seconds(1), in: world(sleeps: true))
  }

  @Test("A command gets SIGTERM, and SIGKILL after the grace period")
  func terminate() async throws {
    let willing = try start(["sleep", "1000"])
    await willing.terminate(grace: .seconds(10), in: world(sleeps: true))
    #expect(willing.end == .signalled(SIGTERM))

    let stopped = try shell("kill -STOP $$; sleep 1000")
    await stopped.terminate(grace: .seconds(10), in: world(sleeps: true))
    #expect(stopped.end == .signalled(SIGTERM))

    let stubborn = try shell("trap '' TERM; echo x; exec sleep 1000")
    let source = try StreamSource(stubborn.takeDescriptor(), steps: [(100, 1)])
    #expect(try await source.next() != nil)
    await stubborn.terminate(grace: .seconds(10), in: world(sleeps: false))
    #expect(stubborn.end == .signalled(SIGKILL))
    // No process is left that a signal could reach.
    await stubborn.terminate(grace: .seconds(10), in: world(sleeps: true))
  }

  @Test("A command without a reference is ended, and leaves no zombie")
  func forgotten() async throws {
    var producer: ProducerProcess? = try start(["sleep", "1000"])
    let pid = try #require(producer?.pid)
    #expect(kill(pid, 0) == 0)
    producer = nil
    try await until("process \(pid) is gone") { kill(pid, 0) != 0 && errno == ESRCH }
  }

  @Test("Words that are not UTF-8 arrive as they are, and an environment can be given")
  func words() async throws {
    let words: [[UInt8]] = [Array("printf".utf8), Array("%s|".utf8), [0xFF, 0x20, 0xFE], [], [0xC3, 0xA4]]
    let producer = try ProducerProcess(words)
    #expect(try await output(producer).map(\.bytes) == [[0xFF, 0x20, 0xFE, 0x7C, 0x7C, 0xC3, 0xA4, 0x7C]])
    let named = try start(["/usr/bin/env"], environment: ["NAME": "väl=ue"])
    #expect(try await output(named).map(\.bytes) == [Array("NAME=väl=ue\n".utf8)])
    #expect(named.takeDescriptor() == -1)
  }

  @Test("A command that cannot be started is a missing source, with a clear message")
  func notStarted() async throws {
    let folder = try TemporaryDirectory()
    let plain = try folder.write("exit 0\n", to: "plain")
    chmod(plain, 0o644)
    // The file is written by another process: with a child of ours between fork and exec it would still be open for
    // writing, and the answer would be different.
    let bare = folder.path("bare")
    _ = try await shell("printf 'no program' >\"$0\"; chmod 755 \"$0\"", [bare]).wait()
    let cases = [
      ("s3up-no-such-command", "not found"), (plain, "permission denied"), (bare, "not a program"),
      (folder.path, "permission denied"),
    ]
    for (command, message) in cases {
      let failure = await failure { try start([command]) }
      #expect(failure?.code == .sourceMissing)
      #expect(failure?.message.contains(message) == true)
      #expect(failure?.place.file == command)
    }
    #expect(await failure { try ProducerProcess([]) }?.code == .usage)
    #expect(await failure { try ProducerProcess([[]]) }?.code == .usage)
    #expect(await failure { try ProducerProcess([[65, 0, 66]]) }?.code == .usage)
  }

  @Test(
    "A command has our process group and standard error, no blocked signals, and ignores the signals that it should")
  func inheritance() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryDirectory()
      let errors = open(folder.path("errors"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      dup2(errors, STDERR_FILENO)
      signal(SIGPIPE, SIG_IGN)
      signal(SIGHUP, SIG_IGN)
      signal(SIGCHLD, SIG_IGN)
      var blocked = sigset_t()
      sigemptyset(&blocked)
      sigaddset(&blocked, SIGINT)
      pthread_sigmask(SIG_BLOCK, &blocked, nil)
      let script = "echo to see >&2; cut -d' ' -f5 /proc/self/stat; grep -E '^Sig(Blk|Ign)' /proc/self/status; exit 3"
      let producer = try ProducerProcess(["sh", "-c", script].map { Array($0.utf8) })
      let piece = try await StreamSource(producer.takeDescriptor(), steps: [(10, 4096)]).next()
      let lines = String(decoding: try piece?.part.allBytes() ?? [], as: UTF8.self).split(separator: "\n")
      // This holds even with SIGCHLD ignored, when the kernel would discard the exit code.
      #expect(try await producer.wait() == .exited(3))
      #expect(lines.first.map(String.init) == "\(getpgrp())")
      let masks = lines.dropFirst().map { UInt64($0.split(separator: "\t")[1], radix: 16) ?? .max }
      // All signals except the C library's own, 32 and 33, and those that the tests themselves were started with.
      let known: [UInt64] = [SIGHUP, SIGINT, SIGPIPE, SIGCHLD].map { 1 << UInt64($0 - 1) }
      #expect(masks.map { $0 & known.reduce(0, |) } == [0, known[0]])
      #expect(try folder.read("errors") == Array("to see\n".utf8))
    }
  }

  /// Whether the process exists and is not a zombie.
  private func isAlive(_ pid: pid_t) -> Bool {
    guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
    return stat.split(separator: ")").last?.split(separator: " ").first != "Z"
  }

  private var clock: World {
    World(
      now: { Timestamp(seconds: 0) }, uptime: { .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds)) },
      sleep: { try await Task.sleep(for: $0) }, random: { 0 }, environment: [:])
  }

  /// A command in its own group that has started another one, whose pid is its first line of output.
  private func family(_ script: String) async throws -> (producer: ProducerProcess, child: pid_t) {
    let words = ["sh", "-c", script].map { Array($0.utf8) }
    let producer = try ProducerProcess(words, group: .own)
    let source = try StreamSource(producer.takeDescriptor(), steps: [(10, 8)])
    let first = try await source.next()?.part.allBytes() ?? []
    return (producer, try #require(pid_t(String(decoding: first, as: UTF8.self).split(separator: " ").first ?? "")))
  }

  @Test(
    "A command in its own group is ended with every process in it, whether it runs, has failed or has succeeded",
    arguments: ["wait", "exit 3", "exit 0"], [false, true])
  func endsGroup(_ end: String, deaf: Bool) async throws {
    let trap = deaf ? "trap '' TERM; " : ""
    let (producer, child) = try await family("\(trap)sleep 1000 & printf '%-16d' $!; \(end)")
    #expect(isAlive(child))
    if end != "wait" { _ = try await producer.wait() }
    await producer.terminate(grace: .milliseconds(300), in: clock)
    #expect(!isAlive(child))
    #expect(kill(producer.pid, 0) != 0, "no zombie is left")
  }

  @Test("On a machine so busy that the time to end is over late, what ignores SIGTERM is killed nevertheless")
  func endsGroupLate() async throws {
    let (producer, child) = try await family("trap '' TERM; sleep 1000 & printf '%-16d' $!; exit 3")
    _ = try await producer.wait()
    var late = clock
    late.sleep = { try await Task.sleep(for: $0 < .milliseconds(100) ? $0 : $0 + .seconds(2)) }
    await producer.terminate(grace: .milliseconds(300), in: late)
    #expect(!isAlive(child))
    kill(child, SIGKILL)
  }

  @Test("After letGo, processes that a command left running are not ended, and it leaves no zombie")
  func letsGo() async throws {
    let (producer, child) = try await family("sleep 1000 >/dev/null & printf '%-16d' $!")
    #expect(try await producer.wait() == .exited(0))
    producer.letGo()
    producer.kill()
    await producer.terminate(grace: .milliseconds(10), in: clock)
    #expect(isAlive(child))
    #expect(kill(producer.pid, 0) != 0)
    kill(child, SIGKILL)
  }

  @Test("A command has its own group if requested, and without a reference both are ended")
  func forgottenGroup() async throws {
    var family: (producer: ProducerProcess, child: pid_t)? = try await family("sleep 1000 & printf '%-16d' $!; wait")
    let (leader, child) = (try #require(family?.producer.pid), try #require(family?.child))
    #expect(getpgid(child) == leader && getpgid(leader) == leader)
    family = nil
    try await until("the command and its child are gone") { !isAlive(child) && kill(leader, 0) != 0 }
  }
}
