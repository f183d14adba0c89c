import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// `--from-command`: a command's output is published if the command succeeds.
@Suite(.crowd) struct ProducerTests {
  private let put = ["put", "--from-command", "s3://bucket/k"]

  private func run(_ box: BlackBox, _ line: String, _ options: [String] = []) async throws -> ChildProcess.Result {
    try await box.run(put + options + ["--", "sh", "-c", line])
  }

  @Test("a command's output is uploaded, and its standard error is shown", arguments: [10, 20 * mebi])
  func arrives(_ size: Int) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", size)
    let result = try await run(box, "echo dumping >&2; cat f")
    #expect(result.status == 0)
    #expect(result.errors == "dumping\n")
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("options after -- are the command's")
  func words() async throws {
    let box = try BlackBox()
    let result = try await box.run(put + ["--", "printf", "%s|", "--json", "a b", "-q"])
    result.expectSuccess()
    #expect(result.output.hasPrefix("uploaded the output of printf to s3://bucket/k ("), "\(result.output)")
    #expect(box.fake.object("k")?.bytes == Array("--json|a b|-q|".utf8))
  }

  static let ends: [(String, String)] = [
    ("exit 3", "exit code 3"), ("kill -KILL $$", "9 (SIGKILL)"), ("kill -TERM $$", "15 (SIGTERM)"),
  ]

  @Test(
    "a command that fails publishes nothing and is 65, however much it printed", arguments: [0, 1000, 20 * mebi], ends)
  func fails(_ size: Int, _ end: (line: String, says: String)) async throws {
    let box = try BlackBox()
    try box.sample("f", size)
    let result = try await run(box, "cat f; \(end.line)", ["--json"])
    #expect(result.status == 65, "\(result.errors)")
    #expect(result.errors.contains(end.says), "\(result.errors)")
    #expect(result.json["resumable"] as? Bool == false)
    box.expectNothingLeft()
    #expect(box.fake.requests(.putObject).isEmpty && box.fake.requests(.completeMultipartUpload).isEmpty)
    #expect(try box.records() == [])
  }

