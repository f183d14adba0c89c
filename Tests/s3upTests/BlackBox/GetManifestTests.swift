import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// What a manifest lists holds for a file that is left alone, for an answer that says less, and for each of its lines.
@Suite("Objects that a manifest lists", .crowd) struct GetManifestTests {
  private func box() throws -> BlackBox { try BlackBox(faults: []) }

  private func sums(_ files: [(name: String, bytes: [UInt8])]) -> String {
    files.map { "\(hex(FakeHash.sha256.of($0.bytes)))  \($0.name)\n" }.joined()
  }

  private func line(_ key: String, _ size: Int, etag: String? = nil, version: String? = nil) -> String {
    let (etag, version) = (etag.map { "\"\($0)\"" } ?? "null", version.map { "\"\($0)\"" } ?? "null")
    return "{\"key\":\"\(key)\",\"size\":\(size),\"etag\":\(etag),\"version_id\":\(version),"
      + "\"checksum\":null,\"sha256\":null}\n"
  }

  @Test("a file that is identical to the object is left alone only if it is what the manifest lists")
  func leftAlone() async throws {
    let box = try box()
    let bytes = try box.sample("back/a", 1000, seed: 1)
    box.fake.putObject("p/a", bytes: bytes)
    try box.files.write(sums([("a", [1, 2, 3])]), to: "other.sha256")
    try box.files.write(sums([("a", bytes)]), to: "same.sha256")
    let get = { (list: String) in ["get", "--manifest", list, "s3://bucket/p/", "back", "--skip-same"] }
    let wrong = try await box.run(get("other.sha256"))
    #expect(wrong.status == 65 && wrong.errors.contains("its SHA-256 is not the listed one"), "\(wrong.errors)")
    let same = try await box.run(get("same.sha256"))
    #expect(same.status == 0 && same.output.contains("SHA-256") && same.output.contains("unchanged"), "\(same.output)")
    #expect(box.fake.requests(.getObject).isEmpty)
  }

