import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite("Comparing a file with its object by downloading it", .crowd) struct VerifyDeepTests {
  private let verify = ["verify", "--deep", "source", "s3://bucket/key"]
  private let get = Fault.Match(.getObject)

  private func box(_ size: Int = 18 * mebi, _ change: (inout FakeOptions) -> Void = { _ in }) throws -> BlackBox {
    let box = try BlackBox(faults: [], change)
    box.fake.putObject("key", bytes: try box.sample("source", size))
    return box
  }

  @Test("it decides where nothing that the store reveals does, and writes nothing", arguments: [0, 1, 18 * mebi])
  func decides(_ size: Int) async throws {
    let box = try box(size)
    box.fake.putObject("key", bytes: try box.files.read("source"), parts: [], etag: "opaque")
    try await box.run("verify", "source", "s3://bucket/key").expectFailure(69, "--deep downloads the object")
    let result = try await box.run(verify)
    result.expectSuccess()
    #expect(result.output.hasSuffix("; every byte was downloaded and compared)\n"), "\(result.output)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.files.path) == ["source"])
    #expect(try box.records() == [])
  }

  @Test("if every byte is the file's, it is the object, whatever ETag the store gives")
  func wrongChecksum() async throws {
    let box = try box()
    box.fake.putObject(
      "key", bytes: try box.files.read("source"), parts: [], etag: String(repeating: "a", count: 32))
    let result = try await box.run(verify)
    result.expectSuccess()
    let doubt = "compared, although the store gives a checksum or ETag of other bytes)\n"
    #expect(result.output.hasSuffix(doubt), "\(result.output)")
    try await box.run("verify", "source", "s3://bucket/key").expectFailure(65, "the object is not the file")
  }

  @Test("one byte of the download that differs is 65 and named, whatever checksum the store has")
  func damaged() async throws {
    let box = try box()
    box.fake.setFaults([Fault(get, .corruptAnswer)])
    try await box.run(verify).expectFailure(65, "the object is not the file: byte ", "counted from 0")
    box.fake.setFaults([])
    var bytes = try box.files.read("source")
    bytes[17 * mebi] ^= 1
    try box.files.write(bytes, to: "source")
    try await box.run(verify).expectFailure(65, "byte \(17 * mebi) of the object")
  }

  @Test("another size is 65, and nothing is downloaded; no object is 69")
  func size() async throws {
    let box = try box(100)
    try box.sample("source", 101)
    try await box.run(verify).expectFailure(65, "the object has 100 bytes, the file 101")
    box.fake.removeObject("key")
    try await box.run(verify).expectFailure(69, "there is no object")
    #expect(box.fake.requests(.getObject).isEmpty)
  }

  @Test("an object that is replaced meanwhile is 65")
  func replacedObject() async throws {
    let box = try box()
    box.fake.setFaults([Fault(.init(.getObject, nth: 2), .replaceObject)])
    try await box.run(verify).expectFailure(65, "was replaced", "\nRun it again, for the object")
    box.fake.setFaults([Fault(get, .error(status: 403, code: "AccessDenied"))])
    let json = try await box.run(verify + ["--json"]).json
    #expect(json["event"] as? String == "failed" && json["source"] as? String == "source", "\(json)")
  }

  @Test("a file that changes meanwhile is 65")
  func changedFile() async throws {
    let box = try box()
    try box.files.write([], to: "gate")
    box.fake.setFaults([Fault(get, .hold(file: box.files.path("gate"), stage: .beforeAnswer))])
    let child = try box.start(verify)
    #expect(await box.fake.wait { $0.contains { $0.operation == .getObject } })
    try box.sample("source", 18 * mebi, seed: 7)
    try FileManager.default.removeItem(atPath: box.files.path("gate"))
    let result = await child.wait()
    result.expectFailure(65, "the file was rewritten while it was read")
    #expect(!result.errors.contains("of the object differs"), "\(result.errors)")
    #expect(result.errors.contains("\nRun it again when nothing writes to the file\n"), "\(result.errors)")
  }

  @Test("with -r each file is compared, and a range that fails is asked for again")
  func many() async throws {
    let box = try BlackBox()
    for (index, size) in [0, 1000, 6 * mebi, 7 * mebi, 8 * mebi].enumerated() {
      let bytes = try box.sample("t/\(index)", size, seed: UInt64(index))
      box.fake.putObject("p/\(index)", bytes: bytes)
    }
    box.fake.setFaults([Fault(.init(.getObject, nth: 3), .resetBeforeReading)])
    let result = try await box.run("verify", "-r", "--deep", "t", "s3://bucket/p/")
    result.expectSuccess()
    #expect(result.lines.last?.hasPrefix("5 files verified (21 MiB") == true, "\(result.output)")
    var bytes = try box.files.read("t/2")
    bytes[6 * mebi - 1] ^= 1
    try box.files.write(bytes, to: "t/2")
    let failed = try await box.run("verify", "-r", "--deep", "t", "s3://bucket/p/")
    #expect(failed.status == 65 && failed.lines.last?.hasPrefix("4 files verified, 1 failed") == true)
  }
}

