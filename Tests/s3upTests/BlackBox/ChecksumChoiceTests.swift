import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct StepDownTests {
  enum Store: String, CaseIterable, Sendable {
    case says501, says400, ignores

    var checksums: FakeOptions.Checksums {
      switch self {
      case .says501: .notImplemented
      case .says400: .invalidArgument
      case .ignores: .ignored
      }
    }
  }

  private static let checksum = "x-amz-checksum-crc64nvme"

  private func box(_ store: Store, secure: Bool, parts: Bool) throws -> (box: BlackBox, bytes: [UInt8]) {
    let box = try BlackBox(secure: secure) { $0.checksums = store.checksums }
    return (box, try box.sample("f", parts ? 11 * mebi : 1000))
  }

  private let put = ["put", "f", "s3://bucket/k", "--part-size", "5M", "--concurrency", "1"]

  @Test(
    "over TLS a store that does not verify CRC64NVME gets Content-MD5, now and from the start of the next run",
    arguments: Store.allCases, [true, false])
  func remembered(_ store: Store, parts: Bool) async throws {
    let (box, bytes) = try box(store, secure: true, parts: parts)
    let first = try await box.run(put + ["-v"])
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.errors.contains("Content-MD5 instead of CRC64NVME"), "\(first.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(first.output.contains("MD5") && !first.output.contains("CRC64NVME"), "\(first.output)")

    let folder = box.binary.home.path(".local/state/s3up")
    let state = try FileManager.default.contentsOfDirectory(atPath: folder)
    // The upload in parts created the records' folder, and its record is gone.
    #expect(state.sorted() == (parts ? ["stores", "uploads"] : ["stores"]))
    #expect(try box.records() == [])
    #expect(try mode(folder) == 0o700)
    #expect(try mode(folder + "/stores") == 0o600)
    let text = try String(contentsOfFile: folder + "/stores", encoding: .utf8)
    #expect(text.contains("localhost:\(box.fake.tlsPort)") && text.contains("md5"))

    let before = box.fake.requests.count
    try await box.run(put).expectSuccess()
    let second = box.fake.requests.dropFirst(before)
    #expect(second.allSatisfy { $0.headers[Self.checksum] == nil && $0.errorCode == nil })
    let bodies = second.filter { [.putObject, .uploadPart].contains($0.operation) }
    #expect(bodies.count == (parts ? 3 : 1))
    #expect(bodies.allSatisfy { $0.headers["content-md5"] != nil })
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test(
    "over plain HTTP the signed SHA-256 is enough to send: no checksum and no MD5 after the step; the ETag is compared",
    arguments: Store.allCases,
    [true, false])
  func signedPayload(_ store: Store, parts: Bool) async throws {
    let (box, bytes) = try box(store, secure: false, parts: parts)
    try await box.run(put).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    let before = box.fake.requests.count
    let second = try await box.run(put + ["--json"])
    second.expectSuccess()
    for request in box.fake.requests.dropFirst(before) {
      #expect(request.headers[Self.checksum] == nil && request.headers["content-md5"] == nil)
    }
    let evidence = second.json["evidence"] as? String ?? ""
    #expect(evidence.contains("MD5 of"), "\(evidence)")
    #expect(!evidence.contains("CRC64NVME"))
  }

  @Test(
    "if a store returns no checksum and keeps other bytes than were signed, its ETag shows it",
    arguments: [true, false])
  func otherBytesKept(parts: Bool) async throws {
    let (box, _) = try box(.ignores, secure: false, parts: parts)
    box.fake.setFaults([
      parts
        ? Fault(.init(.uploadPart, partNumber: 2), .etag("\"0123456789abcdef0123456789abcdef\""))
        : Fault(.init(.putObject), .etag("\"0123456789abcdef0123456789abcdef\""))
    ])
    let result = try await box.run(put + ["--retries", "2"])
    result.expectFailure(65, "MD5", parts ? "part 2" : "(f, s3://bucket/k")
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("a requested checksum is not replaced by a weaker one", arguments: [Store.says501, .says400])
  func asked(_ store: Store) async throws {
    let (box, _) = try box(store, secure: true, parts: true)
    try await box.run(put + ["--checksum", "crc32c"]).expectFailure(69, "--checksum")
    box.expectNothingLeft()
    #expect(!FileManager.default.fileExists(atPath: box.binary.home.path(".local/state/s3up/stores")))
  }

  @Test("with an unusable state folder there is no memory and no record, one message, and no other effect")
  func noStateFolder() async throws {
    let (box, bytes) = try box(.says501, secure: true, parts: true)
    let result = try await box.run(put + ["--state-dir", "/proc/nowhere/s3up"])
    result.expectWarned("could not be resumed")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    try box.files.write("a file", to: "file")
    try await box.run(put + ["--state-dir", "file"]).expectWarned("could not be resumed")
    try box.files.write("s3up stores 1\nnonsense\n\u{0}\u{1} x y\n", to: "state/stores")
    try await box.run(put + ["--state-dir", "state"]).expectSuccess()
  }

  @Test("XDG_STATE_HOME and --state-dir determine where the memory is")
  func stateFolders() async throws {
    var (box, _) = try box(.says501, secure: true, parts: false)
    box.environment["XDG_STATE_HOME"] = box.files.path("xdg")
    try await box.run(put).expectSuccess()
    #expect(FileManager.default.fileExists(atPath: box.files.path("xdg/s3up/stores")))
    try await box.run(put + ["--state-dir", "mine/deep"]).expectSuccess()
    #expect(FileManager.default.fileExists(atPath: box.files.path("mine/deep/stores")))
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}

@Suite(.crowd) struct ChecksumChoiceTests {
  @Test(
    "each algorithm is sent with each part, and gives the object's checksum of its type",
    arguments: FakeChecksum.allCases)
  func parts(_ algorithm: FakeChecksum) async throws {
    let box = try BlackBox(secure: true)
    let bytes = try box.sample("f", 11 * mebi)
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--checksum", algorithm.rawValue, "--json")
    result.expectSuccess()
    let parts = stride(from: 0, to: bytes.count, by: 5 * mebi).map { bytes[$0..<min($0 + 5 * mebi, bytes.count)] }
    let sums = parts.map { algorithm.of($0) }
    let sent = box.fake.requests(.uploadPart).sorted { ($0.partNumber ?? 0) < ($1.partNumber ?? 0) }
    #expect(sent.map { $0.headers[algorithm.header] ?? "" } == sums.map { base64($0) })
    #expect(box.headers(.createMultipartUpload)["x-amz-checksum-algorithm"] == algorithm.name)
    let full = algorithm == .crc64nvme
    let whole = full ? base64(algorithm.of(bytes)) : base64(algorithm.of(sums.flatMap { $0 })) + "-3"
    #expect(box.fake.object("k")?.checksum?.value == whole)
    let said = result.json["checksum"] as? [String: String]
    #expect(said == ["algorithm": algorithm.name, "type": full ? "FULL_OBJECT" : "COMPOSITE", "value": whole])
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("each algorithm is sent with a single request", arguments: FakeChecksum.allCases)
  func single(_ algorithm: FakeChecksum) async throws {
    let box = try BlackBox(secure: true)
    let bytes = try box.sample("f", 1000)
    let result = try await box.run("put", "f", "s3://bucket/k", "--checksum", algorithm.rawValue, "--json")
    result.expectSuccess()
    let sum = base64(algorithm.of(bytes))
    #expect(box.headers(.putObject)[algorithm.header] == sum)
    #expect((result.json["checksum"] as? [String: String])?["value"] == sum)
  }

  @Test("md5 is sent as Content-MD5, none sends nothing", arguments: ["md5", "none"], [1000, 6 * mebi])
  func others(_ choice: String, _ size: Int) async throws {
    let box = try BlackBox(secure: true)
    let bytes = try box.sample("f", size)
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--checksum", choice, "--part-size", "5M", "--json")
    result.expectSuccess()
    let bodies = box.fake.requests.filter { [.putObject, .uploadPart].contains($0.operation) }
    for request in bodies {
      #expect((request.headers["content-md5"] != nil) == (choice == "md5"))
      #expect(!request.headers.fields.contains { $0.name.lowercased().hasPrefix("x-amz-checksum-") })
    }
    if size == 1000, choice == "md5" {
      #expect(bodies.first?.headers["content-md5"] == base64(FakeHash.md5.of(bytes)))
    }
    #expect(result.json["checksum"] is NSNull)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test(
    "--payload-signing sets whether the payload's SHA-256 is signed", arguments: ["auto", "always", "never"],
    [false, true])
  func payloadSigning(_ choice: String, secure: Bool) async throws {
    let box = try BlackBox(secure: secure)
    let bytes = try box.sample("f", 1000)
    try await box.run("put", "f", "s3://bucket/k", "--payload-signing", choice).expectSuccess()
    let signs = choice == "always" || (choice == "auto" && !secure)
    #expect(box.headers(.putObject)["x-amz-content-sha256"] == (signs ? sha256(bytes) : "UNSIGNED-PAYLOAD"))
  }
}