  @Test("an object of another size than the listed one is 65 at once", arguments: [1, 3])
  func otherSize(_ listed: Int) async throws {
    let box = try box()
    box.fake.putObject("p/a", bytes: [1, 2])
    let etag = #"\""# + hex(FakeHash.md5.of([1, 2])) + #"\""#
    try box.files.write(Array(line("p/a", listed, etag: etag).utf8), to: "list.jsonl")
    let result = try await box.run("get", "--manifest", "list.jsonl", "s3://bucket/p/", "back")
    #expect(
      result.status == 65 && result.errors.contains("the object has 2 bytes, and the manifest lists \(listed)"),
      "\(result.errors)")
    #expect(box.fake.requests(.getObject).count <= 1)
  }

  @Test("an object whose bytes its listed ETag refutes is 65, whatever else the store says proves them")
  func damaged() async throws {
    let box = try box()
    let bytes = randomBytes(1000, seed: 3)
    let etag = hex(FakeHash.md5.of(bytes))
    try box.files.write(Array(line("p/a", bytes.count, etag: "\\\"\(etag)\\\"").utf8), to: "list.jsonl")
    let get = ["get", "--manifest", "list.jsonl", "s3://bucket/p/"]
    box.fake.putObject("p/a", bytes: bytes)
    let good = try await box.run(get + ["good"])
    #expect(good.status == 0, "\(good.errors)")
    let bad = randomBytes(bytes.count, seed: 4)
    box.fake.putObject("p/a", bytes: bad, parts: [], etag: etag)
    var sum = try RunningChecksum(ChecksumAlgorithm.crc64nvme)
    bad.withUnsafeBytes { sum.update($0) }
    let headers = ["x-amz-checksum-crc64nvme": try sum.finish().base64, "x-amz-checksum-type": "FULL_OBJECT"]
    box.fake.setFaults([.headObject, .getObject].map { Fault(.init($0), .headers(headers)) })
    let result = try await box.run(get + ["back"])
    #expect(result.status == 65 && result.errors.contains("its ETag was made of"), "\(result.output) \(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("back/a")))
  }

  @Test("a manifest of a share, or one from a pipe, is read as what it is, whatever its name")
  func anyName() async throws {
    let box = try box()
    let bytes = try box.sample("t/a", 1000, seed: 1)
    let put = ["put", "-r", "t", "s3://bucket/p/", "--manifest", "all.jsonl", "--shard", "1/1"]
    try await box.run(put).expectSuccess()
    let name = "all.jsonl.1-of-1"
    try await box.shell("cp \(name) list").expectSuccess()
    try await box.shell("sed 's/$/\\r/' \(name) >returns").expectSuccess()
    for list in [name, "list", "returns"] {
      try await box.run("verify", "--manifest", list, "s3://bucket/p/").expectSuccess()
      try await box.run("get", "--manifest", list, "s3://bucket/p/", "back-" + list).expectSuccess()
      #expect(try box.files.read("back-\(list)/a") == bytes)
    }
  }

  @Test("what an interrupted run has downloaded is compared again if the manifest's line has changed")
  func changedLine() async throws {
    let box = try box()
    let bytes = randomBytes(1000, seed: 2)
    box.fake.putObject("p/a", bytes: bytes)
    try box.files.write(sums([("a", bytes), ("missing", bytes)]), to: "list.sha256")
    let get = ["get", "--manifest", "list.sha256", "s3://bucket/p/", "back"]
    #expect(try await box.run(get).status == 69)
    let again = try await box.run(get)
    #expect(again.status == 69 && again.output.contains("an earlier run downloaded it"), "\(again.output)")
    try box.files.write(sums([("a", [9]), ("missing", bytes)]), to: "list.sha256")
    let changed = try await box.run(get)
    #expect(changed.status == 1 && changed.errors.contains("the file already exists"), "\(changed.errors)")
    let proven = try await box.run(get + ["--skip-same"])
    #expect(proven.status != 0 && proven.errors.contains("its SHA-256 is not the listed one"), "\(proven.errors)")
  }

  @Test(
    "bytes are compared with the ETag of the list or of the manifest even if the answer has none",
    arguments: [false, true])
  func noETag(isListed: Bool) async throws {
    let box = try box()
    let bytes = randomBytes(1000, seed: 3)
    let etag = hex(FakeHash.md5.of(bytes))
    try box.files.write(line("p/a", 1000, etag: "\\\"\(etag)\\\""), to: "list.jsonl")
    box.fake.setFaults([Fault(.init(.getObject), .etag())])
    box.fake.putObject("p/a", bytes: randomBytes(1000, seed: 33), parts: [], etag: etag)
    let source = isListed ? ["-r", "s3://bucket/p/"] : ["--manifest", "list.jsonl", "s3://bucket/p/"]
    let result = try await box.run(["get"] + source + ["back"])
    #expect(result.status == 65 && result.errors.contains("MD5"), "\(result.output) \(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("back/a")))
    box.fake.putObject("p/a", bytes: bytes, parts: [])
    let whole = try await box.run(["get"] + source + ["back"])
    #expect(whole.status == 0 && whole.output.contains("MD5 "), "\(whole.output) \(whole.errors)")
    #expect(try box.files.read("back/a") == bytes)
  }

  @Test("two lines that list different things for one key are a failure, two equal ones are not")
  func contradiction() async throws {
    let box = try box()
    let bytes = randomBytes(1000, seed: 4)
    box.fake.putObject("p/a", bytes: bytes)
    try box.files.write(sums([("a", bytes), ("a", [7])]), to: "two.sha256")
    try box.files.write(sums([("a", bytes), ("a", bytes)]), to: "equal.sha256")
    for words in [["get", "--manifest"], ["verify", "--deep", "--manifest"]] {
      let folder = words[0] == "get" ? ["back"] : []
      let two = try await box.run(words + ["two.sha256", "s3://bucket/p/"] + folder)
      #expect(two.status == 73 && two.errors.contains("the manifest lists another object"), "\(two.errors)")
      try? FileManager.default.removeItem(atPath: box.files.path("back"))
      try await box.run(words + ["equal.sha256", "s3://bucket/p/"] + folder).expectSuccess()
    }
  }

  @Test("an ETag of an object with a managed key is not made of its bytes: verify cannot tell")
  func managedKey() async throws {
    let box = try box()
    let bytes = randomBytes(1000, seed: 5)
    let etag = hex(FakeHash.md5.of(bytes))
    box.fake.putObject("p/a", bytes: bytes, parts: [], headers: ["x-amz-server-side-encryption": "aws:kms"])
    try box.files.write(line("p/a", 1000, etag: "\\\"\(etag)\\\""), to: "list.jsonl")
    let verify = ["verify", "--manifest", "list.jsonl", "s3://bucket/p/"]
    for words in [verify, verify + ["--deep"]] {
      let result = try await box.run(words)
      #expect(result.status == 69 && result.errors.contains("not made of its bytes"), "\(result.errors)")
    }
    // The object has the listed ETag, which is all that the list says.
    try await box.run("get", "--manifest", "list.jsonl", "s3://bucket/p/", "back").expectSuccess()
  }

  @Test("a manifest that lists what the store does not show of the object proves nothing: 65")
  func lacking() async throws {
    let box = try box()
    let bytes = randomBytes(3_000_000, seed: 6)
    box.fake.putObject("p/a", bytes: bytes, parts: [])
    try box.files.write(line("p/a", 3_000_000, etag: "\\\"\(hex(FakeHash.md5.of(bytes)))\\\""), to: "list.jsonl")
    box.fake.setFaults([Fault(.init(.getObject), .etag()), Fault(.init(.headObject), .etag())])
    let result = try await box.run("get", "--manifest", "list.jsonl", "s3://bucket/p/", "back")
    #expect(result.status == 65 && result.errors.contains("nothing shows that"), "\(result.output) \(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("back/a")))
  }
}
