import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct PutTests {
  @Test("what a shell's <(…) is called is no name for an object")
  func descriptorUnderPrefix() async throws {
    let box = try BlackBox()
    let result = try await box.shell("exec 9</dev/null; \"$S3UP\" put /dev/fd/9 s3://bucket/p/")
    result.expectFailure(64, "provides no name for a key", "s3://bucket/p/NAME")
    #expect(box.fake.requests.isEmpty)
  }

  static let sizes = [
    (0, 1), (1, 1), (5 * mebi, 1), (8 * mebi, 1), (8 * mebi + 1, 2), (16 * mebi, 2),
  ]

  @Test(
    "a file of any size arrives byte for byte, in as many parts as its size needs", arguments: sizes, [false, true])
  func arrives(_ expected: (size: Int, parts: Int), secure: Bool) async throws {
    var box = try BlackBox(secure: secure)
    let bytes = try box.sample("file.bin", expected.size)
    box.environment["AWS_CA_BUNDLE"] = nil
    let result = try await box.run(
      ["put", "file.bin", "s3://bucket/key"] + (secure ? ["--ca-bundle", box.fake.caFile] : []))
    result.expectSuccess()
    let object = try #require(box.fake.object("key"))
    #expect(object.holds(bytes))
    #expect(object.etag.hasSuffix("-\(expected.parts)") == (expected.parts > 1))
    #expect(object.parts.count == (expected.parts == 1 ? 0 : expected.parts))
    #expect(box.fake.requests.allSatisfy { $0.secure == secure })
    let sum = base64(FakeChecksum.crc64nvme.of(bytes))
    #expect(object.checksum?.value == sum)
    #expect(result.lines.count == 1)
    #expect(result.output.hasPrefix("uploaded file.bin to s3://bucket/key ("))
    #expect(result.output.hasSuffix("; proven by CRC64NVME)\n"))
    #expect(result.output.contains(" in \(expected.parts) parts, ") == (expected.parts > 1))
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("--json prints all promised fields of a completed object, in order", arguments: [1, 2])
  func json(_ parts: Int) async throws {
    let box = try BlackBox { $0.versioning = true }
    let size = parts == 1 ? 100 : 6 * mebi
    let bytes = try box.sample("file.bin", size)
    let result = try await box.run("put", "file.bin", "s3://bucket/a/key", "--json", "--part-size", "5M")
    result.expectSuccess()
    let object = try #require(box.fake.object("a/key"))
    let said = result.json
    #expect(said["event"] as? String == "completed")
    #expect(said["source"] as? String == "file.bin")
    #expect(said["bucket"] as? String == "bucket")
    #expect(said["key"] as? String == "a/key")
    #expect(said["size"] as? Int == size)
    #expect(ETag(said["etag"] as? String ?? "") == ETag(object.etag))
    #expect(said["version_id"] as? String == object.versionID)
    #expect(object.versionID != nil)
    let checksum = said["checksum"] as? [String: String]
    #expect(
      checksum == [
        "algorithm": "CRC64NVME", "type": "FULL_OBJECT", "value": base64(FakeChecksum.crc64nvme.of(bytes)),
      ])
    #expect(said["parts"] as? Int == parts)
    #expect(said["bytes_sent"] as? Int == size)
    #expect(said["bytes_resumed"] as? Int == 0)
    #expect(said["retries"] as? Int == 0)
    #expect((said["seconds"] as? Double ?? -1) >= 0)
    #expect((said["request_id"] as? String)?.isEmpty == false)
    #expect((said["evidence"] as? String)?.contains("CRC64NVME") == true)
    let names = [
      "event", "source", "bucket", "key", "size", "etag", "version_id", "checksum", "parts", "bytes_sent",
      "bytes_resumed", "retries", "seconds", "request_id", "evidence",
    ]
    #expect(Set(said.keys) == Set(names))
    let places = names.map { result.output.range(of: "\"\($0)\":")?.lowerBound ?? result.output.endIndex }
    #expect(places == places.sorted())
  }

  @Test("--json=all reports the start and each part before the end")
  func allEvents() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    let result = try await box.run("put", "f", "s3://bucket/k", "--json=all", "--part-size", "5M")
    result.expectSuccess()
    let events = try result.lines.map { line in
      let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return value?["event"] as? String ?? "none"
    }.filter { $0 != "progress" }
    #expect(events == ["started", "part", "part", "part", "completed"])
  }

  @Test(
    "a destination that ends in a slash, or names only the bucket, takes the file's name",
    arguments: [
      ("s3://bucket/dir/", "dir/file.bin"), ("s3://bucket/", "file.bin"), ("s3://bucket/dir//", "dir//file.bin"),
    ])
  func prefix(_ target: String, _ key: String) async throws {
    let box = try BlackBox()
    try box.sample("sub/file.bin", 10)
    let result = try await box.run("put", "sub/file.bin", target)
    result.expectSuccess()
    #expect(box.fake.object(key)?.size == 10)
    #expect(result.output.contains(" to s3://bucket/\(key) ("))
  }

  @Test("--part-size 5M makes parts of 5 MiB, the last one shorter")
  func partSize() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 12 * mebi)
    try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M").expectSuccess()
    let object = try #require(box.fake.object("k"))
    #expect(object.parts.map(\.size) == [5 * mebi, 5 * mebi, 2 * mebi])
    #expect(object.holds(bytes))
    let complete = box.headers(.completeMultipartUpload)
    #expect(complete["x-amz-mp-object-size"] == String(12 * mebi))
    #expect(complete["x-amz-checksum-type"] == "FULL_OBJECT")
    #expect(box.headers(.uploadPart)["transfer-encoding"] == nil)
    #expect(box.headers(.uploadPart)["expect"] == nil)
  }

  @Test(
    "a part size that S3 does not allow is refused before anything is sent", arguments: ["4M", "6G", "0", "-5M", "x"])
  func wrongPartSize(_ size: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 12 * mebi)
    try await box.run("put", "f", "s3://bucket/k", "--part-size=\(size)").expectFailure(64, "part-size")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("a sparse file of 6 GiB arrives with the right CRC64NVME, in flat memory", .enabled(if: BlackBox.measures))
  func sparse() async throws {
    let box = try BlackBox {
      $0.storage = .discard
      $0.partETags = .opaque
    }
    let size: Int64 = 6 << 30
    let patches: [(offset: Int64, bytes: [UInt8])] = [
      (0, randomBytes(10, seed: 1)), (5 << 30, randomBytes(100, seed: 2)), (size - 7, randomBytes(7, seed: 3)),
    ]
    try box.files.sparseFile("big", size: size, patches: patches)
    let result = try await box.run(
      ["put", "big", "s3://bucket/k", "--payload-signing", "never", "--json"], timeout: .seconds(280))
    result.expectSuccess()
    // Computed independently of both checksums under test: zeros are skipped, the patches are processed.
    let crc = FakeCRC.crc64nvme
    var register = crc.ones
    var at: Int64 = 0
    for (offset, bytes) in patches {
      register = crc.advance(register, zeros: Int(offset - at))
      register = bytes.withUnsafeBytes { crc.update(register, $0) }
      at = offset + Int64(bytes.count)
    }
    let expected = base64(crc.bytes(register ^ crc.ones))
    let object = try #require(box.fake.object("k"))
    #expect(object.size == Int(size))
    #expect(object.parts.count == 768)
    #expect(object.checksum?.value == expected)
    #expect((result.json["checksum"] as? [String: String])?["value"] == expected)
    #expect(result.peakMemory < mostMapped, "\(result.peakMemory / mebi) MiB")
  }

  @Test(
    "a file of 2 GiB whose payload is signed takes under 48 MiB, besides its mapped parts",
    .enabled(if: BlackBox.measures))
  func memory() async throws {
    let box = try BlackBox {
      $0.storage = .discard
      $0.partETags = .opaque
    }
    try box.files.sparseFile("big", size: 2 << 30)
    let child = try box.start(["put", "big", "s3://bucket/k"])
    var anonymous: [Int] = []
    while !child.ended {
      if let now = Self.anonymousMemory(of: child.pid) { anonymous.append(now) }
      try await Task.sleep(for: .milliseconds(20))
    }
    let result = await child.wait()
    result.expectSuccess()
    #expect(box.fake.object("k")?.size == 2 << 30)
    let most = try #require(anonymous.max())
    #expect(anonymous.count > 3 && most > mebi && most < 48 * mebi, "\(most / mebi) MiB")
    #expect(result.peakMemory < mostMapped, "\(result.peakMemory / mebi) MiB")
  }

  @Test(
    "a file of 4 GiB on 64 connections takes under 128 MiB, mapped parts included", .enabled(if: BlackBox.measures))
  func manyConnections() async throws {
    let box = try BlackBox {
      $0.storage = .discard
      $0.partETags = .opaque
    }
    try box.files.sparseFile("big", size: 4 << 30)
    let result = try await box.run(
      "put", "big", "s3://bucket/k", "--concurrency", "64", "--payload-signing", "never")
    result.expectSuccess()
    #expect(result.peakMemory < mostMapped, "\(result.peakMemory / mebi) MiB")
  }

  /// Of which 48 MiB are pages of parts that stay mapped. Beside six busy loops, a release build had 76 MiB at most, a
  /// debug build 81.
  private var mostMapped: Int { 128 * mebi }

  /// The anonymous memory of a process in bytes (`RssAnon`).
  private static func anonymousMemory(of process: pid_t) -> Int? {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }

  @Test("--expect-size and --expect-sha256 publish nothing if they are not met, and everything if they are")
  func expectations() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 1000)
    try await box.run("put", "f", "s3://bucket/k", "--expect-size", "999").expectFailure(65, "1000")
    try await box.run("put", "f", "s3://bucket/k", "--expect-sha256", sha256([1])).expectFailure(65, sha256(bytes))
    #expect(box.fake.requests.isEmpty)
    let right = ["--expect-size", "1000", "--expect-sha256", sha256(bytes)]
    try await box.run(["put", "f", "s3://bucket/k"] + right).expectSuccess()
  }

  @Test("--verify checks the object afterwards")
  func verify() async throws {
    let box = try BlackBox()
    try box.sample("f", 1000)
    try await box.run("put", "f", "s3://bucket/k", "--verify").expectSuccess()
    #expect(box.fake.requests.map(\.operation) == [.putObject, .headObject])
  }
}
