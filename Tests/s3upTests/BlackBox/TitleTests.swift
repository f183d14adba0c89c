import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// The terminal's title and the progress at its tab, in a terminal that `script` makes.
@Suite(.crowd) struct TitleTests {
  private static let keep = "\u{1b}[22;0t"
  private static let back = "\u{1b}[23;0t"
  private static let cleared = "\u{1b}]9;4;0;0\u{1b}\\"

  /// The parts stall, so that the run lasts until it is told to end.
  private static let stalled = Fault(.init(.uploadPart), .stall(stage: .withinBody))

  private func box(_ faults: [Fault] = []) throws -> BlackBox {
    var box = try BlackBox(faults: faults)
    try box.sample("f", 11 * mebi)
    box.environment["TERM"] = "xterm-256color"
    box.environment["VTE_VERSION"] = "8000"
    return box
  }

  /// Starts a line of bash in a terminal; `$S3UP` is the program.
  private func start(_ box: BlackBox, _ line: String, input: ChildProcess.Input = .none) throws -> ChildProcess {
    try box.files.write(line, to: "line")
    return try ChildProcess(
      Programs.find("script"), ["-qec", "bash line", "/dev/null"],
      environment: Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 }.merging([
        "SHELL": "/bin/sh", "AWS_EC2_METADATA_DISABLED": "true", "S3UP": box.binary.path,
      ]) { $1 },
      directory: box.files.path, input: input)
  }

  private static let put = #""$S3UP" put f s3://bucket/k --part-size 5M"#

  /// Expects that as many titles were kept as given back, each before the next, and that the progress was cleared last.
  private func expectTakenBack(_ output: String, times: Int, where location: SourceLocation = #_sourceLocation) {
    let keeps = output.ranges(of: Self.keep), backs = output.ranges(of: Self.back)
    #expect(keeps.count == times && backs.count == times, "\(output.debugDescription)", sourceLocation: location)
    for (keep, back) in zip(keeps, backs) {
      #expect(keep.lowerBound < back.lowerBound, sourceLocation: location)
    }
    let lastProgress = output.ranges(of: "\u{1b}]9;4;").last.map { output[$0.lowerBound...] }
    #expect(lastProgress?.hasPrefix(Self.cleared) == true, "\(output.debugDescription)", sourceLocation: location)
  }

  @Test("An upload shows its progress in the title and at the tab, and gives both back before its result")
  func success() async throws {
    let box = try box([Fault(.init(.uploadPart), .delay(milliseconds: 600))])
    let result = try await start(box, Self.put).wait(timeout: .seconds(60))
    #expect(result.status == 0)
    let both = try Regex(#"\x1b\]0;([0-9]+)% f — s3up\x1b\\\x1b\]9;4;1;\1\x1b\\"#)
    #expect(result.output.contains(both), "\(result.output.debugDescription)")
    expectTakenBack(result.output, times: 1)
    let back = try #require(result.output.range(of: Self.back))
    #expect(result.output[back.upperBound...].contains("uploaded"))
  }

  @Test("A failure gives the title back")
  func failure() async throws {
    let box = try box([
      Fault(.init(.uploadPart, partNumber: 1), .delay(milliseconds: 600)),
      Fault(.init(.uploadPart, partNumber: 2), .error(status: 403, code: "AccessDenied")),
    ])
    let result = try await start(box, Self.put + " --concurrency 1").wait(timeout: .seconds(60))
    #expect(result.status == 77)
    expectTakenBack(result.output, times: 1)
  }

  @Test(
    "A signal gives the title back, whether it stops the run in order or at once",
    arguments: [SIGINT, SIGTERM, SIGHUP], [1, 2])
  func signals(_ signal: Int32, _ count: Int) async throws {
    // An abort that stalls holds the run up until the second signal.
    let box = try box([Self.stalled, Fault(.init(.abortMultipartUpload), .stall(stage: .beforeAnswer))])
    let line = #"echo $$ >pid; exec "# + Self.put + (count == 2 ? " --on-interrupt abort" : "")
    let child = try start(box, line)
    try await until("the title is shown") { String(decoding: child.stdout, as: UTF8.self).contains("f — s3up") }
    let pid = try #require(pid_t(try text(box, "pid")))
    kill(pid, signal)
    if count == 2 {
      #expect(await box.fake.wait { $0.contains { $0.operation == .abortMultipartUpload } })
      kill(pid, signal)
    }
    let result = await child.wait(timeout: .seconds(60))
    #expect(!result.timedOut)
    expectTakenBack(result.output, times: 1)
  }

  @Test("A terminal that is held with Ctrl-S does not keep the second signal from ending the run")
  func held() async throws {
    let box = try box([Self.stalled])
    let child = try start(box, "echo $$ >pid; exec " + Self.put, input: .open)
    try await until("the title is shown") { String(decoding: child.stdout, as: UTF8.self).contains("f — s3up") }
    #expect(await child.write([0x13]))
    // The bar is redrawn five times a second, until its thread waits for the terminal.
    var (seen, since) = (0, ContinuousClock.now)
    try await until("the terminal is held") {
      if child.stdout.count != seen { (seen, since) = (child.stdout.count, .now) }
      return ContinuousClock.now - since > .seconds(1)
    }
    let pid = try #require(pid_t(try text(box, "pid")))
    // Two signals of one number could become one.
    for signal in [SIGTERM, SIGINT] { kill(pid, signal) }
    try await until("the program has ended") { kill(pid, 0) != 0 }
    child.closeInput()
    _ = await child.wait(timeout: .seconds(60))
  }

  private func text(_ box: BlackBox, _ name: String) throws -> String {
    String(decoding: try box.files.read(name), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test("Ctrl-Z gives the shell its title back, and fg shows the upload's again")
  func pause() async throws {
    let box = try box([Self.stalled])
    // With job control, as in a shell that a person uses.
    let job = "sh -c 'echo $$ >pid; exec " + Self.put + "'"
    let child = try start(box, "set -m; \(job); echo the shell has it; read word <go; fg; exit $?")
    #expect(mkfifo(box.files.path("go"), 0o600) == 0)
    let output: @Sendable () -> String = { String(decoding: child.stdout, as: UTF8.self) }
    try await until("the title is shown") { output().contains("f — s3up") }
    let pid = try #require(pid_t(try text(box, "pid")))
    kill(pid, SIGTSTP)
    try await until("the shell has the terminal") { output().contains("the shell has it") }
    expectTakenBack(output(), times: 1)
    try await open(box.files.path("go"))
    try await until("the title is shown again") { output().ranges(of: Self.keep).count == 2 }
    kill(pid, SIGTERM)
    let result = await child.wait(timeout: .seconds(60))
    #expect(!result.timedOut)
    expectTakenBack(result.output, times: 2)
  }

  /// Lets the shell's `read` go on.
  private func open(_ path: String) async throws {
    try await until("the shell reads") {
      let pipe = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      guard pipe >= 0 else { return false }
      _ = Glibc.write(pipe, "\n", 1)
      close(pipe)
      return true
    }
  }

  @Test("A run of many files shows the whole of it")
  func many() async throws {
    let box = try box([Fault(.init(.putObject), .delay(milliseconds: 900))])
    for name in ["t/a", "t/b"] { try box.sample(name, 1000) }
    let result = try await start(box, #""$S3UP" put -r t s3://bucket/t/"#).wait(timeout: .seconds(60))
    #expect(result.status == 0)
    #expect(result.output.contains("0 of 2 files — s3up"), "\(result.output.debugDescription)")
    expectTakenBack(result.output, times: 1)
  }

  static let silent = [
    ("", "2>errors"), ("--title never", ""), ("--progress none", ""), ("-q", ""), ("--progress plain", ""),
    ("", "dumb"),
    ("", "&"),
  ]

  @Test("No sequence is sent where nobody reads it, where nobody wants it, or from the background", arguments: silent)
  func nothing(_ options: String, _ how: String) async throws {
    var box = try box([Fault(.init(.uploadPart), .delay(milliseconds: 600))])
    if how == "dumb" { box.environment["TERM"] = "dumb" }
    let line = "\(Self.put) \(options) \(how.hasPrefix("2>") ? how : "")"
    let result = try await start(box, how == "&" ? "set -m; \(line) & wait $!" : line).wait(timeout: .seconds(60))
    #expect(result.status == 0)
    let all = result.output + ((try? text(box, "errors")) ?? "")
    #expect(!all.contains("\u{1b}]") && !all.contains("\u{1b}[2"), "\(all.debugDescription)")
    #expect(box.fake.object("k") != nil)
  }
}
