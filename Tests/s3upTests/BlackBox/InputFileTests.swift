import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// A regular file as standard input: `put - <FILE`.
@Suite(.crowd) struct InputFileTests {
  private static let size = 40 * mebi
  private let put = ["put", "-", "s3://bucket/k"]

  private func run(
    _ box: BlackBox, _ change: SourceChange, _ operation: FakeOperation, _ options: [String]
  ) async throws -> ChildProcess.Result {
    try box.files.sparseFile("f", size: Int64(Self.size), patches: [(1, [1, 2, 3])])
    let child = try box.start(put + options, input: .file(box.files.path("f")))
    #expect(await box.fake.wait { $0.contains { $0.operation == operation } })
    try change.happen(to: box.files.path("f"))
    return await child.wait()
  }

  static let changes: [SourceChange] = [.truncated, .emptied, .grown, .rewritten]

  @Test(
    "a file on standard input that changes while its parts are sent is 65, and no upload is left", arguments: changes)
  func multipart(_ change: SourceChange) async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart), .slowRead(bytesPerSecond: 4 * mebi))])
    let result = try await run(box, change, .uploadPart, ["--concurrency", "2", "--part-size", "20M"])
    result.expectFailure(65, "(standard input, s3://bucket/k")
    box.expectNothingLeft()
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
  }

  @Test(
    "a file that changes while a single request sends it is 65, and nothing is published, on standard input too",
    arguments: changes)
  func single(_ change: SourceChange) async throws {
    let box = try BlackBox(faults: [Fault(.init(.putObject), .slowRead(bytesPerSecond: 4 * mebi))])
    let result = try await run(box, change, .putObject, ["--part-size", "1G"])
    result.expectFailure(65, "(standard input, s3://bucket/k")
    box.expectNothingLeft()
  }

  @Test(
    "the open file is uploaded, even if its name disappears or becomes another file's",
    arguments: [SourceChange.removed, .replaced])
  func unnamed(_ change: SourceChange) async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart), .slowRead(bytesPerSecond: 16 * mebi))])
    let result = try await run(box, change, .uploadPart, ["--part-size", "20M"])
    result.expectSuccess()
    #expect(box.fake.object("k")?.size == Self.size)
    #expect(box.fake.object("k")?.content.map { Array($0[1..<4]) } == [1, 2, 3])
  }

  /// An upload that was killed when two of five parts were at the store.
  private func stopped(_ words: [String], at offset: Int = 0) async throws -> (box: BlackBox, bytes: [UInt8]) {
    let box = try BlackBox(faults: [StoppedUpload.standsStill])
    let bytes = try box.sample("f", StoppedUpload.size + offset)
    let line =
      "exec 3<f; dd of=/dev/null bs=\(max(1, offset)) count=\(offset == 0 ? 0 : 1) status=none <&3; "
      + "echo $$ >pid; exec \"$S3UP\" \"$@\" <&3 3<&-"
    let child = try box.beginShell(line, words + ["--concurrency", "1"])
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 3 } })
    child.signal(SIGKILL)
    _ = await child.wait(timeout: .seconds(30))
    #expect(box.fake.unfinishedUploads.first?.parts.keys.sorted() == [1, 2])
    box.fake.setFaults([])
    return (box, bytes)
  }

  private let cut = ["put", "-", "s3://bucket/k", "--part-size", "5M", "--json"]

  @Test("after a kill the same command with the same file resumes, and sends no part again")
  func resumes() async throws {
    let (box, bytes) = try await stopped(cut)
    let before = box.fake.requests.count
    let result = try await box.run(cut, input: .file(box.files.path("f")))
    result.expectSuccess()
    #expect(box.fake.partsSent(since: before) == [3, 4, 5])
    #expect(result.json["bytes_resumed"] as? Int == 10 * mebi)
    #expect(result.json["source"] as? String == "-")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(try box.records() == [])
  }

  @Test("what a shell has already read of the file is not sent; the rest is resumed only from the same offset")
  func resumesFromOffset() async throws {
    let (box, bytes) = try await stopped(cut, at: 1000)
    let before = box.fake.requests.count
    let line = "{ dd of=/dev/null bs=$1 count=1 status=none; shift; \"$S3UP\" \"$@\"; } <f"
    let other = try await box.shell(line, ["999"] + cut + ["--resume", "require"])
    #expect(other.status == 69, "\(other.errors)")
    let result = try await box.shell(line, ["1000"] + cut)
    result.expectSuccess()
    #expect(box.fake.partsSent(since: before) == [3, 4, 5])
    #expect(box.fake.object("k")?.holds(bytes.dropFirst(1000)) == true)
  }

  @Test("small files and ends of files are sent in one request", arguments: [0, 1, 999, 1000, 2000])
  func small(_ offset: Int) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 1000)
    let seek = "python3 -c 'import os; os.lseek(0, \(offset), 0)'"
    try await box.shell("{ \(seek); \"$S3UP\" put - s3://bucket/k -q; } <f").expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes.dropFirst(offset)) == true)
  }

  @Test(
    "the path of a descriptor is the open file, from its offset",
    arguments: ["/dev/stdin <f", "/proc/self/fd/0 <f", "/dev/fd/3 3<f", "/dev/fd/0 <>f"])
  func names(_ words: String) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 11 * mebi)
    let (name, redirection) = (words.split(separator: " ")[0], words.split(separator: " ")[1])
    let number = redirection.first == "3" ? "3" : "0"
    let result = try await box.shell(
      "{ dd of=/dev/null bs=7 count=1 status=none <&\(number); \"$S3UP\" put \(name) s3://bucket/k -q --part-size 5M; } "
        + redirection)
    result.expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes.dropFirst(7)) == true)
  }

  @Test("after a success the offset is at the end of the file, after a failure where it was")
  func leavesAtEnd() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 11 * mebi)
    let line = "{ \"$S3UP\" put - s3://nobody/k -q 2>/dev/null; \"$S3UP\" put - s3://bucket/k -q; wc -c; } <f"
    let result = try await box.shell(line)
    #expect(result.output.trimmingCharacters(in: .whitespaces) == "0\n", "\(result.output)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("standard input that is open only for writing is 66, and nothing is sent", arguments: ["0>>f", "0>>p"])
  func writeOnly(_ redirection: String) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 1000)
    let reader = redirection.hasSuffix("p") ? "mkfifo p; cat <p & " : ""
    let result = try await box.shell(reader + "exec \"$S3UP\" put - s3://bucket/k \(redirection)")
    result.expectFailure(66, "open for writing only (standard input")
    #expect(box.fake.requests.isEmpty)
    #expect(try box.files.read("f") == bytes)
  }

  @Test(
    "standard input from which nothing can be read is 66 for every command that reads it",
    arguments: [("<.", "Is a directory"), ("<&-", "Bad file descriptor"), ("0>>f", "open for writing only")])
  func unreadable(_ redirection: String, _ reason: String) async throws {
    let box = try BlackBox()
    let commands = ["put - s3://bucket/k", "part - s3://bucket/k --upload-id u --part 1", "verify - s3://bucket/k"]
    for command in commands {
      let result = try await box.shell("exec \"$S3UP\" \(command) \(redirection)")
      result.expectFailure(66, "the source cannot be read: ", reason)
    }
    #expect(box.fake.requests.isEmpty)
  }

  @Test(
    "standard input that would be read twice is 64: the first reader would leave an empty source",
    arguments: [
      ["put", "-", "--ticket", "-"], ["put", "-", "s3://bucket/k", "--attributes", "-"],
      ["put", "/dev/stdin", "s3://bucket/k", "--attributes=/dev/fd/0"],
      ["put", "--files-from", "-", "--attributes", "-", "s3://bucket/p/"],
      ["put", "-", "s3://bucket/k", "--notify", "http://127.0.0.1:1/", "--notify-secret-file", "/dev/stdin"],
      ["put", "-", "s3://bucket/k", "--sse-c-key-file", "/dev/stdin"],
      ["put", "-", "s3://bucket/k", "--ca-bundle", "/dev/fd/0"],
      [
        "put", "-", "s3://bucket/k", "--cognito-identity-pool", "eu-west-1:0a", "--cognito-login",
        "accounts.google.com=/dev/stdin",
      ],
    ])
  func readTwice(_ words: [String]) async throws {
    let box = try BlackBox()
    box.fake.putObject("k", bytes: [1])
    try await box.run(words, input: .bytes(Array("a\n".utf8)))
      .expectFailure(64, "standard input can be read only once", "Name a file")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("a file without a size, such as those of /proc, is a stream")
  func lengthless() async throws {
    let box = try BlackBox()
    try await box.shell("exec \"$S3UP\" put - s3://bucket/k -q </proc/sys/kernel/ostype").expectSuccess()
    #expect(box.fake.object("k")?.bytes == Array("Linux\n".utf8))
  }

  @Test("part accepts a file on standard input too, and refuses anything else")
  func part() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 6 * mebi)
    let created = try await box.run("create", "s3://bucket/k")
    let id = try #require(created.lines.first)
    let words = ["part", "-", "s3://bucket/k", "--upload-id", id, "--part", "1", "--offset", "10", "--length", "1000"]
    #expect(try await box.run(words, input: .file(box.files.path("f"))).status == 0)
    let sent = box.fake.unfinishedUploads.first?.parts[1]
    #expect(sent?.size == 1000)
    #expect(sent?.etag.contains(hex(FakeHash.md5.of(Array(bytes[10..<1010])))) == true)
    try await box.run(words, input: .bytes(bytes)).expectFailure(64, "not a regular file (standard input")
  }

  @Test("expectations are checked before a byte is sent")
  func expectations() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 1000)
    let input = ChildProcess.Input.file(box.files.path("f"))
    for wrong in [["--expect-size", "999"], ["--min-size", "1001"], ["--expect-sha256", sha256([1])]] {
      try await box.run(put + wrong, input: input).expectFailure(65)
    }
    #expect(box.fake.requests.isEmpty)
    try await box.run(put + ["--expect-size", "1000", "--expect-sha256", sha256(bytes)], input: input).expectSuccess()
  }
}