  @Test(
    "a signal that ends the command before it reaches the run is the run's interruption", arguments: [SIGTERM, SIGHUP])
  func signalToAll(_ signal: Int32) async throws {
    let box = try BlackBox()
    let child = try box.start(put + ["--", "sh", "-c", "echo begun; echo $$ >pid.new; mv pid.new pid; exec sleep 100"])
    try await until("the command runs") { FileManager.default.fileExists(atPath: box.files.path("pid")) }
    let text = String(decoding: try box.files.read("pid"), as: UTF8.self)
    let pid = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(kill(pid, signal) == 0)
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(60))
    #expect(result.status == 128 + signal && result.errors.contains("interrupted"), "\(result.errors)")
    box.expectNothingLeft()
  }

  @Test("a command that dies at 90 % publishes nothing and leaves no upload")
  func diesLate() async throws {
    let box = try BlackBox()
    try box.sample("f", 20 * mebi)
    let line = "head -c 18874368 f; until [ -e go ]; do sleep 0.05; done; exit 1"
    let child = try box.start(put + ["--", "sh", "-c", line])
    #expect(await box.fake.wait { $0.count { $0.operation == .uploadPart && $0.done } == 2 })
    try box.files.write([], to: "go")
    await child.wait(timeout: .seconds(60)).expectFailure(65, "exit code 1")
    box.expectNothingLeft()
    // A part that is slow on one connection may be sent on another too.
    #expect(Set(box.fake.partsSent(since: 0)) == [1, 2])
    #expect(box.fake.requests(.abortMultipartUpload).count == 1)
    #expect(box.fake.requests(.listParts).count == 1)
  }

  @Test("a command that closes its output and then fails is waited for")
  func failsAfterOutput() async throws {
    let box = try BlackBox()
    try box.sample("f", 9 * mebi)
    try await run(box, "cat f; exec >&-; until [ -e go ]; do touch go; done; exit 4").expectFailure(65, "exit code 4")
    box.expectNothingLeft()
  }

  @Test("a missing command is 66 and sends nothing")
  func notFound() async throws {
    let box = try BlackBox()
    try await box.run(put + ["--", "no-such-command-here"]).expectFailure(66, "no-such-command-here")
    try await box.run(put + ["--", "/"]).expectFailure(66)
    #expect(box.fake.requests.isEmpty)
  }

  static let nonsense: [[String]] = [
    ["put", "--from-command"], ["put", "--from-command", "s3://bucket/k"],
    ["put", "--from-command", "s3://bucket/k", "--"], ["put", "--from-command", "--", "true"],
    ["put", "--from-command", "s3://bucket/", "--", "true"], ["put", "--from-command", "f", "s3://bucket/k"],
    ["put", "--from-command", "s3://bucket/k", "--", ""],
  ]

  @Test("a command without a destination, or a destination without a command, is 64", arguments: nonsense)
  func usage(_ words: [String]) async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    try await box.run(words).expectFailure(64)
    #expect(box.fake.requests.isEmpty)
  }

  @Test(
    "a signal ends the command too, even if it ignores signals", arguments: [SIGHUP, SIGINT, SIGTERM], [false, true])
  func interrupted(_ signal: Int32, deaf: Bool) async throws {
    let box = try BlackBox()
    try box.sample("f", 9 * mebi)
    let line = (deaf ? "trap '' HUP INT TERM; " : "") + "echo $$ >pid; cat f; exec sleep 600"
    let child = try box.start(put + ["--json", "--", "sh", "-c", line])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart && $0.done } })
    let text = String(decoding: try box.files.read("pid"), as: UTF8.self)
    let producer = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    let sent = ContinuousClock.now
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(20))
    #expect(!result.timedOut)
    #expect(result.endedAt - sent < .seconds(15))
    #expect(result.status == 128 + signal, "\(result.errors)")
    #expect(kill(producer, 0) != 0)
    box.expectNothingLeft()
    #expect(try box.records() == [])
  }

  @Test("after a final refusal of the store the command is ended")
  func refused() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart), .error(status: 403, code: "AccessDenied"))])
    try box.sample("f", 9 * mebi)
    let result = try await run(box, "echo $$ >pid; cat f; exec sleep 600")
    #expect(result.status == 77 && !result.timedOut, "\(result.errors)")
    let text = String(decoding: try box.files.read("pid"), as: UTF8.self)
    #expect(kill(try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))), 0) != 0)
    box.expectNothingLeft()
  }

  @Test("--deadline ends the command, with 75 and nothing left")
  func deadline() async throws {
    let box = try BlackBox()
    try box.sample("f", 9 * mebi)
    let lag = Lag()
    let result = try await run(box, "cat f; exec sleep 600", ["--deadline", "2s", "--json"])
    #expect(result.status == 75 && !result.timedOut, "\(result.errors)")
    #expect(.seconds(result.seconds) - lag.sofar < .milliseconds(2750))
    #expect(result.json["resumable"] as? Bool == false)
    box.expectNothingLeft()
  }

  // MARK: Processes that the command has started

  private func process(_ box: BlackBox) throws -> pid_t {
    let text = String(decoding: try box.files.read("pid"), as: UTF8.self)
    return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  /// Whether a process has ended; it may still have to be reaped by its new parent.
  private func isGone(_ pid: pid_t) -> Bool {
    guard kill(pid, 0) == 0, let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
      return true
    }
    return stat.split(separator: ")").last?.split(separator: " ").first == "Z"
  }

  @Test(
    "a command that fails is 65 at once, even if a process that it started keeps the pipe open, which is ended",
    arguments: [
      "exec sleep 1000", "trap '' TERM HUP INT; exec sleep 1000", "exec sh -c 'kill -STOP $$; exec sleep 1000'",
    ],
    [("exit 3", "exit code 3"), ("kill -KILL $$", "9 (SIGKILL)")])
  func failsBeforeItsChild(_ child: String, _ end: (line: String, says: String)) async throws {
    for size in [0, 9 * mebi] {
      let box = try BlackBox()
      try box.sample("f", size)
      let line = "cat f; { \(child); } & echo $! >pid; \(end.line)"
      let result = try await run(box, line, ["--json"])
      #expect(result.status == 65 && !result.timedOut, "\(result.errors)")
      #expect(result.errors.contains(end.says), "\(result.errors)")
      #expect(isGone(try process(box)))
      box.expectNothingLeft()
      #expect(try box.records() == [])
    }
  }

  @Test("a command that fails while all its parts wait for a busy store is 65 at once")
  func failsWhileRetrying() async throws {
    let busy = Fault(.init(.uploadPart), .error(status: 503, code: "SlowDown", headers: ["Retry-After": "600"]))
    let box = try BlackBox(faults: [busy])
    try box.sample("f", 17 * mebi)
    let line = "cat f & until [ -e go ]; do sleep 0.05; done; exit 3"
    let child = try box.start(put + ["--concurrency", "1", "--", "sh", "-c", line])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart && $0.status == 503 } })
    try box.files.write([], to: "go")
    let result = await child.wait(timeout: .seconds(60))
    #expect(!result.timedOut)
    result.expectFailure(65, "exit code 3")
    box.expectNothingLeft()
  }

  @Test("after a command has succeeded, the output of processes that it started is read to its end")
  func childSpeaksLater() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 9 * mebi)
    // The output begins only after the command has been reaped.
    try await run(box, "{ while kill -0 $$ 2>/dev/null; do sleep 0.02; done; cat f; } & exit 0").expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test(
    "a run that is stopped ends every process that the command started, even if the command has succeeded",
    arguments: [SIGHUP, SIGINT, SIGTERM, 0], ["wait", "exit 0"])
  func endsGroup(_ signal: Int32, _ end: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 9 * mebi)
    let options = signal == 0 ? ["--deadline", "2s"] : []
    let line = "cat f; sleep 1000 & echo $! >pid.new; mv pid.new pid; \(end)"
    let child = try box.start(put + options + ["--", "sh", "-c", line])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart && $0.done } })
    while !child.ended, (try? process(box)) == nil { await Task.yield() }
    if signal != 0 { child.signal(signal) }
    let result = await child.wait(timeout: .seconds(60))
    #expect(!result.timedOut)
    #expect(result.status == (signal == 0 ? 75 : 128 + signal), "\(result.errors)")
    #expect(isGone(try process(box)))
    box.expectNothingLeft()
  }

  @Test("after the second signal nothing remains of a command that ignores signals")
  func secondSignal() async throws {
    let box = try BlackBox(faults: [Fault(.init(.abortMultipartUpload), .stall(stage: .beforeBody))])
    try box.sample("f", 9 * mebi)
    let line = "trap '' INT TERM; sleep 1000 & echo $! >pid.new; mv pid.new pid; cat f; wait"
    let child = try box.start(put + ["--", "sh", "-c", line])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart && $0.done } })
    child.signal(SIGINT)
    #expect(await box.fake.wait { $0.contains { $0.operation == .abortMultipartUpload } })
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(60))
    #expect(result.status == 143 && !result.timedOut)
    let started = try process(box)
    let end = ContinuousClock.now + .seconds(20)
    while !isGone(started), ContinuousClock.now < end { await Task.yield() }
    #expect(isGone(started))
  }

  @Test("processes that a command left running without the pipe are left alone after a success")
  func leavesDaemons() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 1000)
    try await run(box, "sleep 1000 >/dev/null 2>&1 & echo $! >pid; cat f").expectSuccess()
    #expect(box.fake.object("k")?.bytes == bytes)
    let left = try process(box)
    #expect(!isGone(left))
    kill(left, SIGKILL)
  }

  @Test(
    "a command can ask a question on the terminal, and Ctrl-C ends it and the upload",
    arguments: [true, false])
  func terminal(answers: Bool) async throws {
    let box = try BlackBox()
    let inner = "echo $$ >pid; printf 'word: ' >/dev/tty; read word </dev/tty; printf %s \"$word\""
    try box.files.write(inner, to: "ask")
    let line = "trap : INT; \(box.binary.path) put --from-command s3://bucket/k -- sh ask; echo status $?"
    let terminal = try ChildProcess(
      Programs.find("script"), ["-qec", line, "/dev/null"],
      environment: Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 }.merging([
        "SHELL": "/bin/sh", "AWS_EC2_METADATA_DISABLED": "true",
      ]) { $1 },
      directory: box.files.path, input: .open)
    while !terminal.ended, !String(decoding: terminal.stdout, as: UTF8.self).contains("word: ") { await Task.yield() }
    _ = await terminal.write(answers ? Array("hello\n".utf8) : [3])
    let result = await terminal.wait(timeout: .seconds(60))
    #expect(!result.timedOut)
    #expect(result.output.contains(answers ? "status 0" : "status 130"), "\(result.output)")
    #expect(box.fake.object("k")?.bytes == (answers ? Array("hello".utf8) : nil))
    #expect(isGone(try process(box)))
  }
}
