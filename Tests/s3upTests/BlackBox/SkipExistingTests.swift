import Foundation
@testable import MultipartCore
import Support
import Testing

/// `--skip-existing`: an object that exists is not sent, whatever it contains.
@Suite(.timeLimit(.minutes(15))) struct SkipExistingTests {
  private func box() throws -> BlackBox {
    let box = try BlackBox()
    try box.sample("t/a", 3)
    try box.sample("t/b", 5, seed: 2)
    try box.sample("t/large", 12 * mebi)
    return box
  }

  @Test("For one file a HEAD finds the object, nothing is sent, and the result is skipped with exit code 0")
  func one() async throws {
    let box = try box()
    box.fake.putObject("k", bytes: [9])
    for source in ["t/a", "t/large", "-"] {
      let result = try await box.run(
        "put", source, "s3://bucket/k", "--skip-existing", "--json", input: source == "-" ? .bytes([1, 2]) : .none)
      result.expectSuccess()
      #expect(
        result.lines.count == 1 && result.lines[0].hasPrefix(#"{"event":"skipped","source":"#), "\(result.output)")
      #expect(result.lines[0].contains(#""bucket":"bucket","key":"k","size":1,"#), "\(result.output)")
    }
    let plain = try await box.run("put", "t/a", "s3://bucket/k", "--skip-existing")
    #expect(plain.output.hasPrefix("skipped t/a: the object already exists: s3://bucket/k"), "\(plain.output)")
    #expect(box.fake.requests.allSatisfy { $0.operation == .headObject } && box.fake.object("k")?.bytes == [9])
    try await box.run("put", "t/a", "s3://bucket/new", "--skip-existing").expectSuccess()
    #expect(box.fake.requests(.putObject).map { $0.headers["if-none-match"] } == ["*"])
  }

  @Test(
    "An object that appears while the file is sent is not replaced, and the upload is aborted",
    arguments: [true, false])
  func appears(_ inParts: Bool) async throws {
    let box = try box()
    let operation: FakeOperation = inParts ? .completeMultipartUpload : .putObject
    box.fake.addFault(Fault(.init(operation), .error(status: 412, code: "PreconditionFailed")))
    let result = try await box.run(
      "put", inParts ? "t/large" : "t/a", "s3://bucket/k", "--skip-existing", "--part-size", "5M")
    result.expectSuccess()
    #expect(result.output.contains("skipped") && result.output.contains("appeared"), "\(result.output)")
    #expect(box.fake.object("k") == nil && box.fake.unfinishedUploads.isEmpty)
  }

  @Test("An object that a HEAD does not show for lack of its SSE-C key is found at the end, for a condition too")
  func hidden() async throws {
    let box = try box()
    box.fake.putObject("k", bytes: [9])
    box.fake.setFaults([Fault(.init(.headObject), .error(status: 400, code: "InvalidRequest"))])
    let skipped = try await box.run("put", "t/a", "s3://bucket/k", "--skip-existing")
    #expect(skipped.status == 0 && skipped.output.contains("skipped"), "\(skipped.output) \(skipped.errors)")
    try await box.run("put", "t/a", "s3://bucket/k", "--if-none-match").expectFailure(73, "PreconditionFailed")
    #expect(box.fake.object("k")?.bytes == [9])
  }

  @Test("For a folder one listing finds the objects; they are counted, and a manifest does not list them")
  func many() async throws {
    let box = try box()
    box.fake.putObject("p/a", bytes: [9])
    box.fake.putObject("p/large", bytes: [8])
    let put = ["put", "-r", "t", "s3://bucket/p", "--skip-existing"]
    let dry = try await box.run(put + ["--dry-run"])
    #expect(dry.lines.last?.hasPrefix("1 file would be uploaded, 2 skipped") == true, "\(dry.output)")
    let before = box.fake.requests.count
    let result = try await box.run(put + ["--manifest", "sums"])
    #expect(result.status == 0)
    #expect(result.lines.count { $0.hasPrefix("skipped ") } == 2, "\(result.output)")
    #expect(result.lines.last?.hasPrefix("1 file uploaded, 2 skipped") == true, "\(result.output)")
    #expect(result.errors.contains("leaves out 2 objects"), "\(result.errors)")
    #expect(box.fake.requests.count == before + 2, "one list and one put")
    #expect(box.fake.object("p/a")?.bytes == [9] && box.fake.object("p/large")?.bytes == [8])
    let sums = try String(contentsOfFile: box.files.path("sums"), encoding: .utf8)
    #expect(sums.hasSuffix("  b\n") && sums.split(separator: "\n").count == 1, "\(sums)")
  }

  @Test("An object that a lost answer hid is this run's own if a HEAD has shown that there was none")
  func ownObject() async throws {
    for option in ["--skip-existing", "--skip-same"] {
      let box = try box()
      box.fake.setFaults([Fault(.init(.putObject), .loseAnswer)])
      let result = try await box.run("put", "t/b", "s3://bucket/p/b", option, "--retries", "2")
      #expect(result.status == 0 && result.lines.last?.hasPrefix("uploaded ") == true, "\(result.output)")
    }
  }

  @Test("A batch and a list of files skip after a HEAD for each, and the variable requests it too")
  func listed() async throws {
    var box = try box()
    box.fake.putObject("p/a", bytes: [9])
    try box.files.write("a\nb\n", to: "t/list")
    try box.files.write(
      #"{"localUri":"t/a","bucket":"bucket","key":"p/a"}"# + "\n", to: "batch")
    box.environment["S3UP_SKIP_EXISTING"] = "1"
    let batch = try await box.run("put", "--batch", "batch", "--json")
    batch.expectSuccess()
    #expect(
      batch.lines[0].hasPrefix(#"{"event":"skipped","source":"t/a","bucket":"bucket","key":"p/a""#), "\(batch.output)")
    #expect(
      batch.lines.last?.contains(#""uploaded":0,"unchanged":0,"skipped":1,"failed":0"#) == true, "\(batch.output)")
    try await box.run("put", "t/a", "t/b", "s3://bucket/p/").expectSuccess()
    #expect(box.fake.object("p/a")?.bytes == [9] && box.fake.object("p/b")?.size == 5)
  }

  @Test(
    "It conflicts with options that request something else",
    arguments: ["--skip-same", "--if-none-match", "--if-match=x"])
  func excludes(_ other: String) async throws {
    let box = try box()
    let result = try await box.run("put", "t/a", "s3://bucket/k", "--skip-existing", other)
    result.expectFailure(64, "--skip-existing and --\(other.split(separator: "=")[0].dropFirst(2)) exclude each other")
    #expect(box.fake.requests.isEmpty)
  }
}
