import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// What the machine that issued a ticket does with it, when the ticket, the settings or the credentials are not those
/// of its issue.
@Suite("A ticket that comes back to its issuer", .crowd) struct TicketIssuerTests {
  private func box(_ words: String...) async throws -> BlackBox {
    let box = try BlackBox()
    try box.sample("f", 100)
    try await box.run(["ticket", "issue", "f", "s3://bucket/k", "-o", "t.json"] + words).expectSuccess()
    return box
  }

  @Test(
    "A ticket that its holder has led to another server proves nothing to its issuer",
    arguments: ["show", "finish", "revoke", "renew"])
  func otherServer(_ action: String) async throws {
    let (box, other) = (try await box(), try BlackBox())
    other.fake.putObject("k", bytes: try box.files.read("f"))
    try box.edit("t.json") { $0 = $0.replacingOccurrences(of: box.fake.endpoint, with: other.fake.endpoint) }
    try await box.run("ticket", action, "t.json").expectFailure(78, "was edited after this machine issued it")
    #expect(other.fake.requests.isEmpty && box.fake.unfinishedUploads.count == 1)
  }

  @Test("A ticket that root renews stays that of its user, and nobody else can read it", .enabled(if: geteuid() == 0))
  func owner() async throws {
    let box = try await box()
    let path = box.files.path("t.json")
    #expect(chown(path, 12345, 12346) == 0)
    try await box.run("ticket", "renew", "t.json").expectSuccess()
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_uid == 12345 && status.st_gid == 12346 && status.st_mode & 0o7777 == 0o600)
  }

  @Test(
    "A ticket can be written to a descriptor", arguments: [("/dev/stdout", ""), ("/dev/fd/1", ""), ("/dev/fd/3", "3")])
  func descriptor(_ name: String, _ number: String) async throws {
    let box = try await box()
    let issued = try await box.shell("\"$S3UP\" ticket issue f s3://bucket/other -o \(name) \(number)>other.json")
    #expect(issued.status == 0, "\(issued.errors)")
    let shown = try await box.run("ticket", "show", "other.json")
    #expect(shown.status == 0 && shown.output.contains("s3://bucket/other"), "\(shown.output) \(shown.errors)")
  }

  @Test("A ticket whose file has another name was edited too")
  func otherFile() async throws {
    let box = try await box()
    try box.edit("t.json") { $0 = $0.replacingOccurrences(of: "\"file\":\"f\"", with: "\"file\":\"../f\"") }
    try await box.run("ticket", "renew", "t.json").expectFailure(78, "was edited after this machine issued it")
  }

  @Test(
    "Settings that lead to another store say nothing of an expired ticket",
    arguments: ["show", "finish", "revoke", "renew"])
  func otherSettings(_ action: String) async throws {
    let (box, other) = (try await box("--expires", "1s"), try BlackBox())
    try await Task.sleep(for: .seconds(2))
    try await box.run("ticket", action, "t.json", "--endpoint-url", other.fake.endpoint)
      .expectFailure(
        64, "the ticket is for \(box.fake.endpoint)/bucket/k, but these settings lead to \(other.fake.endpoint)/")
    #expect(other.fake.requests.isEmpty && box.fake.unfinishedUploads.count == 1)
  }

  @Test("Credentials that have expired sign no ticket: none is begun, and a valid one is not replaced")
  func expiredCredentials() async throws {
    var box = try await box()
    let valid = try box.files.read("t.json")
    box.environment["AWS_CREDENTIAL_EXPIRATION"] = "2020-01-01T00:00:00Z"
    try await box.run("ticket", "renew", "t.json").expectFailure(77, "expired at 2020-01-01T00:00:00Z")
    #expect(try box.files.read("t.json") == valid)
    try await box.run("ticket", "issue", "f", "s3://bucket/other", "-o", "o.json")
      .expectFailure(77, "expired at 2020-01-01T00:00:00Z")
    #expect(box.fake.unfinishedUploads.count == 1)
  }

  @Test("Of several tickets those that can be renewed are, and the others stay as they are")
  func renewSome() async throws {
    let box = try BlackBox()
    try FileManager.default.createDirectory(atPath: box.files.path("d"), withIntermediateDirectories: true)
    for index in 0..<3 { try box.sample("d/\(index)", 9) }
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.json", "--expires", "1h").expectSuccess()
    let before = String(decoding: try box.files.read("t.json"), as: UTF8.self).split(separator: "\n")
    let done = try #require(before.first { $0.contains("\"key\":\"p/1\"") })
    try box.files.write(Array(done.utf8), to: "one.json")
    try await box.run("put", "d/1", "--ticket", "one.json", "-q").expectSuccess()
    let result = try await box.run("ticket", "renew", "t.json", "--expires", "2h")
    #expect(result.status == 69 && result.errors.contains("1 of 3 tickets were not renewed"), "\(result.errors)")
    #expect(result.output.hasPrefix("renewed t.json: 2 tickets"), "\(result.output)")
    let after = String(decoding: try box.files.read("t.json"), as: UTF8.self).split(separator: "\n")
    #expect(after.count == 3 && after.contains(done) && Set(after).intersection(before) == [done])
    try await box.run("ticket", "renew", "one.json").expectFailure(69, "no longer has the ticket's upload")
  }

  @Test("A script whose first completion was answered, but not heard, has completed the object, also with a condition")
  func lostCompletion() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "up.sh", "--if-none-match").expectSuccess()
    box.fake.setFaults([
      Fault(.init(.completeMultipartUpload, nth: 1), .loseAnswer),
      Fault(.init(.completeMultipartUpload), .error(status: 412, code: "PreconditionFailed")),
    ])
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == 0 && result.output.contains("already complete"), "\(result.output) \(result.errors)")
    // A store that is busy has done nothing: the object, though identical, is an older one.
    box.fake.setFaults([
      Fault(.init(.completeMultipartUpload, nth: 1), .error(status: 503, code: "SlowDown")),
      Fault(.init(.completeMultipartUpload), .error(status: 412, code: "PreconditionFailed")),
    ])
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "again.sh").expectSuccess()
    #expect(try await box.shell("sh again.sh f").status == 73)
  }

  @Test("A stream is not resumed, and not said to differ from an object that it was not compared with")
  func stream() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    try await box.run("ticket", "issue", "--max-size", "1M", "s3://bucket/k", "-o", "t.json").expectSuccess()
    box.fake.setFaults([Fault(.init(.uploadPart), .stall(stage: .beforeBody))])
    let child = try box.start(["put", "-", "--ticket", "t.json", "--json"], input: .bytes(try box.files.read("f")))
    try await until("a part is sent") { child.ended || !box.fake.requests(.uploadPart).isEmpty }
    child.signal(SIGTERM)
    let cut = await child.wait()
    #expect(cut.status == 143 && cut.output.contains(#""resumable":false"#), "\(cut.output) \(cut.errors)")
    #expect(cut.errors.contains("\nSend the stream again from its beginning"), "\(cut.errors)")
    box.fake.setFaults([])
    try await box.shell("cat f | \"$S3UP\" put - --ticket t.json -q").expectSuccess()
    let again = try await box.shell("cat f | \"$S3UP\" put - --ticket t.json")
    #expect(
      again.status == 69 && again.errors.contains("nothing shows that the object is this stream"), "\(again.errors)")
  }

  @Test("What a presigned part cannot have, or a batch's keys, is refused instead of left out")
  func refused() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    try box.files.write([UInt8](repeating: 1, count: 32), to: "key")
    for option in [["--sse-c-key-file", "key"], ["--payload-signing", "always"]] {
      try await box.run(["part", "f", "--url", box.fake.endpoint + "/bucket/k?partNumber=1&uploadId=x"] + option)
        .expectFailure(64, option[0])
    }
    try box.files.write(Array(#"{"localUri": "f", "bucket": "bucket", "key": "k"}"#.utf8), to: "batch")
    let pool = ["--cognito-identity-pool", "us-east-1:11111111-2222-3333-4444-555555555555", "--access", "private"]
    try await box.run(["put", "--batch", "batch"] + pool).expectFailure(64, "--access is not for --batch")
    #expect(box.fake.requests.isEmpty)
  }
}
