import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// What a GET may need besides the key.
@Suite(.crowd) struct GetRequestTests {
  private static let sizes = [mebi, 900_000, mebi + 7]
  private let ranges = ["--part-size", "640K"]

  private func box(_ change: (inout FakeOptions) -> Void = { _ in }) throws -> (BlackBox, [UInt8]) {
    let box = try BlackBox(faults: [], change)
    return (box, try box.sample("source", Self.sizes.reduce(0, +), seed: 9))
  }

  @Test(
    "A part is downloaded by its number, proven by its own checksum if the store has one", arguments: [1, 2, 3],
    [true, false])
  func part(_ number: Int, _ hasSum: Bool) async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes, parts: Self.sizes, checksum: hasSum ? .sha256 : nil)
    let start = Self.sizes.prefix(number - 1).reduce(0, +)
    let result = try await box.run(["get", "s3://bucket/key", "target", "--part", String(number), "--json"] + ranges)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try box.files.read("target") == Array(bytes[start..<start + Self.sizes[number - 1]]))
    let evidence = result.json["evidence"] as? String ?? ""
    #expect(evidence.hasPrefix(hasSum ? "SHA256 " : "size of the part only"), "\(evidence)")
    box.fake.setFaults([Fault(.init(.getObject), .corruptAnswer)])
    if hasSum {
      let wrong = try await box.run(["get", "s3://bucket/key", "other", "--part", String(number)] + ranges)
      #expect(wrong.status == 65 && wrong.errors.contains("are not the object"), "\(wrong.errors)")
    }
  }

  @Test("A missing part, or a store without part numbers, is 69; with a range or an impossible number it is 64")
  func noPart() async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes, parts: Self.sizes)
    try await box.run("get", "s3://bucket/key", "target", "--part", "4").expectFailure(69, "no part 4")
    box.fake.options.ignoresPartNumbers = true
    try await box.run("get", "s3://bucket/key", "target", "--part", "2").expectFailure(69, "part 2")
    for words in [["--part", "0"], ["--part", "10001"], ["--part", "1", "--range", "0-9"]] {
      try await box.run(["get", "s3://bucket/key", "target"] + words).expectFailure(64)
    }
  }

  @Test("The only part of an object that was sent in one request is the object, with its proof")
  func onlyPart() async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes)
    let result = try await box.run(["get", "s3://bucket/key", "target", "--part", "1"] + ranges)
    result.expectSuccess()
    #expect(try box.files.read("target") == bytes && result.output.contains("CRC64NVME"))
  }

  @Test("Where the permission for versions is missing, the newest is downloaded without its version's name")
  func noVersions() async throws {
    let (box, bytes) = try box { $0.versioning = true }
    box.fake.putObject("key", bytes: bytes)
    box.fake.setFaults([Fault(.init(.getObject, namesVersion: true), .error(status: 403, code: "AccessDenied"))])
    let get = ["get", "s3://bucket/key", "target", "--concurrency", "2"] + ranges
    try await box.run(get).expectSuccess()
    #expect(try box.files.read("target") == bytes)
    let asked = box.fake.requests(.getObject)
    #expect(asked.first?.query["versionId"] != nil && asked.last?.query["versionId"] == nil)
    #expect(asked.allSatisfy { $0.headers["if-match"] != nil })
    // A version that was asked for is the only one that will do, and a refusal of both is one.
    box.fake.setFaults([Fault(.init(.getObject), .error(status: 403, code: "AccessDenied"))])
    let before = asked.count
    let version = try #require(asked.first?.query["versionId"])
    let named = try await box.run(get + ["--overwrite", "--version-id", version])
    #expect(named.status == 77, "\(named.errors)")
    #expect(box.fake.requests(.getObject).dropFirst(before).allSatisfy { $0.query["versionId"] == version })
    #expect(try await box.run(get + ["--overwrite"]).status == 77)
  }

  @Test("The path of an open descriptor is that descriptor, from where it is", arguments: ["/dev/stdout", "/dev/fd/3"])
  func descriptors(_ path: String) async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes)
    let get = "\"$S3UP\" get s3://bucket/key \(path)"
    let redirect = path == "/dev/stdout" ? ">>" : "3>>"
    let piped = try await box.shell(path == "/dev/stdout" ? "\(get) | cat >piped" : "{ \(get) 3>&1 >&2; } | cat >piped")
    #expect(try piped.status == 0 && box.files.read("piped") == bytes, "\(piped.errors)")
    try box.files.write("first\n", to: "log")
    let appended = try await box.shell("\(get) \(redirect)log")
    #expect(try appended.status == 0 && box.files.read("log") == Array("first\n".utf8) + bytes, "\(appended.errors)")
    try await box.run("get", "s3://bucket/key", "/dev/fd/9").expectFailure(73, "not open for writing")
  }

  @Test("A key whose last name no file can have, such as one with a zero byte, wants a name for the file")
  func zeroByte() async throws {
    let (box, _) = try box()
    let url = "\(box.fake.endpoint)/bucket/sum%00.txt?X-Amz-Signature=0"
    try await box.run("get", url).expectFailure(64, "cannot be the name of a file")
    // Another run would take such a file for its own.
    for name in [".x.0badcafe.s3up-part", String(repeating: "n", count: 256)] {
      box.fake.putObject("d/" + name, bytes: [1])
      try await box.run("get", "s3://bucket/d/" + name).expectFailure(64, "cannot be the name of a file")
    }
  }

  @Test("A range is downloaded alone, and is not called proven")
  func range() async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes)
    for (range, wanted) in [
      ("0-0", 0..<1), ("700000-1500000", 700_000..<1_500_001), ("2900000-", 2_900_000..<bytes.count),
    ] {
      let result = try await box.run(
        ["get", "s3://bucket/key", "target", "--overwrite", "--range", range] + ranges)
      #expect(result.output.contains("size of the range only"), "\(result.errors)")
      #expect(try box.files.read("target") == Array(bytes[wanted]))
    }
    try await box.run("get", "s3://bucket/key", "other", "--range", "\(bytes.count)-").expectFailure(
      64, "begins after")
  }

  @Test("An object with the caller's key is downloaded with the key only, and a requester pays only on request")
  func keyAndPayer() async throws {
    let (box, bytes) = try box { $0.requesterPays = true }
    try box.files.write(randomBytes(32, seed: 3), to: "sse.key")
    try await box.run(
      "put", "source", "s3://bucket/key", "--request-payer", "--sse-c-key-file", "sse.key", "--part-size", "5M"
    ).expectSuccess()
    let get = ["get", "s3://bucket/key", "target"] + ranges
    #expect(try await box.run(get + ["--sse-c-key-file", "sse.key"]).status == 77)
    try await box.run(get + ["--request-payer"]).expectFailure(69, "--sse-c-key-file")
    try await box.run(get + ["--request-payer", "--sse-c-key-file", "sse.key"]).expectSuccess()
    #expect(try box.files.read("target") == bytes)
    // Without the key one GET of a byte is sent, whose refusal has a reason.
    let asked = box.fake.requests(.getObject).filter { $0.headers["range"] != "bytes=0-0" }
    #expect(
      !asked.isEmpty
        && asked.allSatisfy {
          $0.headers["x-amz-request-payer"] != nil
            && $0.headers["x-amz-server-side-encryption-customer-key"] != nil
        })
  }

  static let archives: [([String: String], String)] = [
    (["x-amz-storage-class": "GLACIER"], "has to be restored first"),
    (["x-amz-storage-class": "DEEP_ARCHIVE", "x-amz-restore": "ongoing-request=\"true\""], "a restore is in progress"),
    (["x-amz-archive-status": "ARCHIVE_ACCESS"], "has to be restored first"),
    (["x-amz-storage-class": "GLACIER", "Content-Length": "0"], "has to be restored first"),
  ]

  @Test(
    "An archived object is refused, with the state of its restore; a restored object is downloaded", arguments: archives
  )
  func archived(_ headers: [String: String], _ words: String) async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes)
    box.fake.setFaults([Fault(.init(.headObject), .headers(headers))])
    try await box.run("get", "s3://bucket/key", "target").expectFailure(69, words)
    #expect(box.fake.requests(.getObject).isEmpty)
    let restored = headers.merging(["x-amz-restore": "ongoing-request=\"false\", expiry-date=\"soon\""]) { $1 }
    box.fake.setFaults([Fault(.init(.headObject), .headers(restored))])
    try await box.run("get", "s3://bucket/key", "target").expectSuccess()
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A bucket in another region is found, and the ranges go there")
  func region() async throws {
    var (box, bytes) = try box { $0.region = "eu-central-1" }
    box.fake.putObject("key", bytes: bytes)
    box.environment["AWS_REGION"] = "us-east-1"
    let result = try await box.run(["get", "s3://bucket/key", "target"] + ranges)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test(
    "A store that asks for fewer requests gets fewer, and all arrives", arguments: ["SlowDown", "ServiceUnavailable"])
  func throttled(_ code: String) async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes)
    box.fake.setFaults([
      Fault(.init(.headObject, nth: 1), .error(status: 503, code: code)),
      Fault(.init(.getObject, to: 3), .error(status: 503, code: code)),
    ])
    let result = try await box.run(["get", "s3://bucket/key", "target", "--json"] + ranges)
    #expect(result.status == 0 && (result.json["retries"] as? Int ?? 0) >= 3, "\(result.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A range that stalls is given up and requested again over another connection")
  func stalled() async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes)
    box.fake.setFaults([
      Fault(.init(.getObject, nth: 2), .stall(stage: .withinAnswer)),
      Fault(.init(.getObject, nth: 3), .stall(stage: .beforeAnswer)),
    ])
    let result = try await box.run(
      ["get", "s3://bucket/key", "target", "--stall-timeout", "2s", "--hedge", "off"] + ranges)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A deadline ends a download with 75, and the next run continues it")
  func deadline() async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes)
    box.fake.setFaults([Fault(.init(.getObject, from: 3), .stall(stage: .beforeAnswer))])
    let get = ["get", "s3://bucket/key", "target", "--concurrency", "1", "--json"] + ranges
    let result = try await box.run(get + ["--deadline", "3s"])
    #expect(result.status == 75 && result.json["resumable"] as? Bool == true, "\(result.errors)")
    box.fake.setFaults([])
    let next = try await box.run(get)
    #expect(next.json["bytes_resumed"] as? Int == 2 * 640 << 10, "\(next.output) \(next.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test(
    "On a line that was slow the ranges are smaller, but an interrupted download keeps those that it began with",
    arguments: [false, true])
  func rangesOfALine(isMany: Bool) async throws {
    let (box, _) = try box()
    let bytes = randomBytes(17 * mebi, seed: 4)
    box.fake.putObject("key", bytes: bytes)
    box.fake.setFaults([Fault(.init(.getObject, from: 3), .stall(stage: .beforeAnswer))])
    let source = isMany ? ["get", "-r", "s3://bucket/"] : ["get", "s3://bucket/key"]
    func get(_ folder: String) -> [String] {
      source + [isMany ? folder : "\(folder)/key", "--concurrency", "1", "--json"]
    }
    for folder in ["one", "other"] {
      try FileManager.default.createDirectory(atPath: box.files.path(folder), withIntermediateDirectories: false)
    }
    #expect(try await box.run(get("one") + ["--deadline", "5s"]).status == 75)
    box.fake.setFaults([])
    try StoreMemory(folder: box.state).remember(
      .line(.slow), of: "http://127.0.0.1:\(box.fake.port)",
      now: Timestamp(seconds: Int64(Date().timeIntervalSince1970)))
    let next = try await box.run(get("one"))
    #expect(
      next.status == 0 && next.lines.last?.contains("\"bytes_resumed\":\(16 * mebi),") == true,
      "\(next.output) \(next.errors)")
    #expect(try box.files.read("one/key") == bytes)
    let before = box.fake.requests(.getObject).count
    #expect(try await box.run(get("other")).status == 0)
    #expect(box.fake.requests(.getObject).count - before == 17)
    #expect(try box.files.read("other/key") == bytes)
  }

  @Test("A rate limit holds for downloads")
  func limit() async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes)
    let result = try await box.run(["get", "s3://bucket/key", "target", "--limit-rate", "1M"] + ranges)
    #expect(result.status == 0 && result.seconds > 1.5, "\(result.seconds) s for 3 MB at 1 MiB/s")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("Credentials that expire during the download are read again, and no range is lost")
  func expiring() async throws {
    let (box, bytes) = try box()
    box.fake.putObject("key", bytes: bytes)
    box.fake.setFaults([
      Fault(.init(.getObject, keyID: FakeCredential.standard.keyID, from: 3), .error(status: 400, code: "ExpiredToken"))
    ])
    let second = FakeCredential(keyID: "AKIDSECONDEXAMPLE", secret: "second/secret/key/of/forty/characters/xx")
    box.fake.addCredential(second)
    try box.files.write(Array(credentials(.standard).utf8), to: "first.json")
    try box.files.write(Array(credentials(second).utf8), to: "second.json")
    // The first call returns the keys that expire.
    let program = "if [ -e called ]; then cat second.json; else : >called; cat first.json; fi"
    try box.files.write(Array("cd '\(box.files.path)'; \(program)\n".utf8), to: "helper")
    try box.files.write(
      Array("[default]\ncredential_process = sh \(box.files.path)/helper\nregion = us-east-1\n".utf8), to: "config")
    var own = box
    own.environment["AWS_ACCESS_KEY_ID"] = nil
    own.environment["AWS_SECRET_ACCESS_KEY"] = nil
    own.environment["AWS_CONFIG_FILE"] = box.files.path("config")
    let result = try await own.run(["get", "s3://bucket/key", "target", "--concurrency", "1"] + ranges)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try box.files.read("target") == bytes)
    #expect(box.fake.requests(.getObject).filter { $0.status == 206 }.count == 5)
  }

  private func credentials(_ credential: FakeCredential) -> String {
    #"{"Version": 1, "AccessKeyId": "\#(credential.keyID)", "SecretAccessKey": "\#(credential.secret)"}"#
  }
}
