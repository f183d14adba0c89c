import Foundation
@testable import MultipartCore
import Testing

@testable import Support
@testable import s3up

@Suite(.crowd) struct SignalTests {
  private static let part = Fault(.init(.uploadPart, partNumber: 1), .stall(stage: .withinBody))

  static let endings: [(Int32, Int32)] = [(SIGHUP, 129), (SIGINT, 130), (SIGTERM, 143)]

  private let put = ["put", "f", "s3://bucket/k", "--part-size", "5M"]

  /// Starts an upload that stalls in the middle of its first part.
  private func held(
    _ faults: [Fault] = [part], size: Int = 11 * mebi, _ options: String...
  ) async throws -> (box: BlackBox, child: ChildProcess) {
    let box = try BlackBox(faults: faults)
    try box.sample("f", size)
    let child = try box.start(put + options)
    let operation: FakeOperation = size > 5 * mebi ? .uploadPart : .putObject
    #expect(await box.fake.wait { $0.contains { $0.operation == operation } })
    return (box, child)
  }

  @Test(
    "SIGHUP is 129, SIGINT 130, SIGTERM 143, within 5 s, and the same command resumes the upload",
    arguments: endings)
  func stops(_ signal: Int32, _ exit: Int32) async throws {
    let (box, child) = try await held()
    let (sent, lag) = (ContinuousClock.now, Lag())
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.endedAt - sent - lag.sofar < .seconds(5))
    result.expectFailure(exit, "interrupted")
    result.expectResumable(exit)
    try await box.expectResumes(put, to: try box.files.read("f"))
  }

  @Test("with --on-interrupt abort the upload is aborted within 5 s, and checked to be gone", arguments: endings)
  func aborts(_ signal: Int32, _ exit: Int32) async throws {
    let (box, child) = try await held([Self.part], "--on-interrupt", "abort")
    let (sent, lag) = (ContinuousClock.now, Lag())
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.endedAt - sent - lag.sofar < .seconds(5))
    result.expectFailure(exit, "interrupted; the upload was aborted, and none of its parts remain at the store")
    box.expectNothingLeft()
    #expect(try box.records() == [])
    #expect(box.fake.requests(.abortMultipartUpload).count == 1)
    #expect(box.fake.requests(.listParts).count == 1)
  }

  @Test(
    "a run is stopped at once while it waits for a list or a look at an object, or for the next try of one",
    arguments: [
      ["get", "s3://bucket/p/f", "down"], ["verify", "t/f", "s3://bucket/p/f"],
      ["get", "-r", "s3://bucket/p/", "down"], ["put", "-r", "t", "s3://bucket/p/", "--skip-same"],
      ["verify", "-r", "t", "s3://bucket/p/"],
    ], [Fault.Action.stall(stage: .beforeBody), .error(status: 503, code: "SlowDown", headers: ["Retry-After": "60"])])
  func looks(_ command: [String], _ fault: Fault.Action) async throws {
    let operation: FakeOperation = command[0] == "verify" || command[1] != "-r" ? .headObject : .listObjects
    let box = try BlackBox(faults: [Fault(.init(operation), fault)])
    try box.sample("t/f", 100)
    let child = try box.start(command)
    #expect(await box.fake.wait { $0.contains { $0.operation == operation } })
    let (sent, lag) = (ContinuousClock.now, Lag())
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(60))
    result.expectFailure(143, "interrupted")
    #expect(!result.errors.contains("SlowDown") && result.endedAt - sent - lag.sofar < .seconds(2), "\(result.errors)")
  }

  @Test(
    "a run of many is stopped at once while the writer of its list is silent",
    arguments: [
      (["put", "--files-from", "-", "s3://bucket/p/"], FakeOperation.putObject),
      (["get", "--files-from", "-", "s3://bucket/p/", "down"], .getObject),
      (["verify", "--files-from", "-", "s3://bucket/p/"], .headObject),
      (["ticket", "issue", "--files-from", "-", "s3://bucket/p/", "-o", "tickets"], .createMultipartUpload),
    ])
  func silentList(_ command: [String], _ operation: FakeOperation) async throws {
    let box = try BlackBox()
    box.fake.putObject("p/f", bytes: try box.sample("f", 100))
    let child = try box.start(command, input: .open)
    #expect(await child.write(Array("f\n".utf8)))
    #expect(await box.fake.wait { $0.contains { $0.operation == operation } })
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(60))
    #expect(result.status == 143 && result.errors.contains("interrupted"), "\(result.errors)")
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("a run of many is stopped at once while its list is a named pipe without a writer")
  func listWithoutWriter() async throws {
    let box = try BlackBox()
    let list = box.files.path("list")
    #expect(mkfifo(list, 0o600) == 0)
    let child = try box.start(["put", "--files-from", "list", "s3://bucket/p/"])
    try await until("the list is open") { Self.isOpen(list, in: child) }
    child.signal(SIGTERM)
    await child.wait(timeout: .seconds(60)).expectFailure(143, "interrupted")
  }

  @Test(
    "a run ends although nothing reads the named pipe of its report",
    arguments: [["-r", "t", "s3://bucket/p/", "--manifest", "pipe"], ["t/f", "s3://bucket/k", "--dotenv", "pipe"]])
  func reportWithoutReader(_ words: [String]) async throws {
    let box = try BlackBox()
    try box.sample("t/f", 10)
    #expect(mkfifo(box.files.path("pipe"), 0o600) == 0)
    let result = try await box.start(["put"] + words).wait(timeout: .seconds(100))
    #expect(result.status == 74, "\(result.errors)")
    #expect(result.errors.contains("nothing reads its pipe"), "\(result.errors)")
    #expect(box.fake.objectCount == 1)
  }

  private static func isOpen(_ file: String, in child: ChildProcess) -> Bool {
    let folder = "/proc/\(child.pid)/fd"
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return descriptors.contains {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == file
    }
  }

  @Test("a single request is stopped and publishes nothing")
  func single() async throws {
    let (box, child) = try await held([Fault(.init(.putObject), .stall(stage: .withinBody))], size: mebi)
    child.signal(SIGINT)
    await child.wait(timeout: .seconds(30)).expectFailure(130, "interrupted")
    box.expectNothingLeft()
  }

  @Test("complete awaits the store's answer and reports it; other steps end at once, with a message")
  func steps() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    try await box.run("part", "f", "s3://bucket/k", "--upload-id", id, "--part", "1").expectSuccess()
    for operation in [FakeOperation.listParts, .headObject, .listObjects] {
      box.fake.addFault(Fault(.init(operation), .stall(stage: .beforeAnswer)))
    }
    for command in [
      ["parts", "s3://bucket/k", "--upload-id", id], ["head", "s3://bucket/k"], ["ls", "s3://bucket/"],
    ] {
      let before = box.fake.requests.count
      let child = try box.start(command + ["--json"])
      try await until("\(command[0]) is waiting") { box.fake.requests.count > before }
      child.signal(SIGTERM)
      let result = await child.wait(timeout: .seconds(30))
      #expect(result.status == 143 && result.errors.contains("interrupted"), "\(result.errors)")
      #expect(result.json["code"] as? String == "interrupted", "\(result.output)")
    }
    box.fake.setFaults([])
    let gate = try box.files.write([], to: "gate")
    box.fake.addFault(Fault(.init(.completeMultipartUpload), .hold(file: gate, stage: .beforeAnswer)))
    let child = try box.start(["complete", "s3://bucket/k", "--upload-id", id, "--json"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload } })
    child.signal(SIGTERM)
    try FileManager.default.removeItem(atPath: gate)
    let result = await child.wait(timeout: .seconds(30))
    result.expectSuccess()
    #expect(result.json["event"] as? String == "completed" && box.fake.object("k") != nil, "\(result.output)")
  }

  @Test("an interrupted retry wait ends at once")
  func whileWaiting() async throws {
    let (box, child) = try await held([
      Fault(.init(.uploadPart), .error(status: 503, code: "SlowDown", headers: ["Retry-After": "60"]))
    ])
    #expect(await box.fake.wait { $0.contains { $0.status == 503 } })
    child.signal(SIGTERM)
    await child.wait(timeout: .seconds(30)).expectFailure(143)
    try await box.expectResumes(put, to: try box.files.read("f"))
  }

  @Test("if the store does not answer the abort, the run ends within 5 s, and the upload is named")
  func deafStore() async throws {
    let (box, child) = try await held(
      [Self.part, Fault(.init(.abortMultipartUpload), .stall(stage: .beforeBody))], "--on-interrupt", "abort")
    let (sent, lag) = (ContinuousClock.now, Lag())
    child.signal(SIGINT)
    let result = await child.wait(timeout: .seconds(30))
    // The promise is 5 s, and the process takes a moment to end.
    #expect(result.endedAt - sent - lag.sofar < .seconds(6))
    #expect(result.status == 130)
    let id = try #require(box.fake.unfinishedUploads.first?.id)
    #expect(result.errors.contains("s3up abort s3://bucket/k --upload-id='\(id)'"), "\(result.errors)")
  }

  @Test("the second signal ends it at once", arguments: endings)
  func second(_ signal: Int32, _ exit: Int32) async throws {
    let (box, child) = try await held(
      [Self.part, Fault(.init(.abortMultipartUpload), .stall(stage: .beforeBody))], "--on-interrupt", "abort")
    child.signal(SIGINT)
    #expect(await box.fake.wait { $0.contains { $0.operation == .abortMultipartUpload } })
    let (sent, lag) = (ContinuousClock.now, Lag())
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.endedAt - sent - lag.sofar < .seconds(2))
    #expect(result.status == exit)
  }

  @Test("a signal that comes twice in a row, as from timeout, counts once: the upload is ended in order")
  func twiceInARow() async throws {
    let (box, child) = try await held([Self.part], "--on-interrupt", "abort")
    child.signal(SIGTERM)
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 143 && result.errors.contains("interrupted"), "\(result.errors)")
    #expect(box.fake.unfinishedUploads.isEmpty)
    for (first, next, milliseconds, isEcho) in [
      (SIGTERM, SIGTERM, 5, true), (SIGHUP, SIGHUP, 499, true), (SIGTERM, SIGHUP, 5, true),
      (SIGTERM, SIGTERM, 500, false), (SIGINT, SIGINT, 5, false), (SIGTERM, SIGINT, 5, false),
      (nil, SIGTERM, 0, false),
    ] as [(Int32?, Int32, Int, Bool)] {
      #expect(Signals.isEcho(next, of: first, after: .milliseconds(milliseconds)) == isEcho)
    }
  }

  @Test("after SIGINT the run waits for the answer to a running complete, because the object may already exist")
  func whileCompleting() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.completeMultipartUpload), .trickle(spaces: 20, milliseconds: 50))
    ])
    let bytes = try box.sample("f", 6 * mebi)
    let child = try box.start(["put", "f", "s3://bucket/k", "--part-size", "5M"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload } })
    child.signal(SIGINT)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a SIGHUP that was ignored at the start, as by nohup, stays ignored")
  func nohup() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 1, nth: 1), .stall(stage: .withinBody))])
    let bytes = try box.sample("f", 6 * mebi)
    let environment = Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 }
    let child = try ChildProcess(
      Programs.find("sh"),
      ["-c", "trap '' HUP; exec \"$0\" put f s3://bucket/k --part-size 5M --stall-timeout 1s", box.binary.path],
      environment: environment, directory: box.files.path)
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart } })
    child.signal(SIGHUP)
    let result = await child.wait(timeout: .seconds(60))
    result.expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("if the reader of standard output has gone, SIGPIPE does not end the run, and a proven upload is a success")
  func brokenPipe() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    let result = try await box.shell(
      """
      { until [ -e gone ]; do :; done; "$S3UP" put f s3://bucket/k; echo $? >status; } | { exec <&-; : >gone; }
      """)
    #expect(String(decoding: try box.files.read("status"), as: UTF8.self) == "0\n")
    #expect(result.errors.contains("standard output"), "\(result.errors)")
    #expect(box.fake.object("k")?.size == 100)
  }

  @Test(
    "whatever waits for its credentials is ended by a signal at once, with a message",
    arguments: [
      ["put", "f", "s3://bucket/k"], ["put", "f", "g", "s3://bucket/k/"], ["get", "s3://bucket/k"],
      ["create", "s3://bucket/k"], ["presign", "s3://bucket/k"], ["ticket", "issue", "f", "s3://bucket/k", "-o", "t"],
      ["complete", "s3://bucket/k", "--upload-id", "x"], ["abort", "s3://bucket/k", "--upload-id", "x"],
    ])
  func credentials(_ command: [String]) async throws {
    var box = try BlackBox()
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] { box.environment[name] = nil }
    for name in ["f", "g"] { try box.sample(name, 100) }
    let waits = box.files.path("waits")
    // Without the streams of the test, which would wait for them.
    try box.files.write("exec 2>&-; touch '\(waits)'; exec sleep 20\n", to: "slow.sh")
    try box.binary.home.write(
      "[default]\ncredential_process = /bin/sh \"\(box.files.path("slow.sh"))\"\nregion = us-east-1\n",
      to: ".aws/config")
    let child = try box.start(command + ["--json"])
    try await until("\(command[0]) is waiting") { child.ended || FileManager.default.fileExists(atPath: waits) }
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 143 && result.errors.contains("interrupted"), "\(result.errors)")
    #expect(result.json["code"] as? String == "interrupted" && result.json["exit"] as? Int == 143)
    #expect(box.fake.requests.isEmpty)
  }

  @Test(
    "an upload whose beginning the store does not confirm in time is told of",
    arguments: [
      ["create", "s3://bucket/k"], ["ticket", "issue", "f", "s3://bucket/k", "-o", "t"],
      ["ticket", "issue", "-r", "d", "s3://bucket/k", "-o", "t"],
    ])
  func lateCreate(_ command: [String]) async throws {
    let box = try BlackBox()
    for name in ["f", "d/f"] { try box.sample(name, 100) }
    let gate = try box.files.write([], to: "gate")
    box.fake.setFaults([Fault(.init(.createMultipartUpload), .hold(file: gate, stage: .beforeAnswer))])
    let child = try box.start(command + ["--json"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .createMultipartUpload } })
    let (sent, lag) = (ContinuousClock.now, Lag())
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(30))
    try FileManager.default.removeItem(atPath: gate)
    #expect(result.endedAt - sent - lag.sofar < .seconds(5))
    #expect(result.status == 143 && result.json["code"] as? String == "interrupted", "\(result.errors)")
    #expect(result.errors.contains("may be left") && result.errors.contains("s3up uploads s3://bucket"))
  }

  @Test("of many uploads that were to be aborted, those that the store has not confirmed are named")
  func manyLeft() async throws {
    let box = try BlackBox()
    for name in ["a", "b"] { try box.sample(name, 6 * mebi) }
    box.fake.setFaults([
      Fault(.init(.uploadPart, partNumber: 2), .stall()),
      Fault(.init(.abortMultipartUpload), .stall(stage: .beforeBody)),
    ])
    let child = try box.start(["put", "a", "b", "s3://bucket/p/", "--part-size", "5M", "--on-interrupt", "abort"])
    #expect(await box.fake.wait { $0.count { $0.partNumber == 2 } == 2 })
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 143, "\(result.errors)")
    for upload in box.fake.unfinishedUploads { #expect(result.errors.contains(upload.id), "\(result.errors)") }
    #expect(box.fake.unfinishedUploads.count == 2)
  }

  @Test("the deadline and a signal also end a run that waits for the first line of its batch")
  func silentBatch() async throws {
    let box = try BlackBox()
    let late = try box.start(["put", "--batch", "-", "--deadline", "1s"], input: .open)
    #expect(await late.wait(timeout: .seconds(30)).status == 75)
    let list = box.files.path("list")
    #expect(mkfifo(list, 0o600) == 0)
    let child = try box.start(["put", "--batch", "list", "--json"])
    try await until("the list is open") { Self.isOpen(list, in: child) }
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 143 && result.json["code"] as? String == "interrupted", "\(result.errors)")
  }

  @Test("a command without an upload to clean up is ended by a signal directly", arguments: endings)
  func singleStep(_ signal: Int32, _ exit: Int32) async throws {
    let box = try BlackBox(faults: [Fault(.init(.createMultipartUpload), .stall(stage: .beforeBody))])
    let child = try box.start(["create", "s3://bucket/k"])
    #expect(await box.fake.wait { $0.count == 1 })
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == exit && !result.timedOut)
  }

  private func hasPendingSignal(_ child: ChildProcess) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/\(child.pid)/status", encoding: .utf8)) ?? ""
    return !status.contains("\nShdPnd:\t0000000000000000\n")
  }

  @Test(
    "A signal while an upload is begun leaves none that nobody knows of",
    arguments: [["create", "s3://bucket/k"], ["ticket", "issue", "--size", "9M", "s3://bucket/k", "-o", "t.json"]])
  func beginning(_ words: [String]) async throws {
    let box = try BlackBox()
    let gate = try box.files.write([], to: "gate")
    box.fake.setFaults([Fault(.init(.createMultipartUpload), .hold(file: gate, stage: .beforeAnswer))])
    let child = try box.start(words)
    #expect(await box.fake.wait { $0.contains { $0.operation == .createMultipartUpload } })
    child.signal(SIGTERM)
    // Before that the answer may still be reported as a success.
    try await until("the signal is taken") { child.ended || !hasPendingSignal(child) }
    try FileManager.default.removeItem(atPath: gate)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 143 && result.output.isEmpty, "\(result.output) \(result.errors)")
    #expect(box.fake.unfinishedUploads.isEmpty && !FileManager.default.fileExists(atPath: box.files.path("t.json")))
  }
}
