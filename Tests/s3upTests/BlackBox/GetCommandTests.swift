import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// `--to-command`: a command gets the object, and never takes half of it for the whole.
@Suite(.crowd) struct GetCommandTests {
  private static let size = 3 * mebi + 70_001
  private static let range = 640 << 10
  private let get = ["get", "--to-command", "s3://bucket/key", "--part-size", "640K"]

  private func box(_ size: Int = size) throws -> (BlackBox, [UInt8]) {
    let box = try BlackBox()
    let bytes = try box.sample("source", size, seed: 9)
    box.fake.putObject("key", bytes: bytes)
    return (box, bytes)
  }

  private func run(_ box: BlackBox, _ line: String, _ options: [String] = []) async throws -> ChildProcess.Result {
    try await box.run(get + options + ["--", "sh", "-c", line])
  }

  private func exists(_ box: BlackBox, _ name: String) -> Bool {
    FileManager.default.fileExists(atPath: box.files.path(name))
  }

  @Test("A command gets the object, and its output is shown", arguments: [0, 1, size])
  func arrives(_ size: Int) async throws {
    let (box, bytes) = try box(size)
    let result = try await run(box, "cat >taken; echo has it; echo is done >&2")
    #expect(result.status == 0 && result.output == "has it\n" && result.errors == "is done\n", "\(result.errors)")
    #expect(try box.files.read("taken") == bytes)
    let json = try await run(box, "cat >taken", ["--json"])
    #expect(json.json["event"] as? String == "completed" && json.json["destination"] as? String == "sh")
  }

  static let ends: [(String, String)] = [
    ("exit 3", "exit code 3"), ("kill -KILL $$", "9 (SIGKILL)"), ("kill -TERM $$", "15 (SIGTERM)"),
  ]

  @Test("A command that fails is 65, before, while and after it has read the object", arguments: ends)
  func fails(_ end: (line: String, says: String)) async throws {
    for reading in ["", "head -c 700000 >/dev/null; ", "cat >/dev/null; "] {
      let (box, _) = try box()
      try await run(box, reading + end.line).expectFailure(65, end.says)
    }
  }

  @Test("A command that succeeds without reading the whole object is 65")
  func stopsReading() async throws {
    let (box, _) = try box()
    for line in ["head -c 700000 >/dev/null", "exec <&-; until [ -e never ]; do sleep 0.05; done"] {
      let result = try await run(box, line)
      result.expectFailure(65, "stopped reading before it had the whole object")
    }
  }

  @Test(
    "A command never sees the end of a wrong object, nor do processes that it started, even if they ignore signals",
    arguments: ["", "trap '' TERM INT HUP; "], [size, 1000])
  func neverEnds(_ deaf: String, _ size: Int) async throws {
    let (box, bytes) = try box(size)
    box.fake.setFaults([Fault(.init(.getObject), .corruptAnswer)])
    // `cat` ends, and the marks are made, only if the end of the input is seen.
    let line = "\(deaf){ cat >piped; touch first; } ; touch second"
    try await run(box, line).expectFailure(65, "are not the object")
    #expect(!exists(box, "first") && !exists(box, "second"))
    #expect((try? box.files.read("piped").count) ?? 0 < bytes.count)
  }

  @Test("A replaced object, a refusal, and a deadline end the command before its input ends")
  func endsCommand() async throws {
    let faults: [(Fault.Action, Int32, [String])] = [
      (.replaceObject, 65, []), (.error(status: 403, code: "AccessDenied"), 77, []),
      (.stall(stage: .beforeAnswer), 75, ["--deadline", "2s"]),
    ]
    for (fault, status, options) in faults {
      let (box, _) = try box()
      box.fake.setFaults([Fault(.init(.getObject, nth: 4), fault)])
      let result = try await run(box, "cat >/dev/null; touch seen", options)
      #expect(result.status == status, "\(result.errors)")
      #expect(!exists(box, "seen"))
    }
  }

  @Test(
    "A signal ends the command, and it does not see the end of its input",
    arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2, SIGALRM, SIGXCPU])
  func interrupted(_ signal: Int32) async throws {
    let (box, _) = try box()
    box.fake.setFaults([Fault(.init(.getObject, nth: 4), .stall(stage: .beforeAnswer))])
    let child = try box.start(get + ["--", "sh", "-c", "echo $$ >pid.new; mv pid.new pid; cat >/dev/null; touch seen"])
    try await until("the command runs") {
      child.ended || (exists(box, "pid") && box.fake.requests(.getObject).count > 3)
    }
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(60))
    let status = [SIGTERM, SIGHUP].contains(signal) ? 128 + signal : 130
    #expect(result.status == status && !result.timedOut, "\(result.errors)")
    #expect(!exists(box, "seen"))
    let text = String(decoding: try box.files.read("pid"), as: UTF8.self)
    #expect(kill(try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))), 0) != 0)
  }

  @Test("What a command has started in a group of its own does not see the end of its input either")
  func otherGroup() async throws {
    let (box, _) = try box()
    box.fake.setFaults([Fault(.init(.getObject, nth: 4), .stall(stage: .beforeAnswer))])
    let line = "timeout 60 sh -c 'echo $$ >pid.new; mv pid.new pid; cat >/dev/null; touch seen'"
    let child = try box.start(get + ["--", "sh", "-c", "cat | " + line])
    try await until("the command runs") {
      child.ended || (exists(box, "pid") && box.fake.requests(.getObject).count > 3)
    }
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(60))
    #expect(result.status == 128 + SIGTERM && !result.timedOut, "\(result.errors)")
    let text = String(decoding: try box.files.read("pid"), as: UTF8.self)
    // One that has ended may wait for whatever adopted it.
    #expect(RunningProcess(try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))) == nil)
    #expect(!exists(box, "seen"))
  }

  @Test("No command is started for a missing object, and a command that is not found is 66")
  func notBegun() async throws {
    let (box, _) = try box()
    try await box.run("get", "--to-command", "s3://bucket/other", "--", "touch", "begun").expectFailure(69)
    #expect(!exists(box, "begun"))
    try await box.run(get + ["--", "no-such-command-here"]).expectFailure(66, "no-such-command-here")
    #expect(box.fake.requests(.getObject).isEmpty)
  }

  static let nonsense: [[String]] = [
    ["get", "--to-command"], ["get", "--to-command", "s3://bucket/k"], ["get", "--to-command", "s3://bucket/k", "--"],
    ["get", "--to-command", "--", "cat"], ["get", "--to-command", "cat", "s3://bucket/k"],
  ]

  @Test("A command without an object, or an object without a command, is 64", arguments: nonsense)
  func usage(_ words: [String]) async throws {
    let (box, _) = try box(10)
    try await box.run(words).expectFailure(64)
    #expect(box.fake.requests.isEmpty)
  }
}
