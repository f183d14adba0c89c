import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// How a program has made an object, and what can prove it.
enum MadeObject: String, CaseIterable, CustomTestStringConvertible {
  case crc64nvme, crc64nvmeOfSeaweedFS, crc32cWhole, crc32Whole, sha256, sha1
  case sha256InParts, crc32InParts, crc32cInUnequalParts
  case md5, etagInParts, etagInGuessedParts, etagInUnequalParts
  case rclone, s3cmd

  var testDescription: String { rawValue }

  /// The sizes of the parts; no range of a download ends where a part does.
  private static let parts = [1 << 20, 1 << 20, 1 << 20, 70_001]
  private static let unequal = [500_000, 1 << 20, 1 << 20, 618_577]
  static let size = parts.reduce(0, +)
  static let rangeSize = "640K"
  static let ranges = 5

  /// Whether wrong bytes can be detected: if the sizes of the parts are unknown, sums that differ may be those of other
  /// parts.
  var canBeRefuted: Bool { self != .etagInGuessedParts }

  /// How the evidence begins.
  var evidence: String {
    switch self {
    case .crc64nvme, .crc64nvmeOfSeaweedFS: "CRC64NVME "
    case .crc32cWhole: "CRC32C "
    case .crc32Whole: "CRC32 "
    case .sha256: "SHA256 "
    case .sha1: "SHA1 "
    case .sha256InParts: "SHA256 (composite) "
    case .crc32InParts: "CRC32 (composite) "
    case .crc32cInUnequalParts: "CRC32C (composite) "
    case .md5: "MD5 "
    case .etagInParts, .etagInGuessedParts, .etagInUnequalParts: "ETag "
    case .rclone, .s3cmd: "MD5 "
    }
  }

  func put(_ bytes: [UInt8], in box: BlackBox) {
    let fake = box.fake
    let md5 = FakeHash.md5.of(bytes)
    switch self {
    case .crc64nvme: fake.putObject("key", bytes: bytes, parts: Self.parts, checksum: .crc64nvme)
    case .crc64nvmeOfSeaweedFS: fake.putObject("key", bytes: bytes, parts: [], checksum: .crc64nvme, suffix: "-4")
    case .crc32cWhole: fake.putObject("key", bytes: bytes, parts: Self.parts, checksum: .crc32c, .fullObject)
    case .crc32Whole: fake.putObject("key", bytes: bytes, parts: Self.parts, checksum: .crc32, .fullObject)
    case .sha256: fake.putObject("key", bytes: bytes, parts: [], checksum: .sha256, etag: "opaque")
    case .sha1: fake.putObject("key", bytes: bytes, parts: [], checksum: .sha1, etag: "opaque")
    case .sha256InParts: fake.putObject("key", bytes: bytes, parts: Self.parts, checksum: .sha256, etag: "opaque")
    case .crc32InParts: fake.putObject("key", bytes: bytes, parts: Self.parts, checksum: .crc32, etag: "opaque")
    case .crc32cInUnequalParts: fake.putObject("key", bytes: bytes, parts: Self.unequal, checksum: .crc32c)
    case .md5: fake.putObject("key", bytes: bytes, parts: [])
    case .etagInParts, .etagInGuessedParts: fake.putObject("key", bytes: bytes, parts: Self.parts)
    case .etagInUnequalParts: fake.putObject("key", bytes: bytes, parts: Self.unequal)
    case .rclone:
      fake.putObject(
        "key", bytes: bytes, parts: Self.parts, etag: "opaque", headers: ["x-amz-meta-md5chksum": base64(md5)])
    case .s3cmd:
      fake.putObject(
        "key", bytes: bytes, parts: [], etag: "opaque",
        headers: ["x-amz-meta-s3cmd-attrs": "atime:1700000000/md5:\(hex(md5))/mtime:1700000000/uname:root"])
    }
    fake.options.ignoresPartNumbers = self == .etagInGuessedParts
  }
}

/// Every kind of proof accepts correct bytes and detects wrong ones, in files and in pipes.
@Suite(.crowd) struct GetProofTests {
  private let get = ["get", "s3://bucket/key", "target", "--part-size", MadeObject.rangeSize, "--json"]
  private let pipe = "\"$S3UP\" get s3://bucket/key - --part-size \(MadeObject.rangeSize) >piped"

  private func box(_ made: MadeObject) throws -> (BlackBox, [UInt8]) {
    let box = try BlackBox()
    let bytes = try box.sample("source", MadeObject.size, seed: 7)
    made.put(bytes, in: box)
    return (box, bytes)
  }