@Suite("Comparing objects with a manifest", .crowd) struct VerifyManifestTests {
  /// A box with the objects of a manifest, whose files are gone.
  private func box(_ manifest: String, _ change: (inout FakeOptions) -> Void = { _ in }) async throws -> BlackBox {
    let box = try BlackBox(faults: [], change)
    for (index, size) in [0, 1000, 6 * mebi].enumerated() { try box.sample("t/d/\(index)", size, seed: UInt64(index)) }
    try await box.run("put", "-r", "-q", "t", "s3://bucket/p/", "--manifest", manifest).expectSuccess()
    try FileManager.default.removeItem(atPath: box.files.path("t"))
    return box
  }

  /// The line of a manifest that lists nothing but a size of 1000 and an ETag.
  private static func line(_ key: String, _ etag: String) -> [UInt8] {
    let rest = "\"version_id\":null,\"checksum\":null,\"sha256\":null"
    return Array("{\"key\":\"\(key)\",\"size\":1000,\"etag\":\"\\\"\(etag)\\\"\",\(rest)}\n".utf8)
  }

  /// Another object of the same size, with a checksum of its own.
  private func replace(_ box: BlackBox, _ key: String) throws {
    var bytes = try #require(box.fake.object(key)?.bytes)
    bytes[bytes.count / 2] ^= 1
    box.fake.putObject(key, bytes: bytes)
  }

  @Test("what a manifest lists is compared without the files, and what was replaced or is missing is named")
  func listed() async throws {
    let box = try await box("m.jsonl")
    let verify = ["verify", "--manifest", "m.jsonl", "s3://bucket/p"]
    let result = try await box.run(verify)
    result.expectSuccess()
    #expect(result.output.contains("verified d/1 is s3://bucket/p/d/1 ("), "\(result.output)")
    #expect(result.output.contains("; CRC64NVME ") && result.output.contains(" in the manifest matches)"))
    #expect(result.lines.last?.hasPrefix("3 files verified (") == true && box.fake.requests(.getObject).isEmpty)
    try replace(box, "p/d/2")
    let replaced = try await box.run(verify + ["--failed-to", "failed"])
    #expect(replaced.status == 65 && replaced.errors.contains("is not the one that the manifest lists"))
    #expect(String(decoding: try box.files.read("failed"), as: UTF8.self) == "d/2\n")
    box.fake.removeObject("p/d/2")
    let missing = try await box.run(verify)
    #expect(missing.status == 69 && missing.lines.last?.hasPrefix("2 files verified, 1 failed") == true)
    #expect(try await box.run(verify + ["--exclude", "2"]).status == 0)
  }

  @Test("a listed ETag that is not the MD5 of the bytes is 65 with --deep, though the store's checksum is theirs")
  func otherMD5() async throws {
    let box = try BlackBox()
    let md5 = String(repeating: "a", count: 32)
    box.fake.putObject(
      "p/k", bytes: try box.sample("source", 1000), parts: [1000], checksum: .crc64nvme, .fullObject, etag: md5)
    try box.files.write(Self.line("p/k", md5), to: "m.jsonl")
    let verify = ["verify", "--manifest", "m.jsonl", "s3://bucket/p/"]
    let result = try await box.run(verify + ["--deep"])
    #expect(result.status == 65 && result.errors.contains("not those that its ETag was made of"), "\(result.errors)")
  }

