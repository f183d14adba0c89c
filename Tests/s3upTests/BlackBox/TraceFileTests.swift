import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// The files of a timeline: where they may be, what becomes of what is there, and what is never in them.
@Suite(.crowd) struct TraceFileTests {
  private func mode(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  static let options = ["--trace", "--report"]

  @Test(
    "A file that cannot be written, is a source or a target, or holds something else is refused before anything is sent",
    arguments: options)
  func refused(_ option: String) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 10)
    box.fake.putObject("k", bytes: bytes)
    try box.files.write("three lines\nof a\nletter\n", to: "letter")
    try box.sample("t/a", 3)
    try box.sample("t/data", 1000)
    let other = option == "--trace" ? "--report" : "--trace"
    for (words, why) in [
      (["put", "f", "s3://bucket/new", option, "nowhere/x"], "nowhere/x"),
      (["put", "f", "s3://bucket/new", option, "f"], "the source is also the file of \(option)"),
      (["put", "f", "s3://bucket/new", option, "./f"], "the source is also the file of \(option)"),
      (["put", "f", "s3://bucket/new", option, "letter"], "other contents"),
      (["put", "f", "s3://bucket/new", option, "t"], "directory"),
      (["put", "f", "s3://bucket/new", option, "same", other, "same"], "ame another file with"),
      (["put", "f", "s3://bucket/new", option, "same", "--dotenv", "./same"], "ame another file with"),
      (["put", "-r", "t", "s3://bucket/new/", option, "t/data"], "other contents"),
      (["put", "-r", "t", "s3://bucket/new/", option, "x", "--failed-to", "x"], "ame another file with"),
      (["get", "s3://bucket/k", "out", option, "./out"], "the target of an object is also the file of \(option)"),
      (["get", "-r", "s3://bucket/", "down", option, "letter"], "other contents"),
    ] {
      let result = try await box.run(words)
      result.expectFailure(64, why)
    }
    #expect(box.fake.requests.isEmpty)
    #expect(
      try box.files.read("f") == bytes
        && String(decoding: try box.files.read("letter"), as: UTF8.self).hasSuffix("letter\n"))
  }

  @Test("An object that is brought to the place of a trace is not, and the trace is", arguments: options)
  func target(_ option: String) async throws {
    let box = try BlackBox()
    try FileManager.default.createDirectory(atPath: box.files.path("d"), withIntermediateDirectories: true)
    for name in ["a", "x"] { box.fake.putObject("p/" + name, bytes: [1, 2, 3]) }
    let result = try await box.run("get", "-r", "s3://bucket/p/", "d", option, "d/x")
    #expect(result.status == 64, "\(result.errors)")
    #expect(result.errors.contains("the target of an object is also the file of \(option)"), "\(result.errors)")
    #expect(try box.files.read("d/a") == [1, 2, 3])
    #expect(try box.files.read("d/x") != [1, 2, 3])
  }

  @Test("A trace in the folder that is sent is replaced by each run with its mode, and never sent", arguments: options)
  func inTree(_ option: String) async throws {
    let box = try BlackBox()
    try box.sample("t/a", 3)
    var last: [UInt8] = []
    for _ in 0..<2 {
      try await box.run("put", "-q", "-r", "t", "s3://bucket/p/", option, "t/run").expectSuccess()
      let now = try box.files.read("t/run")
      #expect(now != last)
      last = now
      #expect(chmod(box.files.path("t/run"), 0o640) == 0)
    }
    #expect(try mode(box.files.path("t/run")) == 0o640)
    #expect(box.fake.objectCount == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.files.path("t")).sorted() == ["a", "run"])
  }

  @Test("The words of a command can be secret: neither file has them")
  func command() async throws {
    let box = try BlackBox()
    let command = ["--", "sh", "-c", "echo --password=hunter2"]
    try await box.run(["put", "--from-command", "s3://bucket/k"] + BlackBox.traced + command).expectSuccess()
    for (file, expected) in [("trace.json", "PutObject"), ("report.html", "s3up put s3://bucket/k")] {
      let text = String(decoding: try box.files.read(file), as: UTF8.self)
      #expect(!text.contains("hunter2"), "\(text)")
      #expect(text.contains(expected), "\(text)")
    }
  }

  @Test("With --dry-run nothing is written")
  func dryRun() async throws {
    let box = try BlackBox()
    try box.sample("t/a", 3)
    try await box.run(["put", "-r", "t", "s3://bucket/p/", "--dry-run"] + BlackBox.traced).expectSuccess()
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.files.path) == ["t"])
  }

  @Test("What cannot be written at the end is 74 and says that the object is there", arguments: options)
  func full(_ option: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    let result = try await box.run("put", "f", "s3://bucket/k", "--json", option, "/dev/full")
    #expect(result.status == 74, "\(result.errors)")
    #expect(result.errors.contains("cannot be written") && result.errors.contains("the run itself succeeded"))
    #expect(result.lines.count == 2 && result.lines[0].contains(#""event":"completed""#))
    #expect(result.lines.last?.contains(#""exit":74"#) == true, "\(result.output)")
    #expect(box.fake.object("k") != nil)
    // A failure stays what it is.
    let missing = try await box.run("put", "f", "s3://bucket/k", "--if-none-match", option, "/dev/full")
    #expect(missing.status == 73 && missing.errors.contains("cannot be written"), "\(missing.errors)")
    let two = try await box.run("put", "f", "none", "s3://bucket/p/", option, "/dev/full")
    #expect(two.status == 66 && two.errors.contains("cannot be written"), "\(two.errors)")
    for failed in [missing, two] { #expect(!failed.errors.contains("Do not run it again"), "\(failed.errors)") }
  }

  @Test("A trace whose events have found no room is 74, and the files are there")
  func noRoom() async throws {
    var box = try BlackBox()
    box.environment["TMPDIR"] = box.files.path("nowhere")
    for number in 1...250 { try box.files.write("x", to: "t/" + String(repeating: "long", count: 50) + "\(number)") }
    let result = try await box.run("put", "-q", "-r", "t", "s3://bucket/p/", "--trace", "trace.json")
    result.expectFailure(74, "the trace lacks events", "the run itself succeeded")
    #expect(box.fake.objectCount == 250 && !FileManager.default.fileExists(atPath: box.files.path("trace.json")))
  }

  @Test("Names that are code elsewhere stay names, and what a store repeats of its requests is masked")
  func hostile() async throws {
    let signature = "AWS4-HMAC-SHA256 Credential"
    let box = try BlackBox(faults: [
      Fault(
        .init(.putObject, nth: 1),
        .error(
          status: 500, code: "InternalError",
          message: "</script><b>\u{600}\"' \(FakeCredential.standard.secret) \u{1b}[31m\u{202e}"))
    ])
    let key = "</title><script>alert(1)</script>\u{600}\"'&\u{1b}\n"
    try box.sample("f", 10)
    let result = try await box.run(["put", "f", "s3://bucket/" + key] + BlackBox.traced)
    #expect(result.status == 0, "\(result.errors)")
    let trace = try box.trace()
    trace.expectSound()
    #expect(trace.slices("retry").count == 1)
    let page = try box.page()
    for text in [page, String(decoding: try box.files.read("trace.json"), as: UTF8.self)] {
      #expect(
        !text.contains(FakeCredential.standard.secret) && !text.contains(signature) && !text.contains("Signature="))
      #expect(!text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" || $0.value == 0x202e })
    }
    #expect(!page.contains("<script") && !page.contains("<b>") && page.components(separatedBy: "</title>").count > 1)
    #expect(page.utf8.split(separator: UInt8(ascii: "<")).allSatisfy { !$0.starts(with: "script".utf8) })
  }

  @Test("A file whose name is not UTF-8 has its place in both")
  func notUTF8() async throws {
    let box = try BlackBox()
    let result = try await box.shell(
      #"mkdir t; printf x >"t/$(printf 'a\377b')"; "$S3UP" put -r t s3://bucket/p/ "$@""#, BlackBox.traced)
    #expect(result.status == 0, "\(result.errors)")
    try box.trace().expectSound()
    #expect(try box.page().contains("object 1"))
  }
}
