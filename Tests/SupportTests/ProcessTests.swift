import Foundation
import MultipartBasics
import Testing

@testable import Support

@Suite(.timeLimit(.minutes(15))) struct ProcessTests {
  private func shell(
    _ script: String, _ input: ChildProcess.Input = .none, timeout: Duration = .seconds(30)
  ) async throws -> ChildProcess.Result {
    try await ChildProcess("/bin/sh", ["-c", script], environment: ["A": "1"], input: input).wait(timeout: timeout)
  }

  @Test("streams, exit codes and signals are returned")
  func results() async throws {
    let plain = try await shell("echo out; echo err >&2; exit 3")
    #expect((plain.status, plain.output, plain.errors) == (3, "out\n", "err\n"))
    let killed = try await shell("kill -TERM $$")
    #expect((killed.status, killed.signal) == (nil, SIGTERM))
    let bytes = randomBytes(1 << 20, seed: 1)
    #expect(try await shell("cat", .bytes(bytes)).stdout == bytes)
    #expect(try await shell("exec true", .bytes(bytes)).status == 0)
  }

  @Test("the environment is what the test gave, and no other descriptor is open")
  func clean() async throws {
    let leak = open("/dev/null", O_RDONLY)
    defer { close(leak) }
    let result = try await ChildProcess("/usr/bin/env", [], environment: ["A": "1"]).wait()
    #expect(result.output == "A=1\n")
    #expect(try await shell("ls /proc/self/fd | wc -l").output.trimmingCharacters(in: .whitespacesAndNewlines) == "4")
  }

  @Test("a run that takes too long is killed with its children")
  func timeout() async throws {
    let result = try await shell("sleep 1000 & sleep 1000", timeout: .milliseconds(200))
    #expect(result.timedOut)
    #expect(result.signal == SIGKILL)
  }

  @Test("that also holds if a process that it has detached lives on and keeps its streams open")
  func stranger() async throws {
    let result = try await shell("setsid sleep 1000 & echo $!; sleep 1000", timeout: .seconds(1))
    #expect(result.timedOut)
    #expect(result.signal == SIGKILL)
    let stranger = try #require(result.lines.first.flatMap { pid_t($0) })
    #expect(kill(stranger, SIGKILL) == 0, "it was not waited for")
  }

  @Test("a running child can be fed, read and signalled")
  func handle() async throws {
    let child = try ChildProcess("/bin/cat", [], environment: [:], input: .open)
    #expect(await child.write([65, 66]))
    try await until("the child has answered") { child.stdout == [65, 66] }
    #expect(!child.ended)
    child.signal(SIGINT)
    #expect(await child.wait().signal == SIGINT)
  }

  @Test("the peak of a child's memory is its own, not that of this process")
  func memory() async throws {
    let ballast = randomBytes(120 << 20, seed: 1)
    let small = try await shell("sleep 0.1; true")
    #expect(small.peakMemory > 200 << 10)
    #expect(small.peakMemory < 60 << 20)
    #expect(ballast.count == 120 << 20)
  }

  @Test("the built s3up is found and runs with its own home folder")
  func binary() async throws {
    let binary = try S3upBinary()
    #expect(binary.path.hasSuffix("/s3up"))
    let home = binary.home.path
    let result = try await binary.run(["--version"])
    #expect(result.signal == nil)
    #expect(FileManager.default.fileExists(atPath: home))
  }

  @Test("a temporary directory is removed with its last reference")
  func directory() throws {
    var folder: TemporaryDirectory? = try TemporaryDirectory()
    let path = try #require(folder?.path)
    try folder?.write("x", to: "a/b/c")
    #expect(try folder?.read("a/b/c") == [120])
    folder = nil
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
