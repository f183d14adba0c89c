import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// `s3up put` of many files, against a store that answers as S3 does.
@Suite(.timeLimit(.minutes(15))) struct ManyTests {
  private func box() throws -> BlackBox {
    let box = try BlackBox()
    try box.sample("t/a.txt", 3)
    try box.sample("t/sub/b.png", 70_000)
    try box.sample("t/sub/deep/c.bin", 9 * mebi)
    try box.sample("t/z", 0)
    return box
  }

  @Test(
    "The contents of a folder are sent below the prefix, with or without slashes at the ends", arguments: ["", "/"])
  func folder(_ slash: String) async throws {
    let box = try box()
    let result = try await box.run("put", "-r", "t" + slash, "s3://bucket/p/q" + slash)
    result.expectSuccess()
    #expect(box.fake.object("p/q/a.txt")?.size == 3)
    #expect(box.fake.object("p/q/sub/b.png")?.headers["content-type"] == "image/png")
    #expect(box.fake.object("p/q/sub/deep/c.bin")?.size == 9 * mebi)
    #expect(box.fake.object("p/q/z")?.size == 0)
    #expect(box.fake.objectCount == 4)
    #expect(
      result.lines.count == 5 && result.lines.last?.hasPrefix("4 files uploaded (9.1 MiB") == true, "\(result.output)")
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("Several files keep their names below a prefix; JSON has an object for each, and a summary")
  func several() async throws {
    let box = try box()
    let result = try await box.run("put", "t/a.txt", "t/sub/b.png", "s3://bucket/p/", "--json")
    result.expectSuccess()
    let events = try result.lines.map { try JSONDecoder().decode([String: Loose].self, from: Data($0.utf8)) }
    #expect(Set(events.compactMap { $0["key"]?.text }) == ["p/a.txt", "p/b.png"])
    #expect(events.last?["event"]?.text == "summary" && events.last?["uploaded"]?.number == 2)
    #expect(events.last?["bytes"]?.number == 70_003)
  }

  private struct Loose: Decodable {
    var text: String?
    var number: Double?

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      text = try? value.decode(String.self)
      number = try? value.decode(Double.self)
    }
  }

  @Test("One failed file does not stop the others: its reason's exit code, its name, and a command that sends it")
  func oneFails() async throws {
    let box = try box()
    box.fake.addFault(Fault(.init(.putObject, key: "p/a.txt"), .error(status: 403, code: "AccessDenied")))
    let list = box.files.path("failed")
    let result = try await box.run("put", "-r", "t", "s3://bucket/p/", "--failed-to", list)
    #expect(result.status == 77)
    #expect(box.fake.objectCount == 3)
    #expect(result.output.contains("3 files uploaded, 1 failed"), "\(result.output)")
    #expect(result.errors.contains("s3up put --files-from"), "\(result.errors)")
    #expect(try String(contentsOfFile: list, encoding: .utf8) == "t/./a.txt\n")
    box.fake.setFaults([])
    try await box.run("put", "--files-from", list, "s3://bucket/p/").expectSuccess()
    #expect(box.fake.object("p/a.txt")?.size == 3)
  }

  @Test("Several that fail for different reasons are 1")
  func severalReasons() async throws {
    let box = try box()
    box.fake.addFault(Fault(.init(.putObject, key: "p/a.txt"), .error(status: 403, code: "AccessDenied")))
    let result = try await box.run("put", "t/a.txt", "t/none", "t/z", "s3://bucket/p/")
    #expect(result.status == 1)
    #expect(box.fake.objectCount == 1)
  }

  @Test("A run selects by include, exclude, a list with a mark, NUL bytes, and a share")
  func selection() async throws {
    let box = try box()
    try await box.run("put", "-r", "t", "s3://bucket/i", "--include", "*.png").expectSuccess()
    #expect(box.fake.object("i/sub/b.png") != nil && box.fake.objectCount == 1)
    try await box.run("put", "-r", "t", "s3://bucket/e", "--exclude", "sub/", "--exclude", "z").expectSuccess()
    #expect(box.fake.object("e/a.txt") != nil && box.fake.objectCount == 2)
    try box.files.write(Array("t/./sub/b.png\0t/z\0".utf8), to: "list")
    try await box.run("put", "--files-from", "list", "-0", "s3://bucket/l").expectSuccess()
    #expect(box.fake.object("l/sub/b.png") != nil && box.fake.object("l/t/z") != nil)
    for share in 1...3 { try await box.run("put", "-r", "t", "s3://bucket/s", "--shard", "\(share)/3").expectSuccess() }
    #expect(["s/a.txt", "s/sub/b.png", "s/sub/deep/c.bin", "s/z"].allSatisfy { box.fake.object($0) != nil })
    #expect(box.fake.requests(.putObject).count { $0.key.hasPrefix("s/") } == 3)
  }

  @Test("A batch names its own destinations, types and metadata; a bad line is named before anything is sent")
  func batch() async throws {
    let box = try box()
    let good = #"{"localUri": "t/a.txt", "bucket": "bucket", "key": "x", "mimeType": "a/b", "metadata": {"m": "n"}}"#
    try box.files.write(Array((good + "\n\n" + #"{"localUri": "t/z", "bucket": "bucket", "key": "y"}"#).utf8), to: "b")
    try await box.run("put", "--batch", "b").expectSuccess()
    #expect(box.fake.object("x")?.headers["content-type"] == "a/b" && box.fake.object("x")?.metadata == ["m": "n"])
    #expect(box.fake.object("y")?.size == 0)
    // The same rules as for folders, about the keys.
    let chosen = try await box.run("put", "--batch", "b", "--exclude", "/x", "--dry-run")
    #expect(chosen.lines.first == "would upload t/z to s3://bucket/y (0 B)", "\(chosen.output)")
    try await box.run("put", "--batch", "b", "--include", "*.png").expectFailure(66, "leave nothing to send")
    try box.files.write(Array((good + "\n" + #"{"localUri": "t/z", "bucket": "bucket"}"#).utf8), to: "bad")
    let before = box.fake.requests.count
    try await box.run("put", "--batch", "bad").expectFailure(64, "line 2", "key")
    #expect(box.fake.requests.count == before)
  }

  @Test(
    "What cannot be a run of many is refused before anything is sent",
    arguments: [
      (["t", "s3://bucket/p/"], "-r uploads its contents"),
      (["t/a.txt", "t/z", "s3://bucket/p"], "s3://bucket/p/"),
      (["-r", "t", "-", "s3://bucket/p/"], "standard input"),
      (["-r", "t", "t/sub/../a.txt", "s3://bucket/p/"], "same key"),
      (["-r", "t", "s3://bucket/p/", "--expect-size", "3"], "--expect-size"),
      (["-r", "t", "s3://bucket/p/", "--shard", "0/3"], "--shard"),
      (["-r", "s3://bucket/p/"], "FILE is missing"),
    ])
  func refused(_ words: [String], _ word: String) async throws {
    let box = try box()
    let result = try await box.run(["put"] + words)
    result.expectFailure(64, word)
    #expect(box.fake.requests.isEmpty)
  }

  @Test("Of two files from a pipe with one key the first is sent, and the other is named")
  func pipe() async throws {
    let box = try box()
    try box.sample("other/a.txt", 5)
    let list = "t/./a.txt\nt/./z\nother/./a.txt\nt/./a.txt\n"
    let result = try await box.run("put", "--files-from", "-", "s3://bucket/p/", input: .bytes(Array(list.utf8)))
    #expect(result.status == 64)
    #expect(result.errors.contains("other/./a.txt has the same key as an earlier file"), "\(result.errors)")
    #expect(box.fake.object("p/a.txt")?.size == 3 && box.fake.object("p/z") != nil)

    func line(_ file: String) -> String { #"{"localUri":"\#(file)","bucket":"bucket","key":"q"}"# + "\n" }
    let batch = line("t/a.txt") + line("other/a.txt")
    let other = try await box.run("put", "--batch", "-", input: .bytes(Array(batch.utf8)))
    #expect(other.status == 64 && other.errors.contains("other/a.txt has the same key"), "\(other.errors)")
    #expect(box.fake.object("q")?.size == 3)
  }

  @Test("--explain prints the plan of the whole run, and carries it out")
  func explain() async throws {
    let box = try box()
    let result = try await box.run("put", "-r", "t", "s3://bucket/p/", "--explain")
    #expect(result.status == 0)
    let wanted = [
      "source       t\n", "target       s3://bucket/p/\n", "others in parts of 8.0 MiB", "8 at first, up to 48",
      "small files", "CRC64NVME", "environment", "of each file by its name",
    ]
    for words in wanted { #expect(result.errors.contains(words), "\(words): \(result.errors)") }
    #expect(box.fake.objectCount == 4)
    try box.files.write("t/a.txt\n", to: "list")
    let list = try await box.run(
      "put", "--files-from", "list", "s3://bucket/q", "--explain", "--part-size", "6M", "--concurrency", "3")
    #expect(list.errors.contains("the files that list names"), "\(list.errors)")
    #expect(list.errors.contains("parts of 6.0 MiB, as --part-size says"), "\(list.errors)")
    #expect(list.errors.contains("connections  3 (--concurrency)"), "\(list.errors)")
  }

  @Test("A dry run prints what would be sent and what would not, and sends nothing")
  func dryRun() async throws {
    let box = try box()
    let result = try await box.run("put", "-r", "t", "s3://bucket/p", "--dry-run", "--exclude", "z")
    #expect(result.status == 0)
    #expect(result.lines.count == 4 && result.output.contains("s3://bucket/p/sub/b.png"))
    #expect(result.errors.contains("z: excluded"), "\(result.errors)")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("Interrupted by a signal, it keeps what a second run resumes, and ends with the signal's code")
  func interrupted() async throws {
    let box = try box()
    try box.sample("t/sub/large", 60 * mebi)
    box.fake.addFault(Fault(.init(.uploadPart, partNumber: 4), .stall(stage: .beforeBody)))
    let child = try box.start(["put", "-r", "t", "s3://bucket/p", "--part-size", "5M"])
    #expect(await box.fake.wait { $0.count { $0.operation == .uploadPart && $0.done } > 1 })
    child.signal(SIGINT)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 130, "\(result.errors)")
    box.fake.setFaults([])
    let second = try await box.run("put", "-r", "t", "s3://bucket/p", "--part-size", "5M")
    second.expectSuccess()
    #expect(second.output.contains("resumed"), "\(second.output)")
    #expect(box.fake.object("p/sub/large")?.size == 60 * mebi)
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("Identical objects are left alone: one listing for a tree, a HEAD for one file; what has changed is sent")
  func skipSame() async throws {
    let box = try box()
    let put = ["put", "-r", "t", "s3://bucket/p", "--skip-same"]
    try await box.run(put).expectSuccess()
    let before = box.fake.requests.count
    let second = try await box.run(put)
    second.expectSuccess()
    #expect(second.lines.count { $0.hasPrefix("unchanged ") } == 4, "\(second.output)")
    #expect(second.lines.last?.hasPrefix("0 files uploaded, 4 unchanged") == true, "\(second.output)")
    #expect(box.fake.requests.count == before + 1)
    try box.sample("t/a.txt", 3, seed: 7)
    let third = try await box.run(put + ["--json"])
    third.expectSuccess()
    #expect(third.lines.count { $0.contains(#""event":"unchanged""#) } == 3, "\(third.output)")
    #expect(third.lines.count { $0.contains(#""event":"completed""#) } == 1, "\(third.output)")
    let one = try await box.run("put", "t/sub/deep/c.bin", "s3://bucket/p/sub/deep/c.bin", "--skip-same")
    one.expectSuccess()
    #expect(one.output.hasPrefix("unchanged t/sub/deep/c.bin at s3://bucket/p/sub/deep/c.bin"), "\(one.output)")
    let dry = try await box.run(put + ["--dry-run"])
    dry.expectSuccess()
    #expect(dry.lines.last?.hasPrefix("0 files would be uploaded, 4 unchanged") == true, "\(dry.output)")
  }

  @Test("If the store cannot list, --skip-same gives the list up after three tries and sends a HEAD for each object")
  func skipSameWithoutAList() async throws {
    let box = try box()
    let put = ["put", "-r", "t", "s3://bucket/p", "--skip-same"]
    try await box.run(put).expectSuccess()
    box.fake.setFaults([Fault(.init(.listObjects), .error(status: 503, code: "SlowDown"))])
    let second = try await box.run(put)
    second.expectSuccess()
    #expect(second.lines.last?.hasPrefix("0 files uploaded, 4 unchanged") == true, "\(second.output)")
    #expect(box.fake.requests(.listObjects).count == 1 + 3)
  }

  @Test("A manifest is written last, in the form that sha256sum checks, and is not written if something has failed")
  func manifest() async throws {
    let box = try box()
    try await box.run("put", "-r", "t", "s3://bucket/p", "--manifest", "sums").expectSuccess()
    let checked = try await box.shell("cd t && sha256sum -c ../sums")
    #expect(checked.status == 0 && checked.lines.count == 4, "\(checked.output) \(checked.errors)")
    try await box.run("put", "-r", "t", "s3://bucket/p", "--manifest", "s3://bucket/m.json", "--shard", "1/1")
      .expectSuccess()
    let lines = box.fake.object("m.json.1-of-1")?.bytes.map { $0.split(separator: UInt8(ascii: "\n")).count }
    #expect(lines == 4)
    box.fake.addFault(Fault(.init(.putObject, key: "p/z"), .error(status: 403, code: "AccessDenied")))
    let failed = try await box.run("put", "-r", "t", "s3://bucket/p", "--manifest", "other")
    #expect(
      failed.status == 77 && failed.errors.contains("no manifest was written, because some objects are missing\n"),
      "\(failed.errors)")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("other")))
    // An earlier one is kept, and told from one of this run.
    let stale = try await box.run("put", "-r", "t", "s3://bucket/p", "--manifest", "sums")
    #expect(stale.status == 77 && stale.errors.contains("; sums is that of an earlier run\n"), "\(stale.errors)")
    box.fake.setFaults([Fault(.init(.putObject), .stall(stage: .beforeBody))])
    let late = try await box.run("put", "-r", "t", "s3://bucket/p", "--manifest", "sums", "--deadline", "1s")
    #expect(late.status == 75 && late.errors.contains("; sums is that of an earlier run\n"), "\(late.errors)")
  }

  @Test("After a kill the same command continues: what was confirmed is not sent again, as one listing shows")
  func killed() async throws {
    let box = try box()
    for number in 0..<200 { try box.sample("t/many/\(number)", 1000 + number, seed: UInt64(number)) }
    box.fake.addFault(Fault(.init(.putObject, from: 100), .stall(stage: .beforeBody)))
    let child = try box.start(["put", "-r", "t", "s3://bucket/p", "--concurrency", "2"])
    try await until("both connections are held up") { box.fake.requests(.putObject).count > 100 }
    child.signal(SIGKILL)
    _ = await child.wait(timeout: .seconds(30))
    box.fake.setFaults([])
    try await until("the store is quiet") { box.fake.counters.runningRequests == 0 }
    let (done, before) = (box.fake.objectCount, box.fake.requests(.putObject).count)
    let second = try await box.run("put", "-r", "t", "s3://bucket/p")
    second.expectSuccess()
    let sent = box.fake.requests(.putObject).count - before
    // All 203 files are sent in single requests. One was held up on each connection, and the answer before it may not
    // be recorded yet.
    #expect(done >= 99 && sent <= 203 - done + 4, "\(sent) after \(done)")
    #expect(second.lines.count { $0.hasPrefix("unchanged ") } >= done - 4, "\(second.output)")
    #expect(box.fake.objectCount == 204 && box.fake.unfinishedUploads.isEmpty)
    // The run has succeeded, so the next one sends everything.
    try await box.run("put", "-r", "t", "s3://bucket/p").expectSuccess()
    #expect(box.fake.requests(.putObject).count == before + sent + 203)
  }

  @Test("If nothing arrives and all fail for one reason, the run ends, and the others are not tried")
  func hopeless() async throws {
    let box = try box()
    for number in 0..<300 { try box.sample("t/many/\(number)", 10, seed: UInt64(number)) }
    let result = try await box.run("put", "-r", "t/many", "s3://nobucket/p")
    #expect(result.status == 69, "\(result.errors)")
    #expect(result.output.contains("the others were not completed"), "\(result.output)")
    #expect(box.fake.requests(.putObject).count < 100)
    // A list of failures would leave out the others, and an earlier one would be taken for it.
    try box.files.write("many/0\n", to: "failed")
    let listed = try await box.run("put", "-r", "t/many", "s3://nobucket/p", "--failed-to", "failed")
    #expect(listed.status == 69 && !listed.errors.contains("--files-from"), "\(listed.errors)")
    #expect(listed.errors.contains("failed was not written, because not every file was tried"), "\(listed.errors)")
    #expect(listed.errors.contains("; the earlier one was removed"), "\(listed.errors)")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("failed")))
  }

  @Test("If the store does not keep what is requested of each object, the run ends too")
  func unkept() async throws {
    let box = try BlackBox { $0.encryption = .none }
    for number in 0..<100 { try box.sample("t/many/\(number)", 10, seed: UInt64(number)) }
    let result = try await box.run("put", "-r", "t/many", "s3://bucket/p", "--sse", "AES256")
    #expect(result.status == 69 && result.output.contains("the others were not completed"), "\(result.output)")
    #expect(box.fake.requests(.putObject).count < 100)
  }

  @Test("A run that is stopped before a file has arrived ends with its totals too, and can be resumed")
  func stoppedEarly() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 3), .stall(stage: .beforeBody))])
    try box.sample("t/large", 22 * mebi)
    let put = ["put", "-r", "t", "s3://bucket/p", "--part-size", "5M", "--concurrency", "1", "--json"]
    let child = try box.start(put)
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 3 } })
    child.signal(SIGTERM)
    let result = await child.wait()
    #expect(result.lines.count == 2, "\(result.output)")
    #expect(result.lines.first?.contains(#""event":"summary""#) == true, "\(result.output)")
    #expect(result.lines.last?.contains(#""resumable":true"#) == true, "\(result.output)")
    #expect(result.status == 143, "\(result.errors)")
    #expect(result.errors.contains("Run the same command again to continue"), "\(result.errors)")
    box.fake.setFaults([])
    let again = try await box.run(put + ["-v"])
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.errors.contains("t/large: resumes: 2 parts (10 MiB) are already"), "\(again.errors)")
  }

  @Test("When the time is over, the run ends with 75, and the same command continues it")
  func deadline() async throws {
    let box = try box()
    try box.sample("t/sub/large", 60 * mebi)
    let put = ["put", "-r", "t", "s3://bucket/p", "--part-size", "5M"]
    let result = try await box.run(put + ["--limit-rate", "8M", "--deadline", "3s"])
    #expect(result.status == 75 && result.errors.contains("run the same command again") == false, "\(result.errors)")
    #expect(result.errors.contains("Run the same command again to continue"), "\(result.errors)")
    try await box.run(put).expectSuccess()
    #expect(box.fake.object("p/sub/large")?.size == 60 * mebi && box.fake.unfinishedUploads.isEmpty)
  }
}
