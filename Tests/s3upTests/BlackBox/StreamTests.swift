import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct StreamTests {
  private static let part = 8 * mebi

  @Test(
    "standard input arrives completely, up to one part in a single request",
    arguments: [0, 1, part - 1, part, part + 1, 2 * part, 20 * mebi])
  func sizes(_ size: Int) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", size)
    let result = try await box.run("put", "-", "s3://bucket/k", "--json", input: .bytes(bytes))
    result.expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.object("k")?.size == size)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
    #expect(try box.records() == [])
    let parts = size <= Self.part ? 0 : (size + Self.part - 1) / Self.part
    #expect(box.fake.requests(.uploadPart).count == parts)
    #expect(box.fake.requests(.putObject).count == (parts == 0 ? 1 : 0))
    #expect(result.json["size"] as? Int == size)
    #expect(result.json["bytes_sent"] as? Int == size)
    #expect(result.json["parts"] as? Int == max(1, parts))
    #expect(((result.json["checksum"] as? [String: String])?["algorithm"]) == "CRC64NVME")
  }

  @Test(
    "a named pipe, a process substitution, a file as standard input and /dev/stdin are streams",
    arguments: [
      "mkfifo p; cat f >p & \"$S3UP\" put p s3://bucket/k", "\"$S3UP\" put <(cat f) s3://bucket/k",
      "\"$S3UP\" put - s3://bucket/k <f", "cat f | \"$S3UP\" put /dev/stdin s3://bucket/k",
      "{ cat f; sleep 0.1; cat f; } | head -c 20971520 | \"$S3UP\" put - s3://bucket/k",
    ])
  func kinds(_ line: String) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 20 * mebi)
    var environment = Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 }
    environment["S3UP"] = box.binary.path
    let result = try await ChildProcess(
      Programs.find("bash"), ["-c", line], environment: environment, directory: box.files.path
    ).wait(timeout: .seconds(60))
    result.expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test(
    "a stream that meets its expectations is published, another one is 65 and leaves nothing",
    arguments: [1000, 20 * mebi])
  func expectations(_ size: Int) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", size)
    let wrong: [([String], says: String)] = [
      (["--expect-size", String(size + 1)], String(size)), (["--expect-size", String(size - 1)], String(size)),
      (["--min-size", String(size + 1)], String(size)), (["--expect-sha256", sha256([1])], sha256(bytes)),
    ]
    for (options, says) in wrong {
      let result = try await box.run(["put", "-", "s3://bucket/k"] + options, input: .bytes(bytes))
      result.expectFailure(65, says)
      box.expectNothingLeft()
      #expect(try box.records() == [])
    }
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty && box.fake.requests(.putObject).isEmpty)
    let right = ["--expect-size", String(size), "--min-size", String(size), "--expect-sha256", sha256(bytes)]
    try await box.run(["put", "-", "s3://bucket/k"] + right, input: .bytes(bytes)).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("--min-size applies to files too")
  func fileMinimum() async throws {
    let box = try BlackBox()
    try box.sample("f", 1000)
    try await box.run("put", "f", "s3://bucket/k", "--min-size", "1001").expectFailure(65, "1000", "--min-size")
    #expect(box.fake.requests.isEmpty)
    try await box.run("put", "f", "s3://bucket/k", "--min-size", "1000").expectSuccess()
  }

  static let passing: [Fault.Action] = [
    .error(status: 503, code: "SlowDown"), .error(status: 400, code: "BadDigest"), .resetBeforeReading,
    .resetAfterBody(bytes: 100_000), .corruptBody, .loseAnswer, .etag(), .checksum("AAAAAAAAAAA="),
  ]

  @Test("a part that fails is sent again from its buffer", arguments: passing.indices)
  func retried(_ index: Int) async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 1, to: 2), Self.passing[index]),
      Fault(.init(.uploadPart, partNumber: 3, nth: 1), Self.passing[index]),
    ])
    let bytes = try box.sample("f", 20 * mebi)
    try await box.run("put", "-", "s3://bucket/k", input: .bytes(bytes)).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests(.uploadPart).count == 6)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("a short stream's one request is sent again too", arguments: passing.indices)
  func retriedSingle(_ index: Int) async throws {
    let box = try BlackBox(faults: [Fault(.init(.putObject, nth: 1), Self.passing[index])])
    let bytes = try box.sample("f", mebi)
    try await box.run("put", "-", "s3://bucket/k", input: .bytes(bytes)).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a part that fails for good ends the run with its reason and leaves nothing: a stream cannot be resumed")
  func fails() async throws {
    for (status, code, exit) in [(500, "InternalError", 75), (403, "AccessDenied", 77), (400, "EntityTooLarge", 69)] {
      let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 2), .error(status: status, code: code))])
      let bytes = try box.sample("f", 20 * mebi)
      let result = try await box.run(
        ["put", "-", "s3://bucket/k", "--retries", "2", "--json"], input: .bytes(bytes))
      #expect(result.status == Int32(exit), "\(result.errors)")
      #expect(result.json["resumable"] as? Bool == false)
      box.expectNothingLeft()
      #expect(try box.records() == [])
    }
  }

  @Test(
    "a killed stream is not resumed: the next run aborts its upload and begins a new one, or sends a single request",
    arguments: [20 * mebi, 1000])
  func killed(_ next: Int) async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 2), .stall(stage: .beforeBody))])
    let bytes = try box.sample("f", 20 * mebi)
    let child = try box.start(["put", "-", "s3://bucket/k", "--concurrency", "1"], input: .bytes(bytes))
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 2 } })
    child.signal(SIGKILL)
    _ = await child.wait()
    let old = try #require(box.fake.unfinishedUploads.first?.id)
    box.fake.setFaults([])
    #expect(try await box.run("uploads").output.contains("  from standard input\n"))
    let rest = Array(bytes.prefix(next))
    let result = try await box.run("put", "-", "s3://bucket/k", input: .bytes(rest))
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.holds(rest) == true)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
    #expect(box.fake.requests(.abortMultipartUpload).map(\.uploadID) == [old])
  }

  @Test("if the store refuses the checksum of the first part, the stream is still uploaded", arguments: [true, false])
  func stepsDown(secure: Bool) async throws {
    for checksums in [FakeOptions.Checksums.notImplemented, .invalidArgument, .ignored] {
      let box = try BlackBox(secure: secure) { $0.checksums = checksums }
      let bytes = try box.sample("f", 20 * mebi)
      for body in [bytes, Array(bytes.prefix(1000))] {
        try await box.run("put", "-", "s3://bucket/k", input: .bytes(body)).expectSuccess()
        #expect(box.fake.object("k")?.holds(body) == true)
        #expect(box.fake.unfinishedUploads.map(\.id) == [])
      }
      try FileManager.default.removeItem(atPath: box.state)
    }
  }

  @Test("A stream that is longer than expected is stopped at once, however long it is")
  func tooLong() async throws {
    let box = try BlackBox()
    let endless = ["--expect-size", "1000", "--deadline", "60s", "--", "yes"]
    let result = try await box.run(["put", "--from-command", "s3://bucket/k"] + endless)
    result.expectFailure(65, "longer than the 1000 bytes required by --expect-size")
    box.expectNothingLeft()
  }

  @Test("if the store refuses the checksum while the command is silent, all of its output is uploaded")
  func stepsDownMeanwhile() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, nth: 1), .error(status: 501, code: "NotImplemented"))])
    let bytes = try box.sample("f", 17 * mebi)
    let slow = "head -c 9000000 f; sleep 0.5; tail -c +9000001 f; sleep 0.5"
    let size = ["--expect-size", String(bytes.count)]
    let result = try await box.run(["put", "--from-command", "s3://bucket/k"] + size + ["--", "sh", "-c", slow])
    result.expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("a checksum refused when parts are at the store is 69 and leaves nothing")
  func refusedInTheMiddle() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 2), .error(status: 501, code: "NotImplemented"))
    ])
    let bytes = try box.sample("f", 20 * mebi)
    let result = try await box.run(
      ["put", "-", "s3://bucket/k", "--concurrency", "1"], input: .bytes(bytes))
    result.expectFailure(69, "NotImplemented")
    box.expectNothingLeft()
  }

  @Test("a closed standard input is not an empty stream")
  func closedInput() async throws {
    let box = try BlackBox()
    let result = try await box.shell("exec \"$S3UP\" put - s3://bucket/k <&-")
    result.expectFailure(66, "standard input")
    #expect(box.fake.requests.isEmpty)
    try await box.shell("exec \"$S3UP\" put - s3://bucket/k </dev/null").expectSuccess()
    #expect(box.fake.object("k")?.size == 0)
  }

  @Test("a directory as standard input is 66, and so is a missing pipe")
  func unreadable() async throws {
    let box = try BlackBox()
    try await box.shell("exec \"$S3UP\" put - s3://bucket/k <.").expectFailure(66)
    try await box.shell("exec \"$S3UP\" put gone s3://bucket/k").expectFailure(66, "gone")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("SIGINT ends a silent stream, and leaves nothing", arguments: [false, true])
  func interrupted(hasParts: Bool) async throws {
    let box = try BlackBox()
    let child = try box.start(["put", "-", "s3://bucket/k"], input: .open)
    await child.write([UInt8](repeating: 7, count: hasParts ? 9 * mebi : 1000))
    if hasParts { #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart && $0.done } }) }
    if !hasParts { #expect(await Self.hasThreads(child)) }
    child.signal(SIGINT)
    let result = await child.wait(timeout: .seconds(10))
    #expect(!result.timedOut)
    #expect(result.status == 130, "\(result.errors)")
    let saysAborted = result.errors.contains("the upload was aborted, and none of its parts remain")
    #expect(saysAborted == hasParts, "\(result.errors)")
    box.expectNothingLeft()
    #expect(try box.records() == [])
  }

  /// Waits until the process has several threads: the program sets up its signals before it starts one.
  private static func hasThreads(_ child: ChildProcess) async -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end, !child.ended {
      let tasks = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.pid)/task")
      if tasks?.count ?? 0 > 3 { return true }
      await Task.yield()
    }
    return false
  }

  @Test(
    "512 MiB through a pipe need at most four parts and 20 MiB more memory than one byte",
    .enabled(if: BlackBox.measures))
  func memory() async throws {
    let box = try BlackBox { $0.storage = .discard }
    let child = try box.start(
      ["put", "-", "s3://bucket/k", "--concurrency", "4", "--json", "--payload-signing", "never"], input: .open)
    let chunk = [UInt8](repeating: 5, count: 8 * mebi)
    for _ in 0..<64 { await child.write(chunk) }
    child.closeInput()
    let result = await child.wait()
    result.expectSuccess()
    #expect(result.json["size"] as? Int == 512 * mebi)
    try box.files.write([1], to: "one")
    let least = try await box.run("put", "one", "s3://bucket/one").peakMemory
    #expect(result.peakMemory - least < (4 * 8 + 20) * mebi, "\(result.peakMemory) \(least)")
    #expect(box.fake.counters.mostRunningParts <= 4)
  }

  @Test("--part-size and --equal-parts cut a stream into equal parts")
  func equalParts() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 40 * mebi)
    for (options, sizes) in [
      (["--part-size", "16M"], [16, 16, 8]), (["--equal-parts"], [32, 8]),
      (["--expect-size", "40M"], [8, 8, 8, 8, 8]),
    ] {
      let before = box.fake.requests.count
      try await box.run(["put", "-", "s3://bucket/k"] + options, input: .bytes(bytes)).expectSuccess()
      let parts = box.fake.requests.dropFirst(before).filter { $0.operation == .uploadPart }
        .sorted { ($0.partNumber ?? 0) < ($1.partNumber ?? 0) }
      #expect(parts.map { $0.bodyLength / mebi } == sizes)
      #expect(box.fake.object("k")?.holds(bytes) == true)
    }
  }

  @Test("a stream that is stopped while the store completes it is not called resumable, and its upload is named")
  func stoppedAtComplete() async throws {
    let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), .stall(stage: .beforeBody))])
    let bytes = try box.sample("f", 12 * mebi)
    let child = try box.start(["put", "-", "s3://bucket/k", "--json"], input: .bytes(bytes))
    #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload } })
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 143)
    #expect(result.json["resumable"] as? Bool == false)
    #expect(result.json["source"] as? String == "-")
    let id = try #require(box.fake.unfinishedUploads.first?.id)
    let errors = result.errors
    #expect(errors.contains("s3up abort s3://bucket/k --upload-id=") && errors.contains(id), "\(errors)")
    #expect(errors.contains("the store has not confirmed whether the object was created"), "\(errors)")
    // The next run aborts the upload.
    box.fake.setFaults([])
    #expect(try await box.run("put", "-", "s3://bucket/k", input: .bytes(bytes)).status == 0)
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("--explain says how much memory a stream may take")
  func explain() async throws {
    let box = try BlackBox()
    let result = try await box.run("put", "-", "s3://bucket/k", "--explain", "--concurrency", "4", input: .bytes([1]))
    #expect(result.status == 0)
    #expect(result.errors.contains("in memory") && result.errors.contains("MiB"), "\(result.errors)")
  }
}
