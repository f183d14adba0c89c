import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct RunOutputTests {
  private func box(_ faults: [Fault] = [], secure: Bool = false) throws -> BlackBox {
    let box = try BlackBox(secure: secure, faults: faults)
    try box.sample("file.bin", 6 * mebi)
    return box
  }

  private let put = ["put", "file.bin", "s3://bucket/k", "--part-size", "5M"]

  /// Runs on a pseudo terminal of 100 columns, made by util-linux' script; returns everything that was written to it.
  private func onTerminal(_ box: BlackBox, _ options: String, columns: Int = 100) async throws -> ChildProcess.Result {
    var box = box
    box.environment["TERM"] = box.environment["TERM"] ?? "xterm"
    // The lines are looked at here; the title has tests of its own.
    box.environment["S3UP_TITLE"] = "never"
    box.environment["LINE"] =
      "stty cols \(columns); \"$S3UP\" put file.bin s3://bucket/k --part-size 5M \(options)"
    return try await box.shell("exec script -qec \"$LINE\" /dev/null </dev/null")
  }

  @Test("with pipes a success is one line on standard output and nothing on standard error")
  func pipes() async throws {
    let box = try box()
    let result = try await box.run(put)
    result.expectSuccess()
    #expect(result.lines.count == 1)
    #expect(!result.output.contains("\u{1b}") && !result.output.contains("\r"))
  }

  @Test("-q prints nothing but errors")
  func quiet() async throws {
    let box = try box()
    let result = try await box.run(put + ["-q"])
    result.expectSuccess()
    #expect(result.output == "")
    try await box.run("put", "none", "s3://bucket/k", "-q").expectFailure(66)
  }

  @Test(
    "An invalid command line is reported as a JSON object if it asks for JSON",
    arguments: [
      (["put", "file.bin", "s3://bucket/k", "--json", "--no-such-option"], [:], true),
      (["put", "file.bin", "s3://bucket/k", "--json=none"], [:], true),
      (["puff", "file.bin", "--json=all"], [:], true),
      (["put", "file.bin", "s3://bucket/k", "--part-size"], ["S3UP_JSON": "1"], true),
      (["put", "file.bin", "s3://bucket/k", "--part-size"], ["S3UP_JSON": "no"], false),
      (["put", "--from-command", "s3://bucket/k", "--no-such-option", "--", "cat", "--json"], [:], false),
    ])
  func unreadable(_ words: [String], _ environment: [String: String], _ isObject: Bool) async throws {
    var box = try box()
    box.environment.merge(environment) { $1 }
    let result = try await box.run(words)
    #expect(result.status == 64 && result.errors.hasPrefix("s3up: "), "\(result.errors)")
    #expect(result.lines.count == (isObject ? 1 : 0), "\(result.output)")
    guard isObject else { return }
    let object = try JSONSerialization.jsonObject(with: Data(result.stdout)) as? [String: Any]
    #expect(object?["event"] as? String == "failed" && object?["exit"] as? Int == 64, "\(result.output)")
    #expect(object?["code"] as? String == "usage" && object?["message"] as? String != nil)
  }

  @Test("--progress plain ends with a line of everything that was sent")
  func plain() async throws {
    let box = try box()
    let result = try await box.run(put + ["--progress", "plain"])
    #expect(result.status == 0)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.last?.hasPrefix("file.bin: 100%, 6.0 MiB of 6.0 MiB, ") == true, "\(result.errors)")
    #expect(lines.last?.contains("parts 2/2") == true)
    #expect(!result.errors.contains("\u{1b}") && !result.errors.contains("\r"))
    #expect(result.lines.count == 1)
  }

  @Test("on a terminal a bar is redrawn in place, and its last frame says 100% and stays")
  func bar() async throws {
    let box = try box([Fault(.init(.uploadPart), .delay(milliseconds: 700))])
    let result = try await onTerminal(box, "")
    #expect(result.status == 0, "\(result.output)")
    #expect(box.fake.object("k") != nil)
    let frames = result.output.components(separatedBy: "\r\u{1b}[K")
    #expect(frames.count >= 3, "\(result.output)")
    let last = try #require(frames.last)
    #expect(last.contains("file.bin") && last.contains("100%") && last.contains("[====="), "\(last)")
    #expect(
      last.contains("\r\nuploaded file.bin") || last.contains("\nuploaded file.bin") || last.contains("\n\u{1b}["))
    for frame in frames.dropLast() { #expect(frame.count < 100, "\(frame)") }
  }

  @Test("a failure ends the bar's line before the error is printed")
  func barFails() async throws {
    let box = try box([Fault(.init(.uploadPart, partNumber: 2), .error(status: 403, code: "AccessDenied"))])
    let result = try await onTerminal(box, "--color never")
    #expect(result.status == 77, "\(result.output)")
    #expect(result.output.contains("\ns3up: "), "\(result.output)")
  }

  @Test("a dumb terminal, -q or --progress none get no bar", arguments: ["dumb", "-q", "--progress none"])
  func noBar(_ how: String) async throws {
    var box = try box()
    if how == "dumb" { box.environment["TERM"] = "dumb" }
    let result = try await onTerminal(box, how == "dumb" ? "" : how)
    #expect(result.status == 0)
    #expect(!result.output.contains("\u{1b}[K"), "\(result.output)")
  }

  @Test("a terminal of few columns gets lines that fit")
  func narrow() async throws {
    let box = try box([Fault(.init(.uploadPart), .delay(milliseconds: 500))])
    let result = try await onTerminal(box, "", columns: 20)
    #expect(result.status == 0)
    let frames = result.output.components(separatedBy: "\r\u{1b}[K")
    #expect(frames.count >= 3)
    for frame in frames { #expect(frame.prefix { $0 != "\r\n" && $0 != "\n" && $0 != "\r" }.count < 20, "\(frame)") }
  }

  @Test("--color always colors what --color never and NO_COLOR leave plain")
  func color() async throws {
    var box = try box()
    let always = try await box.run(put + ["--color", "always"])
    #expect(always.output.hasPrefix("\u{1b}["))
    #expect(try await box.run("put", "none", "s3://bucket/k", "--color", "always").errors.hasPrefix("\u{1b}["))
    #expect(try await onTerminal(box, "--progress none").output.contains("\u{1b}["))
    #expect(!(try await onTerminal(box, "--progress none --color never").output.contains("\u{1b}[")))
    box.environment["NO_COLOR"] = "1"
    #expect(!(try await onTerminal(box, "--progress none").output.contains("\u{1b}[")))
  }

  @Test("--explain prints the plan on standard error and carries it out")
  func explain() async throws {
    let box = try box(secure: true)
    let result = try await box.run(put + ["--explain", "--concurrency", "3"])
    #expect(result.status == 0)
    let plan = result.errors
    for words in ["2 parts of 5.0 MiB", "--part-size", "3", "path", "CRC64NVME", "environment", "TLS", "us-east-1"] {
      #expect(plan.contains(words), "\(words): \(plan)")
    }
    #expect(result.lines.count == 1)
    #expect(box.fake.object("k") != nil)
    let auto = try await box.run(put + ["--explain", "--concurrency", "auto"])
    #expect(
      auto.errors.contains("8 at first, up to 48 while more are faster, or 64 if each loses packets"),
      "\(auto.errors)")
    let small = try await box.run("put", "file.bin", "s3://bucket/k", "--explain")
    #expect(small.errors.contains("one PutObject"), "\(small.errors)")
    let dry = try await box.run(put + ["--explain", "--concurrency", "3", "--dry-run"])
    #expect(dry.errors == plan && dry.output.contains("would upload"), "\(dry.errors)\(plan)")
    try await box.shell("mkfifo pipe").expectSuccess()
    let pipe = try await box.run("put", "pipe", "s3://bucket/k", "--explain", "--dry-run")
    #expect(pipe.status == 0 && pipe.output.contains("would upload pipe"), "\(pipe.output)\(pipe.errors)")
  }

  @Test("On a line that was slow parts are smaller, and --explain says why")
  func slowLine() async throws {
    let box = try box()
    try StoreMemory(folder: box.state).remember(
      .line(.slow), of: "http://127.0.0.1:\(box.fake.port)",
      now: Timestamp(seconds: Int64(Date().timeIntervalSince1970)))
    try box.sample("f", 11 * mebi)
    let result = try await box.run("put", "f", "s3://bucket/k", "--explain")
    let parts = "3 parts of 5.0 MiB, chosen for a file of this size on a line that was slow"
    #expect(result.errors.contains(parts), "\(result.errors)")
    #expect(result.errors.contains("1 at first, 8 once the line takes them, up to 48"), "\(result.errors)")
    #expect(box.fake.requests(.uploadPart).count == 3)
  }

  @Test("-v prints more, -vv shows each request with its answer")
  func verbose() async throws {
    let box = try box()
    let one = try await box.run(put + ["-v"])
    #expect(one.status == 0 && !one.errors.contains("UploadPart"))
    let two = try await box.run(put + ["-vv"])
    for words in ["> CreateMultipartUpload", "> UploadPart", "> CompleteMultipartUpload", "< 200"] {
      #expect(two.errors.contains(words), "\(words)")
    }
  }

  @Test("a server's text cannot control the terminal")
  func escapes() async throws {
    let box = try box([
      Fault(
        .init(.createMultipartUpload),
        .error(status: 403, code: "AccessDenied", message: "no \u{9b}31m \u{202e} way\nsecond"))
    ])
    let result = try await box.run(put)
    result.expectFailure(77, "no ")
    #expect(
      !result.errors.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || (0x7F..<0xA0).contains($0.value) })
    #expect(!result.errors.unicodeScalars.contains("\u{202e}"))
  }

  @Test("options come from S3UP_ variables, and the command line wins over them")
  func variables() async throws {
    var box = try box()
    box.environment["S3UP_JSON"] = "1"
    box.environment["S3UP_PART_SIZE"] = "5M"
    box.environment["S3UP_CHECKSUM"] = "sha256"
    let result = try await box.run("put", "file.bin", "s3://bucket/k", "--checksum", "crc32c")
    result.expectSuccess()
    #expect(result.json["parts"] as? Int == 2)
    #expect((result.json["checksum"] as? [String: String])?["algorithm"] == "CRC32C")
    box.environment["S3UP_PART_SIZE"] = "1M"
    box.environment["S3UP_JSON"] = nil
    try await box.run("put", "file.bin", "s3://bucket/k").expectFailure(64, "S3UP_PART_SIZE")
  }
}

