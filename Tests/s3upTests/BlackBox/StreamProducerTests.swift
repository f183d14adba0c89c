import Foundation
import MultipartCore
import Testing

@testable import Support

/// `--from-command`: what a command prints is published when the command ended well.
@Suite(.crowd) struct ProducerTests {
  private let put = ["put", "--from-command", "s3://bucket/k"]

  private func run(_ box: BlackBox, _ line: String, _ options: [String] = []) async throws -> ChildProcess.Result {
    try await box.run(put + options + ["--", "sh", "-c", line])
  }

  @Test("what a command prints arrives, and what it says on standard error passes through", arguments: [10, 20 * mebi])
  func arrives(_ size: Int) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", size)
    let result = try await run(box, "echo dumping >&2; cat f")
    #expect(result.status == 0)
    #expect(result.errors == "dumping\n")
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
  }

  @Test("options after -- are the command's")
  func words() async throws {
    let box = try BlackBox()
    try await box.run(put + ["--", "printf", "%s|", "--json", "a b", "-q"]).expectSuccess()
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

  @Test("one that dies at 90 % publishes nothing and leaves no upload")
  func diesLate() async throws {
    let box = try BlackBox()
    try box.sample("f", 20 * mebi)
    try await run(box, "head -c 18874368 f; exit 1").expectFailure(65, "exit code 1")
    box.expectNothingLeft()
    #expect(box.fake.requests(.uploadPart).count == 3)
    #expect(box.fake.requests(.abortMultipartUpload).count == 1)
    #expect(box.fake.requests(.listParts).count == 1)
  }

  @Test("one that closes its output and then fails is waited for")
  func failsAfterOutput() async throws {
    let box = try BlackBox()
    try box.sample("f", 9 * mebi)
    try await run(box, "cat f; exec >&-; until [ -e go ]; do touch go; done; exit 4").expectFailure(65, "exit code 4")
    box.expectNothingLeft()
  }

  @Test("a command that is not there is 66 and sends nothing")
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

  @Test("a signal ends the command too, even one that does not listen", arguments: [SIGINT, SIGTERM], [false, true])
  func interrupted(_ signal: Int32, deaf: Bool) async throws {
    let box = try BlackBox()
    try box.sample("f", 9 * mebi)
    let line = (deaf ? "trap '' INT TERM; " : "") + "echo $$ >pid; cat f; exec sleep 600"
    let child = try box.start(put + ["--json", "--", "sh", "-c", line])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart && $0.done } })
    let text = String(decoding: try box.files.read("pid"), as: UTF8.self)
    let producer = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    let sent = ContinuousClock.now
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(20))
    #expect(!result.timedOut)
    #expect(result.endedAt - sent < .seconds(15))
    #expect(result.status == (signal == SIGINT ? 130 : 143), "\(result.errors)")
    #expect(kill(producer, 0) != 0)
    box.expectNothingLeft()
    #expect(try box.records() == [])
  }

  @Test("when the store refuses for good the command is ended")
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
    let result = try await run(box, "cat f; exec sleep 600", ["--deadline", "2s", "--json"])
    #expect(result.status == 75 && !result.timedOut, "\(result.errors)")
    #expect(result.json["resumable"] as? Bool == false)
    box.expectNothingLeft()
  }
}