  private func names(_ box: BlackBox) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: box.files.path).sorted()
  }

  @Test("The strongest available evidence proves an object, and is named", arguments: MadeObject.allCases)
  func proven(_ made: MadeObject) async throws {
    let (box, bytes) = try box(made)
    let result = try await box.run(get)
    #expect(result.status == 0, "\(result.errors)")
    #expect((result.json["evidence"] as? String)?.hasPrefix(made.evidence) == true, "\(result.output)")
    #expect(try box.files.read("target") == bytes)
    #expect(try await box.shell(pipe).status == 0)
    #expect(try box.files.read("piped") == bytes)
    #expect(box.fake.requests(.getObject).count == 2 * MadeObject.ranges, "no range is loaded twice")
    try await box.run("verify", "source", "s3://bucket/key", "-q").expectSuccess()
  }

  @Test(
    "One wrong byte is found by every proof: 65, nothing under the name, and the pipe's reader never gets the end",
    arguments: MadeObject.allCases.filter(\.canBeRefuted), [1, MadeObject.ranges])
  func wrong(_ made: MadeObject, _ range: Int) async throws {
    let (box, _) = try box(made)
    let begin = (range - 1) * 640 << 10
    let wrong = Fault(.init(.getObject, rangeFrom: begin), .corruptAnswer)
    box.fake.setFaults([wrong])
    let result = try await box.run(get)
    #expect(result.status == 65 && result.json["resumable"] as? Bool == false, "\(result.errors)")
    #expect(try names(box) == ["source"])
    #expect(box.fake.requests(.getObject).count == 2 * MadeObject.ranges, "all of it is loaded once more")
    box.fake.setFaults([wrong])
    #expect(try await box.shell(pipe).status == 65)
    #expect(try box.files.read("piped").count <= (MadeObject.ranges - 1) * 640 << 10)
    try await box.run("verify", "source", "s3://bucket/key", "-q").expectSuccess()
  }

  @Test("Bytes with a wrong one among them are not called proven by the ETag of parts whose sizes are guessed")
  func guessed() async throws {
    let (box, _) = try box(.etagInGuessedParts)
    box.fake.setFaults([Fault(.init(.getObject, nth: 2), .corruptAnswer)])
    let result = try await box.run(get)
    #expect((result.json["evidence"] as? String)?.hasPrefix("size only") == true, "\(result.output)")
  }

  @Test(
    "A byte that is wrong once is right the second time", arguments: MadeObject.allCases.filter(\.canBeRefuted))
  func wrongOnce(_ made: MadeObject) async throws {
    let (box, bytes) = try box(made)
    box.fake.setFaults([Fault(.init(.getObject, nth: 2), .corruptAnswer)])
    let result = try await box.run(get)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("Parts whose sizes only look equal are requested one by one, and prove the file", arguments: [false, true])
  func onlyLookEqual(lastToo: Bool) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("source", (lastToo ? 4 : 3) * mebi)
    box.fake.putObject(
      "key", bytes: bytes, parts: [mebi, mebi - 100, mebi + 100] + (lastToo ? [mebi] : []), checksum: .sha256,
      etag: "opaque")
    let result = try await box.run(get)
    #expect(result.status == 0, "\(result.errors)")
    #expect((result.json["evidence"] as? String)?.hasPrefix("SHA256 (composite) ") == true, "\(result.output)")
    #expect(try box.files.read("target") == bytes)
    try await box.run("verify", "source", "s3://bucket/key", "-q").expectSuccess()
    // What passes by once is proven if the last part shows it. Otherwise the reader already has most of the object when
    // that is noticed, which does not mean that the object is damaged.
    let piped = try await box.shell(pipe)
    if lastToo {
      #expect(piped.status == 65 && piped.errors.contains("unusual sizes"), "\(piped.errors)")
    } else {
      #expect(try piped.status == 0 && box.files.read("piped") == bytes, "\(piped.errors)")
    }
    try await box.run("verify", "--deep", "source", "s3://bucket/key", "-q").expectSuccess()
    box.fake.setFaults([Fault(.init(.getObject), .corruptAnswer)])
    try await box.run(get + ["--overwrite"]).expectFailureJSON(65)
  }

  @Test("A download without any proof is reported as compared by size only", arguments: [true, false])
  func sizeOnly(_ isInParts: Bool) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("source", 3 * mebi)
    box.fake.putObject(
      "key", bytes: bytes, parts: isInParts ? [1_000_000, 2_145_728] : [], etag: isInParts ? nil : "odd")
    box.fake.options.ignoresPartNumbers = true
    let result = try await box.run(get)
    #expect((result.json["evidence"] as? String)?.hasPrefix("size only") == true, "\(result.output)")
    #expect(try box.files.read("target") == bytes)
    // Whoever pipes the object is told too, unless nothing is to be said.
    let piped = try await box.shell("\"$S3UP\" get s3://bucket/key - | cmp - source")
    #expect(piped.status == 0 && piped.errors.contains("size only"), "\(piped.errors)")
    let quiet = try await box.shell("\"$S3UP\" get -q s3://bucket/key - | cmp - source")
    #expect(quiet.status == 0 && quiet.errors.isEmpty, "\(quiet.errors)")
  }
}

extension ChildProcess.Result {
  /// A failure whose event is on standard output.
  fileprivate func expectFailureJSON(_ exit: Int32, where location: SourceLocation = #_sourceLocation) {
    #expect(status == exit && json["event"] as? String == "failed", "\(output) \(errors)", sourceLocation: location)
  }
}