@Suite(.crowd) struct PaceTests {
  @Test("--limit-rate holds for all connections together", arguments: [1, 4])
  func limitRate(_ concurrency: Int) async throws {
    let box = try BlackBox()
    try box.sample("f", 12 * mebi)
    try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--limit-rate", "4M", "--concurrency", String(concurrency)
    ).expectSuccess()
    let parts = box.fake.requests(.uploadPart)
    let began = try #require(parts.map(\.began).min())
    let ended = try #require(parts.compactMap(\.ended).max())
    // Three seconds at the rate; buffers and the limiter's reserve make it shorter, a busy machine longer.
    #expect(ended - began > .milliseconds(2200), "\(ended - began)")
    #expect(ended - began < .seconds(20), "\(ended - began)")
  }

  /// A time zone in which the program's local time is this many seconds before eight in the morning.
  private static func zone(secondsBeforeEight seconds: Int) -> String {
    let local = 8 * 3600 - seconds
    let east = (local - Int(time(nil) % 86_400) + 86_400) % 86_400
    // POSIX counts to the west, and up to 24 hours.
    return "TST-\(east / 3600):\(east / 60 % 60):\(east % 60)"
  }

  @Test("--limit-rate follows its timetable during an upload", arguments: [1, 4])
  func timetable(_ concurrency: Int) async throws {
    var box = try BlackBox()
    box.environment["TZ"] = Self.zone(secondsBeforeEight: 4)
    try box.sample("f", 30 * mebi)
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--limit-rate", "07:00=512K,08:00=off", "-v", "--concurrency",
      String(concurrency))
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("there is no limit from now on"), "\(result.errors)")
    // At the rate of before eight it would take a minute.
    #expect(result.seconds > 2 && result.seconds < 40, "\(result.seconds)")
  }

  @Test("--explain prints the current rate, and the next one")
  func timetableExplained() async throws {
    var box = try BlackBox()
    box.environment["TZ"] = Self.zone(secondsBeforeEight: 1800)
    try box.sample("f", 1000)
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--limit-rate", "19:30=off,08:00=2M", "--explain", "--dry-run")
    let line = "rate         not limited, from 08:00 2.0 MiB/s (--limit-rate)"
    #expect((result.output + result.errors).contains(line), "\(result.output)\(result.errors)")
  }

  @Test("--concurrency auto uses more connections if the store limits each, and -v says why")
  func auto() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart), .slowRead(bytesPerSecond: 3 * mebi))]) {
      $0.storage = .discard
    }
    try box.files.sparseFile("f", size: 200 << 20)
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--payload-signing", "never", "-v")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("12 connections from here on"), "\(result.errors)")
    #expect(box.fake.counters.mostRunningParts >= 12)
  }

  @Test("the number of --concurrency is reached and never exceeded", arguments: [1, 3])
  func concurrency(_ count: Int) async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart), .delay(milliseconds: 150))]) { $0.storage = .discard }
    try box.files.sparseFile("f", size: 60 << 20)
    try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--concurrency", String(count), "--payload-signing", "never"
    ).expectSuccess()
    #expect(box.fake.counters.mostRunningParts == count)
    #expect(box.fake.requests(.uploadPart).count == 12)
  }

  @Test("connections are reused")
  func reuse() async throws {
    let box = try BlackBox(secure: true) { $0.storage = .discard }
    try box.files.sparseFile("f", size: 60 << 20)
    try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M", "--concurrency", "2").expectSuccess()
    // Create, the list of other unfinished uploads, twelve parts, complete.
    #expect(box.fake.requests.count == 15)
    #expect(box.fake.counters.connections <= 3)
  }
}
