import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite("Comparing a file with its object, without downloading it", .crowd) struct VerifyTests {
  /// A box with a file and an object of these bytes.
  private func box(
    _ size: Int = 18 * mebi, put options: [String] = [], _ change: (inout FakeOptions) -> Void = { _ in }
  ) async throws -> BlackBox {
    let box = try BlackBox(faults: [], change)
    try box.sample("source", size)
    try await box.run(["put", "source", "s3://bucket/dir/key"] + options).expectSuccess()
    return box
  }

  /// Changes one byte, and keeps the size.
  private func damage(_ box: BlackBox, at place: Int = 9 * mebi) throws {
    var bytes = try box.files.read("source")
    bytes[min(place, bytes.count - 1)] ^= 1
    try box.files.write(bytes, to: "source")
  }

  static let proofs: [([String], String)] = [
    ([], "CRC64NVME"), (["--checksum", "sha256", "--part-size", "7M"], "SHA256 (composite)"),
    (["--checksum", "crc32c", "--part-size", "7M"], "CRC32C (composite)"),
    (["--checksum", "md5", "--part-size", "7M"], "ETag"), (["--checksum", "md5", "--part-size", "32M"], "MD5"),
  ]

  @Test("the strongest evidence that the store has is used, and one different byte is 65", arguments: proofs)
  func evidence(_ options: [String], _ words: String) async throws {
    let box = try await box(put: options) { $0.addsDefaultChecksum = options.isEmpty }
    let result = try await box.run("verify", "source", "s3://bucket/dir/key")
    result.expectSuccess()
    #expect(result.output.hasPrefix("verified source is s3://bucket/dir/key (18 MiB, "), "\(result.output)")
    let json = try await box.run("verify", "source", "s3://bucket/dir/key", "--json").json
    #expect(json["event"] as? String == "verified" && json["size"] as? Int == 18 * mebi)
    #expect((json["evidence"] as? String)?.hasPrefix(words) == true, "\(json)")
    try damage(box)
    try await box.run("verify", "source", "s3://bucket/dir/key").expectFailure(
      65, "the object is not the file", "source")
    let failed = try await box.run("verify", "source", "s3://bucket/dir/key", "--json").json
    #expect(failed["event"] as? String == "failed" && failed["exit"] as? Int == 65)
    #expect(box.fake.requests(.getObject).isEmpty)
  }

  @Test("parts of any size are compared, if the store reports their sizes", arguments: [false, true])
  func oddParts(_ isDamaged: Bool) async throws {
    let options = ["--checksum", "md5", "--part-size", "5500000"]
    let box = try await box(put: options) { $0.addsDefaultChecksum = false }
    if isDamaged { try damage(box) }
    let result = try await box.run("verify", "source", "s3://bucket/dir/key")
    #expect(result.status == (isDamaged ? 65 : 0), "\(result.errors)")
    // Without that header the sizes of the parts are unknown.
    box.fake.setFaults([Fault(Fault.Match(.headObject, partNumber: 1), .error(status: 400, code: "InvalidArgument"))])
    try await box.run("verify", "source", "s3://bucket/dir/key").expectFailure(
      69, "as far as their sizes can be guessed")
  }

  @Test("another size is 65, and no byte is read")
  func size() async throws {
    let box = try await box(100)
    try box.sample("source", 101)
    try await box.run("verify", "source", "s3://bucket/dir/key").expectFailure(
      65, "the object has 100 bytes, the file 101")
  }

  @Test("times never count: the same size and time prove nothing, and what the store lacks is reported")
  func timesNeverCount() async throws {
    let box = try BlackBox { $0.partETags = .odd }
    try box.sample("source", 100)
    try await box.run("put", "source", "s3://bucket/key", "--checksum", "none").expectSuccess()
    let object = try #require(box.fake.object("key"))
    let time = try FileManager.default.attributesOfItem(atPath: box.files.path("source"))[.modificationDate] as? Date
    box.fake.putObject(
      "key", bytes: object.bytes ?? [], headers: ["x-amz-meta-mtime": "\(time?.timeIntervalSince1970 ?? 0)"])
    box.fake.setFaults([
      Fault(
        Fault.Match(.headObject),
        .headers(["ETag": "\"odd\"", "x-amz-checksum-crc64nvme": "", "x-amz-checksum-type": ""]))
    ])
    try await box.run("verify", "source", "s3://bucket/key").expectFailure(
      69, "it is not known whether the object is the file", "no checksum", "its ETag is not an MD5")
  }

  @Test("no object, no such version, no file, a folder, and no permission each have their exit code")
  func missing() async throws {
    let box = try await box(100) { $0.versioning = true }
    try await box.run("verify", "source", "s3://bucket/nothing").expectFailure(69, "no object at the key")
    try await box.run("verify", "source", "s3://bucket/dir/key", "--version-id", "nonsense")
      .expectFailure(69, "a different version")
    try await box.run("verify", "nothing", "s3://bucket/dir/key").expectFailure(66, "nothing")
    try await box.run("verify", ".", "s3://bucket/dir/key").expectUsage("is a directory")
    try await box.run("verify", "s3://bucket/dir/key", "source").expectUsage("The file comes first: s3up verify")
    box.fake.setFaults([Fault(Fault.Match(.headObject), .error(status: 403, code: "AccessDenied"))])
    try await box.run("verify", "source", "s3://bucket/dir/key").expectFailure(77)
  }

  @Test("the requested version is compared, not the one that replaced it")
  func version() async throws {
    let box = try await box(100) { $0.versioning = true }
    let version = try #require(box.fake.object("dir/key")?.versionID)
    box.fake.putObject("dir/key", bytes: [1, 2, 3])
    try await box.run("verify", "source", "s3://bucket/dir/key").expectFailure(65, "3 bytes")
    try await box.run("verify", "source", "s3://bucket/dir/key", "--version-id", version).expectSuccess()
  }

  @Test(
    "a file on standard input is compared, a stream is refused, and a URL that ends in a slash gets the file's name")
  func sources() async throws {
    let box = try await box(100)
    try await box.run("put", "source", "s3://bucket/dir/").expectSuccess()
    try await box.run("verify", "source", "s3://bucket/dir/").expectSuccess()
    try await box.run("verify", "-", "s3://bucket/dir/key", input: .file(box.files.path("source"))).expectSuccess()
    let stream = try await box.shell("cat source | \"$S3UP\" verify - s3://bucket/dir/key")
    #expect(stream.status == 64 && stream.errors.contains("a stream cannot be verified"), "\(stream.errors)")
  }

  @Test("a file that is written after it was opened is 65, even if its contents and times are restored")
  func changes() async throws {
    for touch in [nil, Touch.rewritten] {
      let box = try await box()
      try box.files.write([UInt8](), to: "hold")
      box.fake.setFaults([Fault(Fault.Match(.headObject), .hold(file: box.files.path("hold"), stage: .beforeAnswer))])
      let process = try box.start(["verify", "source", "s3://bucket/dir/key"])
      try await until("it is asked for") { !box.fake.requests(.headObject).isEmpty }
      if let touch { try touch.happen(to: box.files.path("source")) } else { try box.sample("source", 18 * mebi) }
      try FileManager.default.removeItem(atPath: box.files.path("hold"))
      let result = await process.wait()
      #expect(result.status == 65, "\(result.errors)")
    }
  }

  @Test("the key of SSE-C is sent; without it nothing is compared")
  func customerKey() async throws {
    let box = try BlackBox(secure: true)
    try box.files.write([UInt8](repeating: 7, count: 32), to: "ssec")
    try box.sample("source", 100)
    try await box.run("put", "source", "s3://bucket/key", "--sse-c-key-file", "ssec").expectSuccess()
    let result = try await box.run("verify", "source", "s3://bucket/key", "--sse-c-key-file", "ssec")
    result.expectSuccess()
    #expect(result.output.contains("CRC64NVME"))
  }
}
