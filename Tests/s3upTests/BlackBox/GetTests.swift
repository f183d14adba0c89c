import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite("Downloading one object", .crowd) struct GetTests {
  /// A box with an object of these bytes at the store.
  private func box(
    _ size: Int, put options: [String] = [], _ change: (inout FakeOptions) -> Void = { _ in }
  ) async throws -> (BlackBox, [UInt8]) {
    let box = try BlackBox(faults: [], change)
    let bytes = try box.sample("source", size)
    try await box.run(["put", "source", "s3://bucket/dir/key"] + options).expectSuccess()
    return (box, bytes)
  }

  private func contents(_ box: BlackBox, _ name: String) -> [UInt8]? {
    (try? Data(contentsOf: URL(fileURLWithPath: box.files.path + "/" + name))).map { Array($0) }
  }

  /// Every name in the folder, including hidden ones.
  private func names(_ box: BlackBox) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: box.files.path).sorted()
  }

  @Test("A key that is only the beginning of others is answered with the command for these, if they may be listed")
  func folder() async throws {
    let (box, _) = try await box(10)
    let before = box.fake.requests.count
    try await box.run("get", "s3://bucket/dir")
      .expectFailure(69, "no object at the key, but there are keys below it", "s3up get -r s3://bucket/dir/")
    #expect(box.fake.requests.dropFirst(before).map(\.operation) == [.headObject, .listObjects])
    for key in ["di", "dir/other", "dir/"] {
      try await box.run("get", "s3://bucket/\(key)", "out").expectFailure(69, "no object at the key (", "s3up ls s3://")
    }
    box.fake.setFaults([Fault(.init(.listObjects), .error(status: 403, code: "AccessDenied"))])
    try await box.run("get", "s3://bucket/dir").expectFailure(69, "no object at the key (", "s3up ls s3://")
  }

  static let sizes = [0, 1, 5 * mebi, 8 * mebi, 8 * mebi + 1, 20 * mebi + 3]

  @Test("byte for byte, proven by the checksum of the whole object, under the key's last name", arguments: sizes)
  func arrives(_ size: Int) async throws {
    let (box, bytes) = try await box(size)
    let result = try await box.run("get", "s3://bucket/dir/key", "--json")
    result.expectSuccess()
    #expect(contents(box, "key") == bytes)
    let sum = base64(FakeChecksum.crc64nvme.of(bytes))
    #expect((result.json["evidence"] as? String)?.hasPrefix("CRC64NVME \(sum) matches the file") == true)
    #expect(try names(box) == ["key", "source"])
    let asked = box.fake.requests(.getObject)
    // The HEAD of an empty object has its MD5, so nothing is asked for.
    #expect(asked.count == (size + 8 * mebi - 1) / (8 * mebi))
    #expect(asked.allSatisfy { $0.headers["if-match"] != nil && $0.headers["range"] != nil })
  }

  static let proofs: [([String], String)] = [
    (["--checksum", "sha256"], "SHA256 (composite)"), (["--checksum", "crc32c"], "CRC32C (composite)"),
    (["--checksum", "md5"], "ETag"),
  ]

  @Test("the evidence is the strongest that the store has, for files and for pipes", arguments: proofs)
  func evidence(_ options: [String], _ words: String) async throws {
    let (box, bytes) = try await box(18 * mebi, put: options + ["--part-size", "7M"]) { $0.addsDefaultChecksum = false }
    let result = try await box.run("get", "s3://bucket/dir/key", "target", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(contents(box, "target") == bytes)
    #expect((result.json["evidence"] as? String)?.hasPrefix(words) == true, "\(result.output)")
    #expect(result.json["destination"] as? String == "target")
    let piped = try await box.shell("\"$S3UP\" get s3://bucket/dir/key - | cmp - source")
    #expect(piped.status == 0, "\(piped.errors)")
  }

  @Test("a byte that is wrong once is downloaded again over another connection")
  func wrongOnce() async throws {
    let (box, bytes) = try await box(18 * mebi)
    box.fake.setFaults([Fault(Fault.Match(.getObject, nth: 2), .corruptAnswer)])
    let result = try await box.run("get", "s3://bucket/dir/key", "target")
    #expect(result.status == 0, "\(result.errors)")
    #expect(contents(box, "target") == bytes)
    let connections = box.fake.requests(.getObject).map(\.connection)
    #expect(
      connections.count == 6 && Set(connections.prefix(3)).isDisjoint(with: connections.suffix(3)), "\(connections)")
  }

  @Test("a store that answers with another version than requested is refused")
  func anotherVersion() async throws {
    let (box, bytes) = try await box(100) { $0.versioning = true }
    let version = try #require(box.fake.object("dir/key")?.versionID)
    try await box.run("get", "s3://bucket/dir/key", "target", "--version-id", "nonsense")
      .expectFailure(69, "a different version")
    #expect(try names(box) == ["source"])
    try await box.run("get", "s3://bucket/dir/key", "target", "--version-id", version).expectSuccess()
    #expect(contents(box, "target") == bytes)
    let (plain, _) = try await self.box(100)
    try await plain.run("get", "s3://bucket/dir/key", "target", "--version-id", "v1").expectFailure(
      69, "a different version")
    try await plain.run("get", "s3://bucket/dir/key", "target", "--version-id", "null").expectSuccess()
  }

  @Test("a reader that ends early is reported as such, and no file is left")
  func readerEnds() async throws {
    let (box, _) = try await box(18 * mebi)
    let result = try await box.shell(
      "{ \"$S3UP\" get s3://bucket/dir/key -; echo $? >status; } | head -c 10 >/dev/null")
    #expect(result.errors.contains("has ended before it had the whole object"), "\(result.errors)")
    #expect(contents(box, "status") == Array("75\n".utf8))
  }

  @Test("the whole object instead of a range is refused before a byte is written, and accepted where it was requested")
  func wholeAnswer() async throws {
    let (box, bytes) = try await box(18 * mebi) { $0.ignoresRanges = true }
    try await box.run("get", "s3://bucket/dir/key", "target").expectFailure(69, "--part-size")
    #expect(try names(box) == ["source"])
    try await box.run("get", "s3://bucket/dir/key", "target", "--part-size", "32M").expectSuccess()
    #expect(contents(box, "target") == bytes)
  }

  @Test(
    "after a kill the same command continues: proven bytes are not downloaded again, those changed on disk are",
    arguments: [false, true])
  func killed(_ isDamaged: Bool) async throws {
    let (box, bytes) = try await box(28 * mebi)
    box.fake.setFaults([Fault(Fault.Match(.getObject, from: 3), .stall(stage: .withinAnswer))])
    let arguments = ["get", "s3://bucket/dir/key", "target", "--concurrency", "2", "--part-size", "5M", "--json=all"]
    let process = try box.start(arguments)
    try await until("four ranges were asked for") { box.fake.requests(.getObject).count >= 4 }
    process.signal(SIGKILL)
    _ = await process.wait(timeout: .seconds(100))
    #expect(contents(box, "target") == nil, "no final name on half a file")
    if isDamaged {
      let part = try #require(try names(box).first { $0.hasSuffix(".s3up-part") })
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: box.files.path(part)))
      try file.write(contentsOf: [~bytes[0]])
      try file.close()
    }
    box.fake.setFaults([])
    let before = box.fake.requests(.getObject).count
    let result = try await box.run(Array(arguments.dropLast()) + ["--json"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(contents(box, "target") == bytes)
    #expect(result.json["bytes_resumed"] as? Int == (isDamaged ? 5 : 10) * mebi)
    #expect(box.fake.requests(.getObject).count - before == (isDamaged ? 5 : 4))
    #expect(try names(box) == ["source", "target"])
  }

  @Test(
    "a target that another program has written during the download is left alone, and no byte is downloaded again",
    arguments: [false, true])
  func targetChanged(_ wasThere: Bool) async throws {
    let (box, bytes) = try await box(9 * mebi)
    if wasThere { try box.files.write([1, 2, 3], to: "target") }
    let gate = try box.files.write([], to: "gate")
    box.fake.setFaults([Fault(Fault.Match(.getObject, nth: 2), .hold(file: gate, stage: .beforeAnswer))])
    let child = try box.start(["get", "s3://bucket/dir/key", "target", "--overwrite", "--hedge", "off"])
    try await until("both ranges were asked for") { box.fake.requests(.getObject).count == 2 }
    try box.files.write([4, 5, 6, 7], to: "target")
    try FileManager.default.removeItem(atPath: gate)
    let result = await child.wait()
    result.expectFailure(73, "another program has written the target", "--overwrite")
    #expect(contents(box, "target") == [4, 5, 6, 7])
    // What stays for the next run is readable by nobody else.
    for name in try names(box) where ![".", "source", "target"].contains(name) {
      var status = stat()
      #expect(stat(box.files.path(name), &status) == 0 && status.st_mode & 0o777 == 0o600, "\(name)")
    }
    try await box.run("get", "s3://bucket/dir/key", "target", "--overwrite").expectSuccess()
    #expect(contents(box, "target") == bytes)
    #expect(box.fake.requests(.getObject).count == 2)
  }

  @Test("an existing file is left, unless it may be replaced; then it keeps its mode")
  func thereAlready() async throws {
    let (box, bytes) = try await box(100)
    try box.files.write([1, 2, 3], to: "target")
    try await box.run("get", "s3://bucket/dir/key", "target").expectFailure(73, "already exists", "--overwrite")
    #expect(contents(box, "target") == [1, 2, 3])
    chmod(box.files.path + "/target", 0o640)
    try await box.run("get", "s3://bucket/dir/key", "target", "--overwrite").expectSuccess()
    #expect(contents(box, "target") == bytes)
    var status = stat()
    #expect(stat(box.files.path + "/target", &status) == 0 && status.st_mode & 0o7777 == 0o640)
    let same = try await box.run("get", "s3://bucket/dir/key", "target", "--skip-same", "--json")
    #expect(same.json["event"] as? String == "unchanged")
    #expect(box.fake.requests(.getObject).count == 1)
  }
}
