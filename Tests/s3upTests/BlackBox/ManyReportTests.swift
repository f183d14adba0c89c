import Foundation
@testable import MultipartCore
import Support
import Testing

/// The reports of a run of many files: they never cost a file or an object of the run, and whether they can be written
/// is checked before anything is sent.
@Suite(.timeLimit(.minutes(15))) struct ManyReportTests {
  private func box() throws -> BlackBox {
    let box = try BlackBox()
    try box.sample("t/a", 3)
    try box.sample("t/data", 1000)
    return box
  }

  /// Expects a refusal before anything was sent, and that every file is unchanged.
  private func expectRefused(_ box: BlackBox, _ words: [String], input: ChildProcess.Input = .none) async throws {
    let before = try contents(box)
    let result = try await box.run(["put"] + words, input: input)
    result.expectFailure(64, "ame another file with --")
    #expect(box.fake.requests.isEmpty, "\(words)")
    #expect(try contents(box) == before, "\(words)")
  }

  private func contents(_ box: BlackBox) throws -> [String: Data?] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: box.files.path)
    return Dictionary(
      uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: box.files.path($0))) })
  }

  @Test(
    "A report that would replace what the run reads is refused, and every file stays",
    arguments: ["--failed-to", "--manifest"])
  func sources(_ option: String) async throws {
    let box = try box()
    try box.files.write("t/a\nt/data\n", to: "list")
    let line = { (file: String) in #"{"localUri":"\#(file)","bucket":"bucket","key":"\#(file)"}"# + "\n" }
    try box.files.write(line("t/a") + line("t/data"), to: "batch")
    #expect(symlink("t/data", box.files.path("link")) == 0)
    #expect(link(box.files.path("list"), box.files.path("twin")) == 0)
    let prefix = "s3://bucket/p/"
    for words in [
      ["--files-from", "list", prefix, option, "list"], ["--files-from", "list", prefix, option, "twin"],
      ["--batch", "batch", option, "./batch"], ["t/a", "t/data", prefix, option, "t/data"],
      ["t/a", "t/data", prefix, option, "link"], ["-r", "t", prefix, option, "t/data"],
      ["-r", "t", "--follow-symlinks", prefix, option, "link"], ["--files-from", "list", prefix, option, "t/data"],
      ["--batch", "batch", option, "t/data"], ["-r", "t", prefix, option, "t/data", "--dry-run"],
      ["-r", "t", prefix, "--failed-to", "x", "--manifest", "./x"],
    ] {
      try await expectRefused(box, words)
    }
    try await expectRefused(
      box, ["--files-from", "-", prefix, option, "list"], input: .file(box.files.path("list")))
    // A file that the rules exclude is not a source.
    try await box.run("put", "-r", "t", prefix, option, "t/data", "--exclude", "data").expectSuccess()
    #expect(box.fake.object("p/a") != nil && box.fake.objectCount == 1)
  }

  @Test("A file of the tree that only looks like an earlier report is refused as one, and stays")
  func likeAReport() async throws {
    let box = try BlackBox()
    try box.files.write("dd is my diary\nprecious\n", to: "dd/words")
    try box.files.write("dd/x\nprecious\n", to: "dd/mixed")
    try box.files.write(#"{"key":"precious","list":[1,2]}"# + "\n", to: "dd/data.json")
    try box.files.write(".env\nnode_modules\n", to: "dd/.gitignore")
    try await expectRefused(box, ["-r", "dd", "s3://bucket/dd/", "--failed-to", "dd/words"])
    try await expectRefused(box, ["-r", "dd", "s3://bucket/dd/", "--failed-to", "dd/mixed"])
    try await expectRefused(box, ["-r", "dd", "s3://bucket/dd/", "--manifest", "dd/data.json"])
    try await expectRefused(box, ["-r", ".", "s3://bucket/dd/", "--failed-to", "dd/.gitignore"])
  }

  @Test("A file of the tree that is an earlier report is replaced, and not sent")
  func earlierReport() async throws {
    let box = try BlackBox()
    try box.sample("dd/a", 3)
    try box.files.write("dd/a\ndd/sub/b\n", to: "dd/failed")
    for manifest in ["dd/sums", "dd/all.json"] {
      for _ in 0..<2 {
        let result = try await box.run(
          "put", "-r", "dd", "s3://bucket/p/", "--failed-to", "dd/failed", "--manifest", manifest)
        result.expectSuccess()
      }
      #expect(unlink(box.files.path(manifest)) == 0)
    }
    #expect(box.fake.objectCount == 1)
  }

  @Test("A file that a pipe's list names is not replaced: it fails, and its report is not written")
  func pipe() async throws {
    let box = try box()
    let result = try await box.run(
      "put", "--files-from", "-", "s3://bucket/p/", "--failed-to", "t/data", input: .bytes(Array("t/a\nt/data\n".utf8)))
    #expect(result.status == 64 && result.errors.contains("t/data"), "\(result.errors)")
    #expect(result.errors.contains("was not written"), "\(result.errors)")
    #expect(try box.files.read("t/data").count == 1000)
    #expect(box.fake.object("p/t/a") != nil && box.fake.objectCount == 1)
  }

  @Test("A report changes at the end, as a whole; a link to it stays, and a dry run changes nothing")
  func replaced() async throws {
    let box = try box()
    try box.files.write("old\n", to: "real")
    #expect(symlink("real", box.files.path("link")) == 0)
    #expect(chmod(box.files.path("real"), 0o640) == 0)
    let put = ["put", "t/a", "t/none", "s3://bucket/p/", "--failed-to", "link"]
    #expect(try await box.run(put + ["--dry-run"]).status == 66)
    #expect(try box.files.read("real") == Array("old\n".utf8))
    #expect(try await box.run(put).status == 66)
    #expect(try box.files.read("real") == Array("t/./none\n".utf8))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: box.files.path("link")) == "real")
    var status = stat()
    #expect(stat(box.files.path("real"), &status) == 0 && status.st_mode & 0o777 == 0o640)
    // The list of the last run is replaced, here by an empty one.
    try await box.run("put", "t/a", "s3://bucket/p/", "--failed-to", "real").expectSuccess()
    #expect(try box.files.read("real") == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.files.path).sorted() == ["link", "real", "t"])
    let shown = try await box.run("put", "t/a", "t/data", "s3://bucket/p/", "--manifest", "/dev/stdout", "-q")
    shown.expectSuccess()
    #expect(shown.lines.count == 2 && shown.lines.last?.hasSuffix("  data") == true, "\(shown.output)")
  }

  @Test("Earlier reports and s3up's own state in a folder are left out, reported only with -v")
  func insideTheTree() async throws {
    let box = try box()
    let put = [
      "put", "-r", "t", "s3://bucket/p", "--manifest", "t/SUMS", "--failed-to", "t/failed", "--state-dir", "t/state",
    ]
    for _ in 1...2 { try await box.run(put).expectSuccess() }
    #expect(box.fake.object("p/a") != nil && box.fake.object("p/data") != nil && box.fake.objectCount == 2)
    let checked = try await box.shell("cd t && sha256sum -c SUMS")
    #expect(checked.status == 0 && checked.lines.count == 2, "\(checked.errors)")
    try box.files.write("mine", to: "t/state/mine")
    let loud = try await box.run(put + ["-v"])
    #expect(loud.status == 0 && loud.errors.contains("left out: t/SUMS"), "\(loud.errors)")
    #expect(loud.errors.contains("left out: t/state/runs"), "\(loud.errors)")
    // The user's file next to it is sent.
    #expect(box.fake.object("p/state/mine") != nil && box.fake.objectCount == 3)
  }

  @Test("A manifest that would replace an object of its run is refused before anything is sent")
  func manifestOfItself() async throws {
    let box = try box()
    try box.files.write("t/./a\nt/./data\n", to: "list")
    let line = { (file: String) in #"{"localUri":"t/\#(file)","bucket":"bucket","key":"p/\#(file)"}"# + "\n" }
    try box.files.write(line("a") + line("data"), to: "batch")
    let manifest = ["--manifest", "s3://bucket/p/a"]
    for words in [
      ["t/a", "t/data", "s3://bucket/p/"], ["-r", "t", "s3://bucket/p"], ["--files-from", "list", "s3://bucket/p/"],
      ["--batch", "batch"], ["-r", "t", "s3://bucket/p", "--dry-run"],
    ] {
      let result = try await box.run(["put"] + words + manifest)
      result.expectFailure(64, "--manifest", "s3://bucket/p/a")
      #expect(box.fake.requests.isEmpty, "\(words)")
    }
    let result = try await box.run(
      ["put", "--files-from", "-", "s3://bucket/p/"] + manifest, input: .bytes(Array("t/./data\nt/./a\n".utf8)))
    #expect(result.status == 64 && result.errors.contains("no manifest was written"), "\(result.errors)")
    #expect(box.fake.object("p/data") != nil && box.fake.objectCount == 1)
    // This is another key, although Unicode considers it the same.
    try box.sample("t/e\u{301}", 5)
    try await box.run("put", "-r", "t", "s3://bucket/q", "--manifest", "s3://bucket/q/\u{e9}").expectSuccess()
    #expect(box.fake.object("q/e\u{301}")?.size == 5)
  }

  @Test("What the end needs is tried at the beginning: nothing is sent for a report that cannot be written")
  func tried() async throws {
    let box = try box()
    let put = ["put", "-r", "t", "s3://bucket/p"]
    for option in ["--manifest", "--failed-to"] {
      for place in ["none/x", "t", "t/a/x", "none/"] {
        for more in [[], ["--dry-run"]] {
          let result = try await box.run(put + [option, place] + more)
          let way = place == "none/x" ? "create it: mkdir -p none" : "ame another file with \(option)"
          result.expectFailure(64, option, way)
        }
      }
    }
    #expect(box.fake.requests.isEmpty)
    let result = try await box.run(put + ["--manifest", "s3://nobucket/m"])
    result.expectFailure(69, "--manifest", "NoSuchBucket")
    #expect(box.fake.objectCount == 0)
    try await box.run(put + ["--manifest", "s3://bucket/m"]).expectSuccess()
  }

  @Test(
    "A run that ends before a file does leaves no earlier list of what has failed",
    arguments: [["t/a", "t/b", "--deadline", "1s"], ["--files-from", "nolist"]])
  func earlierList(_ words: [String]) async throws {
    let box = try box()
    try box.files.write("t/a\n", to: "failed")
    box.fake.setFaults([Fault(.init(.putObject), .stall())])
    let sources = words.filter { $0.hasPrefix("t/") }
    let result = try await box.run(
      ["put"] + sources + ["s3://bucket/p/", "--failed-to", "failed"] + words.dropFirst(sources.count))
    #expect([66, 75].contains(result.status), "\(result.errors)")
    #expect(result.errors.contains("failed was not written") && result.errors.contains("was removed"))
    #expect(!FileManager.default.fileExists(atPath: box.files.path("failed")))
  }

  @Test("The summary of a run that was cut short says so")
  func cutShort() async throws {
    let box = try box()
    box.fake.setFaults([Fault(.init(.putObject, key: "p/data"), .stall())])
    let words = ["put", "-r", "t", "s3://bucket/p/", "--concurrency", "1", "--deadline", "2s", "--json"]
    let result = try await box.run(words)
    #expect(result.status == 75, "\(result.errors)")
    let summary = try #require(result.lines.first { $0.contains(#""event":"summary""#) })
    #expect(summary.contains(#""uploaded":1"#) && summary.contains(#""gave_up":true"#), "\(summary)")
  }

  @Test("A dry run whose lines cannot be written has failed")
  func unseenPlan() async throws {
    let result = try await box().shell("\"$S3UP\" put -r t s3://bucket/p/ --dry-run >/dev/full")
    #expect(result.status == 75 && result.errors.contains("cannot write to standard output"), "\(result.errors)")
    let failed = try await box().shell("\"$S3UP\" put -r t none s3://bucket/p/ --dry-run >/dev/full")
    #expect(failed.status == 66 && failed.errors.contains("cannot write to standard output"), "\(failed.errors)")
  }

  @Test("A report that cannot be written at the end is 74, after the summary; failed files have their own code")
  func full() async throws {
    let box = try box()
    let result = try await box.run("put", "-r", "t", "s3://bucket/p", "--manifest", "/dev/full")
    #expect(result.status == 74 && result.lines.last?.hasPrefix("2 files uploaded") == true, "\(result.output)")
    #expect(result.errors.contains("/dev/full") && result.errors.contains("--skip-same"), "\(result.errors)")
    #expect(!result.errors.contains("memory"), "\(result.errors)")
    let failed = try await box.run("put", "t/a", "t/none", "s3://bucket/p/", "--failed-to", "/dev/full")
    #expect(failed.status == 66 && failed.lines.last?.hasPrefix("1 file uploaded, 1 failed") == true)
    #expect(failed.errors.contains("the list of what has failed cannot be written"), "\(failed.errors)")
    #expect(!failed.errors.contains("s3up put --files-from"), "\(failed.errors)")
    box.fake.addFault(Fault(.init(.putObject, key: "m"), .error(status: 403, code: "AccessDenied")))
    let object = try await box.run("put", "-r", "t", "s3://bucket/p", "--manifest", "s3://bucket/m", "--json")
    #expect(object.status == 74, "\(object.errors)")
    #expect(object.lines.contains { $0.contains(#""event":"summary""#) && $0.contains(#""uploaded":2"#) })
  }

  @Test("The deadline and a signal also end the upload of a manifest, and the run itself has succeeded")
  func manifestStops() async throws {
    let box = try box()
    box.fake.addFault(Fault(.init(.putObject, key: "m"), .stall(stage: .beforeAnswer)))
    let put = ["put", "-r", "t", "s3://bucket/p", "--manifest", "s3://bucket/m"]
    let late = try await box.run(put + ["--deadline", "3s"])
    #expect(late.status == 75 && late.seconds < 15, "\(late.seconds) s: \(late.errors)")
    #expect(late.errors.contains("the run itself succeeded (s3://bucket/m)"), "\(late.errors)")
    let before = box.fake.requests(.putObject).count { $0.key == "m" }
    let child = try box.start(put)
    try await until("the manifest is sent") { box.fake.requests(.putObject).count { $0.key == "m" } > before }
    child.signal(SIGTERM)
    let stopped = await child.wait(timeout: .seconds(30))
    #expect(stopped.status == 143 && stopped.errors.contains("the run itself succeeded"), "\(stopped.errors)")
  }

  @Test("A manifest lists the objects of one bucket", arguments: [false, true])
  func buckets(isPiped: Bool) async throws {
    let box = try box()
    let lines = ["bucket", "other"].map { "{\"localUri\":\"t/a\",\"bucket\":\"\($0)\",\"key\":\"x\"}\n" }.joined()
    try box.files.write(lines, to: "batch")
    let put = ["put", "--manifest", "m", "--batch", isPiped ? "-" : "batch"]
    let result = try await box.run(put, input: isPiped ? .bytes(Array(lines.utf8)) : .none)
    #expect(result.status == 64 && result.errors.contains("objects of one bucket"), "\(result.errors)")
    #expect(box.fake.objectCount == (isPiped ? 1 : 0) && !FileManager.default.fileExists(atPath: box.files.path("m")))
  }

  @Test("A name with a line break is not in the list, and the message suggests -0; with -0 it is in the list")
  func lineBreak() async throws {
    let box = try box()
    try box.sample("t/b\nc", 4)
    for key in ["p/a", "p/b\nc"] {
      box.fake.addFault(Fault(.init(.putObject, key: key), .error(status: 403, code: "AccessDenied")))
    }
    let put = ["put", "-r", "t", "s3://bucket/p/", "--failed-to", "failed"]
    let result = try await box.run(put)
    #expect(result.status == 77)
    #expect(result.errors.contains("failed leaves out 1 name with a line break"), "\(result.errors)")
    #expect(result.errors.contains("-0"), "\(result.errors)")
    #expect(try box.files.read("failed") == Array("t/./a\n".utf8))
    let whole = try await box.run(put + ["-0"])
    #expect(!whole.errors.contains("line break"), "\(whole.errors)")
    #expect(whole.errors.contains("s3up put --files-from failed -0 s3://bucket/p/"), "\(whole.errors)")
    box.fake.setFaults([])
    try await box.run("put", "--files-from", "failed", "-0", "s3://bucket/p/").expectSuccess()
    #expect(box.fake.object("p/b\nc")?.size == 4 && box.fake.objectCount == 3)
    // The failed file is the only one, so the remedy must not name the empty list.
    box.fake.addFault(Fault(.init(.putObject, key: "p/b\nc"), .error(status: 403, code: "AccessDenied")))
    let alone = try await box.run(put)
    #expect(!alone.errors.contains("s3up put --files-from"), "\(alone.errors)")
  }

  /// `script` gives the program a terminal.
  @Test("On a terminal the long retries of a run are reported once in five seconds, not once for each file")
  func retries() async throws {
    let box = try BlackBox()
    for number in 0..<8 {
      try box.sample("t/\(number)", 10)
      box.fake.addFault(
        Fault(
          .init(.putObject, key: "\(number)", nth: 1),
          .error(status: 503, code: "SlowDown", headers: ["Retry-After": "1"])))
    }
    var environment = Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 }
    environment["SHELL"] = "/bin/sh"
    let words = "put -r t s3://bucket/ --progress none"
    let result = try await ChildProcess(
      Programs.find("script"), ["-qec", "\(box.binary.path) \(words)", "/dev/null"],
      environment: environment, directory: box.files.path
    ).wait(timeout: .seconds(60))
    #expect(result.status == 0 && box.fake.objectCount == 8, "\(result.output)")
    let said = result.output.components(separatedBy: "; try 2 in ").count - 1
    #expect((1...3).contains(said), "\(result.output)")
  }

  @Test("a manifest that root writes over a user's stays that user's, with its mode", .enabled(if: geteuid() == 0))
  func owner() async throws {
    let box = try BlackBox()
    try box.sample("d/f", 3)
    let path = try box.files.write("{}\n", to: "m.jsonl")
    #expect(chown(path, 12345, 12346) == 0 && chmod(path, 0o640) == 0)
    try await box.run("put", "-r", "d", "s3://bucket/p/", "--manifest", "m.jsonl").expectSuccess()
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_uid == 12345 && status.st_gid == 12346 && status.st_mode & 0o7777 == 0o640)
    #expect(status.st_size > 3)
  }
}