  @Test("keys that cannot be paths of files are compared with a manifest like any other", arguments: [false, true])
  func odd(_ deep: Bool) async throws {
    let box = try BlackBox()
    try box.sample("one", 100)
    let keys = ["a//b", "d/", "../z", "q", "q/r", String(repeating: "k", count: 300)]
    let lines = keys.map { #"{"localUri":"one","bucket":"bucket","key":"p/\#($0)"}"# }
    try box.files.write(lines.joined(separator: "\n") + "\n", to: "batch")
    try await box.run("put", "-q", "--batch", "batch", "--manifest", "m.jsonl").expectSuccess()
    let result = try await box.run(
      ["verify", "--manifest", "m.jsonl", "s3://bucket/p/"] + (deep ? ["--deep"] : []))
    result.expectSuccess()
    #expect(result.lines.last?.hasPrefix("6 files verified (") == true, "\(result.output)")
  }

  @Test("where the store has no checksum like the listed one, --deep decides")
  func sums() async throws {
    let box = try await box("SHA256SUMS")
    let verify = ["verify", "--manifest", "SHA256SUMS", "s3://bucket/p/"]
    let unknown = try await box.run(verify)
    #expect(unknown.status == 69 && unknown.errors.contains("the store has no SHA-256 of the object"))
    #expect(unknown.errors.contains("--deep"), "\(unknown.errors)")
    let deep = try await box.run(verify + ["--deep"])
    deep.expectSuccess()
    #expect(deep.output.contains(" in the manifest matches, and every byte was downloaded)"), "\(deep.output)")
    try replace(box, "p/d/2")
    let replaced = try await box.run(verify + ["--deep"])
    #expect(replaced.status == 65 && replaced.errors.contains("its SHA-256 is not the listed one"))
  }

  @Test("the listed ETag decides if nothing else does, and the listed version is the one that is compared")
  func tags() async throws {
    let box = try await box("m.jsonl") { $0.versioning = true }
    try replace(box, "p/d/2")
    #expect(try await box.run("verify", "--manifest", "m.jsonl", "s3://bucket/p/").status == 0)
    let tag = try #require(box.fake.object("p/d/1")?.etag)
    try box.files.write(Self.line("p/d/1", tag), to: "one.jsonl")
    let same = try await box.run("verify", "--manifest", "one.jsonl", "s3://bucket/p/")
    same.expectSuccess()
    #expect(same.output.contains("; ETag "), "\(same.output)")
    box.fake.setFaults([Fault(.init(.getObject), .corruptAnswer)])
    let damaged = try await box.run("verify", "--manifest", "one.jsonl", "--deep", "s3://bucket/p/")
    #expect(damaged.status == 65 && damaged.output.contains("0 files verified"), "\(damaged.errors)")
    box.fake.setFaults([])
    try replace(box, "p/d/1")
    let other = try await box.run("verify", "--manifest", "one.jsonl", "s3://bucket/p/")
    #expect(other.status == 65 && other.errors.contains("its ETag is "), "\(other.errors)")
  }

  @Test("downloaded bytes that neither the manifest nor the store proves are 69, although the ETag is the listed one")
  func unprovenBytes() async throws {
    let box = try BlackBox()
    let tag = String(repeating: "0123456789abcdef", count: 2) + "-3"
    box.fake.putObject("p/a", bytes: [UInt8](repeating: 1, count: 1000), parts: [], etag: tag)
    try box.files.write(Self.line("p/a", tag), to: "m.jsonl")
    let verify = ["verify", "--manifest", "m.jsonl", "s3://bucket/p/"]
    #expect(try await box.run(verify).status == 0)
    let deep = try await box.run(verify + ["--deep"])
    #expect(deep.status == 69 && deep.errors.contains("lists no checksum of its bytes"), "\(deep.errors)")
  }

  @Test(
    "an ETag that says nothing about the bytes proves nothing, also if it is the listed one",
    arguments: [[], ["--deep"]])
  func opaque(_ options: [String]) async throws {
    let box = try BlackBox()
    box.fake.putObject("p/a", bytes: [UInt8](repeating: 1, count: 1000), parts: [], etag: "opaque")
    try box.files.write(Self.line("p/a", "opaque"), to: "m.jsonl")
    let result = try await box.run(["verify", "--manifest", "m.jsonl", "s3://bucket/p/"] + options)
    #expect(result.status == 69 && result.errors.contains("not made of its bytes"), "\(result.errors)")
  }

  @Test("words beside the prefix, a list beside the manifest, and no prefix are refused")
  func usage() async throws {
    let box = try BlackBox()
    try box.files.write(Self.line("p/a", "e"), to: "m.jsonl")
    let verify = ["verify", "--manifest", "m.jsonl"]
    try await box.run(verify).expectFailure(64, "s3up verify --manifest FILE s3://BUCKET/PREFIX/")
    try await box.run(verify + ["m.jsonl", "s3://bucket/p/"]).expectFailure(64, "is one too many")
    try await box.run(verify + ["--files-from", "m.jsonl", "s3://bucket/p/"]).expectFailure(64, "--files-from")
    let elsewhere = try await box.run(verify + ["s3://bucket/q/"])
    #expect(elsewhere.status == 64 && elsewhere.errors.contains("not below the prefix"), "\(elsewhere.errors)")
    #expect(box.fake.requests.isEmpty)
  }
}
