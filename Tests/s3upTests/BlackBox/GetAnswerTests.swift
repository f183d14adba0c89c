import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// Answers to a download that contradict themselves or each other, of objects that no checksum proves.
@Suite("Answers that contradict each other", .crowd) struct GetAnswerTests {
  private static let size = 3 * mebi + 70_001
  private let get = ["get", "s3://bucket/key", "target", "--part-size", "640K"]

  private func box(_ change: (inout FakeOptions) -> Void = { _ in }) throws -> (BlackBox, bytes: [UInt8]) {
    let box = try BlackBox(faults: [], change)
    let bytes = try box.sample("source", Self.size, seed: 9)
    box.fake.putObject("key", bytes: bytes, parts: [], etag: "opaque")
    return (box, bytes)
  }

  private func names(_ box: BlackBox) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: box.files.path).sorted()
  }

  private static func raw(_ status: String, _ headers: [String], _ body: String) -> Fault.Action {
    .garbage(text: ([("HTTP/1.1 " + status)] + headers + ["", body]).joined(separator: "\r\n"))
  }

  private static let page = "<!DOCTYPE html><html><body>Please log in</body></html>"
  private static let login = raw(
    "200 OK", ["Content-Type: text/html", "Content-Length: \(page.utf8.count)"], page)

  @Test("A HEAD that says 0 bytes is not believed: the object arrives whole, in a file and at a command")
  func emptyHead() async throws {
    let (box, bytes) = try box()
    box.fake.setFaults([Fault(.init(.headObject), .headers(["Content-Length": "0"]))])
    try box.files.write([1, 2, 3], to: "target")
    try await box.run(get + ["--overwrite"]).expectSuccess()
    #expect(try box.files.read("target") == bytes)
    let taken = try await box.run("get", "--to-command", "s3://bucket/key", "--", "cmp", "-", "source")
    #expect(taken.status == 0, "\(taken.errors)")
    try await box.run("get", "-r", "s3://bucket/", "many").expectSuccess()
    #expect(try box.files.read("many/key") == bytes)
    try box.files.write([UInt8](), to: "nothing")
    let verified = try await box.run("verify", "--deep", "nothing", "s3://bucket/key")
    #expect(verified.status == 65 && !verified.output.contains("downloaded"), "\(verified.output) \(verified.errors)")
    try await box.run("put", "source", "s3://bucket/sent", "--verify").expectSuccess()
    try await box.run("verify", "source", "s3://bucket/sent").expectSuccess()
    let again = try await box.run("put", "source", "s3://bucket/sent", "--skip-same", "--json")
    #expect(again.status == 0 && again.output.contains("unchanged"), "\(again.output) \(again.errors)")
    let head = try await box.run("head", "s3://bucket/sent", "--json")
    #expect(head.status == 0 && head.output.contains("\"size\":\(Self.size)"), "\(head.output) \(head.errors)")
  }

  @Test("A GET shows that an empty object is empty, alone and among many")
  func empty() async throws {
    let (box, _) = try box()
    box.fake.putObject("d/empty", bytes: [], parts: [], etag: "opaque")
    try await box.run("get", "s3://bucket/d/empty", "one").expectSuccess()
    try await box.run("get", "-r", "s3://bucket/d/", "many").expectSuccess()
    try await box.run("verify", "--deep", "one", "s3://bucket/d/empty").expectSuccess()
    #expect(try box.files.read("one") == [] && box.files.read("many/empty") == [])
    // A HEAD of verify, and the one of its download, ask each for itself.
    #expect(box.fake.requests(.getObject).count == 4)
    #expect(try names(box) == ["many", "one", "source"])
    box.fake.setFaults([Fault(.init(.getObject), .error(status: 412, code: "PreconditionFailed"))])
    try await box.run("get", "s3://bucket/d/empty", "other").expectFailure(65, "replaced while it was downloaded")
  }

  static let errors: [(status: String, length: [String])] = [
    ("206 Partial Content", ["Content-Length: 41"]), ("200 OK", ["Content-Length: 41"]),
    ("206 Partial Content", ["Connection: close"]), ("200 OK", ["Connection: close"]),
  ]

  @Test("An error in the place of a range, with the range's headers, does not become its beginning", arguments: errors)
  func errorAsBeginning(_ status: String, _ length: [String]) async throws {
    let (box, bytes) = try box()
    let range = ["Content-Range: bytes 655360-1310719/\(Self.size)", "ETag: \"opaque\""]
    let error = Self.raw(status, range + length, "<Error><Code>InternalError</Code></Error>")
    let second = Fault.Match(.getObject, rangeFrom: 640 << 10, rangeWithin: 640 << 10, nth: 1)
    box.fake.setFaults([Fault(second, error)])
    try await box.run(get).expectSuccess()
    #expect(try box.files.read("target") == bytes)
    // The next run does not believe it either. One range after the other, so that the first one has arrived.
    box.fake.setFaults([Fault(second, error)])
    try await box.run(get + ["--overwrite", "--retries", "1", "--concurrency", "1"]).expectFailure(75)
    #expect(try names(box).contains { $0.hasSuffix(".s3up-part") })
    box.fake.setFaults([])
    try await box.run(get + ["--overwrite"]).expectSuccess()
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A login page is not taken for the object of a presigned URL")
  func loginAtURL() async throws {
    let (box, bytes) = try box()
    let url = try #require(try await box.run("presign", "s3://bucket/key").lines.first)
    let stranger = box.stranger
    box.fake.setFaults([Fault(.init(.getObject), Self.login)])
    try await stranger.run("get", url, "target", "--retries", "1").expectFailure(75, "web page", "Log in")
    let piped = try await stranger.run("get", url, "-", "--retries", "1")
    #expect(piped.status == 75 && piped.output.isEmpty, "\(piped.output)")
    #expect(try names(box) == ["source"])
    box.fake.setFaults([Fault(.init(.getObject, nth: 1), Self.login)])
    try await stranger.run("get", url, "target").expectSuccess()
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A login page in the midst of a download passes, and is no other object", arguments: ["640K", "8M"])
  func loginMeanwhile(_ partSize: String) async throws {
    let (box, bytes) = try box()
    let get = ["get", "s3://bucket/key", "target", "--part-size", partSize]
    box.fake.setFaults([Fault(.init(.getObject), Self.login)])
    try await box.run(get + ["--retries", "1"]).expectFailure(75, "web page")
    box.fake.setFaults([Fault(.init(.getObject, nth: 1), Self.login)])
    try await box.run(get).expectSuccess()
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A presigned URL that names a version brings no other one")
  func versionOfURL() async throws {
    let (box, _) = try box { $0.versioning = true }
    box.fake.putObject("key", bytes: [1, 2, 3])
    let version = try #require(box.fake.object("key")?.versionID)
    let signed = try await box.run("presign", "s3://bucket/key", "--version-id", version)
    let url = try #require(signed.lines.first, "\(signed.errors)")
    box.fake.setFaults([Fault(.init(.getObject), .headers(["x-amz-version-id": "another"]))])
    try await box.stranger.run("get", url, "target").expectFailure(69, "different version")
    #expect(try names(box) == ["source"])
    box.fake.setFaults([])
    try await box.stranger.run("get", url, "target").expectSuccess()
    #expect(try box.files.read("target") == [1, 2, 3])
  }

  @Test("An ETag that no header can carry is compared, and not sent back")
  func oddETag() async throws {
    let (box, bytes) = try box()
    let odd = Fault.Action.etag("\"caf\u{e9}\"")
    box.fake.setFaults([Fault(.init(.headObject), odd), Fault(.init(.getObject), odd)])
    try await box.run(get).expectSuccess()
    #expect(try box.files.read("target") == bytes)
    box.fake.setFaults([Fault(.init(.headObject), odd), Fault(.init(.getObject), .etag("\"caf\u{e8}\""))])
    try await box.run(get + ["--overwrite"]).expectFailure(65, "replaced while it was downloaded")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A small object in parts that comes in chunks, without a length, is proven by them", arguments: [true, false])
  func chunked(_ isWhole: Bool) async throws {
    let (box, _) = try box()
    let bytes = randomBytes(30_000, seed: 3)
    let parts = [10_000, 10_000, 10_000]
    box.fake.putObject("d/parts", bytes: bytes, parts: parts)
    let etag = box.fake.object("d/parts")?.etag
    if !isWhole { box.fake.putObject("d/parts", bytes: bytes.reversed(), parts: parts, etag: etag) }
    box.fake.setFaults([Fault(.init(.getObject), .trickle(spaces: 0, milliseconds: 0))])
    let result = try await box.run("get", "-r", "s3://bucket/d/", "many")
    #expect(result.status == (isWhole ? 0 : 65), "\(result.output) \(result.errors)")
    #expect(result.output.contains("proven by ETag") == isWhole, "\(result.output)")
  }
}
