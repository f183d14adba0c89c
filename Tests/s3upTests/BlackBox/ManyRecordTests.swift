import Foundation
@testable import MultipartCore
import Support
import Testing

/// What a run of many files reuses from an earlier one that failed: only files that are unchanged and have the same
/// options.
@Suite(.timeLimit(.minutes(15))) struct ManyRecordTests {
  private let put = ["put", "--files-from", "l", "s3://bucket/p/"]

  /// A box in which a first run has uploaded `good`, and has failed because a file of its list is missing.
  private func begun(_ change: (inout FakeOptions) -> Void = { _ in }) async throws -> BlackBox {
    let box = try BlackBox(change)
    try box.sample("good", 2000)
    try box.files.write("good\nmissing\n", to: "l")
    let first = try await box.run(put)
    #expect(first.status == 66, "\(first.errors)")
    #expect(box.fake.objectCount == 1)
    try box.sample("missing", 10)
    return box
  }

  private func sent(_ box: BlackBox, _ key: String = "p/good") -> Int {
    box.fake.requests(.putObject).count { $0.key == key }
  }

  @Test(
    "A file that was rewritten between two runs, with its times restored, is sent, and the manifest has its new sum",
    arguments: [[], ["--verify"], ["--manifest", "m"], ["--manifest", "m", "--verify"]])
  func rewritten(_ options: [String]) async throws {
    let box = try await begun()
    try Touch.rewritten.happen(to: box.files.path("good"))
    try await box.run(put + options).expectSuccess()
    let bytes = try box.files.read("good")
    #expect(box.fake.object("p/good")?.holds(bytes) == true)
    guard options.contains("--manifest") else { return }
    let manifest = String(decoding: try box.files.read("m"), as: UTF8.self)
    #expect(manifest.hasPrefix(sha256(bytes) + "  good\n"), "\(manifest)")
  }

  // A sanitizer needs longer files itself.
  @Test(
    "If the disk of the record fills up, the run goes on and succeeds, and one warning says so",
    .enabled(if: BlackBox.measures))
  func fullDisk() async throws {
    let box = try BlackBox()
    for number in 0..<60 { try box.files.write("\(number)", to: "d/\(number)") }
    // A shell's unit is 512 bytes or 1 KiB: a record of that length has at most 30 lines.
    let up = try await box.shell("ulimit -f 1; \"$S3UP\" put -r d s3://bucket/p/")
    let down = try await box.shell("ulimit -f 1; \"$S3UP\" get -r s3://bucket/p/ back")
    for result in [up, down] {
      #expect(result.status == 0 && result.lines.count == 61, "\(result.output) \(result.errors)")
      let warnings = result.errors.split(separator: "\n")
      #expect(warnings.count == 1, "\(result.errors)")
      #expect(warnings.first?.contains("the record of this run cannot be written") == true)
    }
    #expect(box.fake.objectCount == 60)
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.files.path("back")).count == 60)
    let runs = box.binary.home.path + "/.local/state/s3up/runs"
    #expect(try FileManager.default.contentsOfDirectory(atPath: runs).filter { !$0.hasSuffix(".lock") } == [])
  }

  // A sanitizer needs longer files itself.
  @Test(
    "A record that cannot be written stays as it is, but not if a file that it lists was sent anew",
    .enabled(if: BlackBox.measures), arguments: [false, true])
  func fullDiskLater(changes: Bool) async throws {
    let box = try BlackBox()
    let names = (0..<60).map { "d\($0)" }
    for name in names { try box.files.write(name, to: name) }
    try box.files.write((names + ["missing"]).joined(separator: "\n"), to: "l")
    #expect(try await box.run(put).status == 66)
    if changes { try box.files.write("other", to: "d7") }
    let second = try await box.shell("ulimit -f 1; \"$S3UP\" put --files-from l s3://bucket/p/")
    #expect(second.status == 66, "\(second.errors)")
    #expect(second.errors.contains("the record of this run cannot be written"), "\(second.errors)")
    let runs = box.binary.home.path + "/.local/state/s3up/runs"
    let left = try FileManager.default.contentsOfDirectory(atPath: runs).filter { !$0.hasSuffix(".lock") }
    #expect(left.isEmpty == changes)
    #expect(box.fake.object("p/d7")?.holds(Array((changes ? "other" : "d7").utf8)) == true)
  }

  @Test(
    "A file that an earlier run has sent is compared if --verify or a manifest of sums requires it",
    arguments: [[], ["--manifest", "m.json"], ["--verify"], ["--manifest", "m"]])
  func compared(_ options: [String]) async throws {
    let box = try await begun { $0.versioning = true }
    let second = try await box.run(put + options + ["--json"])
    second.expectSuccess()
    #expect(sent(box) == 1)
    let line = second.lines.first { $0.contains(#""event":"unchanged""#) } ?? ""
    let isCompared = options == ["--verify"] || options == ["--manifest", "m"]
    #expect(line.contains("an earlier run uploaded it") == !isCompared, "\(second.output)")
    #expect(line.contains("matches the file") == isCompared, "\(second.output)")
    guard let name = options.dropFirst().first else { return }
    let manifest = String(decoding: try box.files.read(name), as: UTF8.self)
    if name == "m" {
      #expect(manifest.hasPrefix(sha256(try box.files.read("good")) + "  good\n"), "\(manifest)")
    } else {
      let entry = manifest.split(separator: "\n").first { $0.contains(#""key":"p/good""#) } ?? ""
      #expect(entry.contains(#""algorithm":"CRC64NVME","type":"FULL_OBJECT""#), "\(manifest)")
      #expect(entry.contains(#""version_id":""#), "\(manifest)")
    }
  }

  @Test("For whoever may only list, a manifest has no checksum of a file that an earlier run has sent")
  func listedOnly() async throws {
    let box = try BlackBox(faults: [Fault(.init(.putObject, key: "p/bad"), .error(status: 403, code: "AccessDenied"))])
    for name in ["good", "bad"] { try box.sample("t/\(name)", 2000) }
    let put = ["put", "-r", "t", "s3://bucket/p/"]
    #expect(try await box.run(put).status == 77)
    box.fake.setFaults([Fault(.init(.headObject), .error(status: 403, code: "AccessDenied"))])
    try await box.run(put + ["--manifest", "m.json"]).expectSuccess()
    #expect(sent(box) == 1)
    #expect(String(decoding: try box.files.read("m.json"), as: UTF8.self).contains(#""key":"p/good""#))
  }

  @Test("A file that an earlier run has sent is sent again if another checksum is requested")
  func otherChecksum() async throws {
    let box = try await begun()
    try await box.run(put + ["--checksum", "sha256"]).expectSuccess()
    #expect(sent(box) == 2)
  }

  /// Makes the record what it is if the run was killed before it had recorded what it had created.
  private func unrecord(_ box: BlackBox) throws {
    let folder = box.binary.home.path(".local/state/s3up/runs")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.contains(".") }
    let path = folder + "/" + (try #require(names.first))
    var lines = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self).split(separator: "\n")
    #expect(names.count == 1 && lines.count > 1)
    for index in lines.indices.dropFirst() { lines[index] = lines[index].prefix(16) + "0000000000000001" }
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    try file.close()
  }

  @Test("A file that a killed run has downloaded but not recorded is its own, if it still is the object")
  func unrecordedFile() async throws {
    let box = try await begun()
    box.fake.putObject("p/a", bytes: Array("a".utf8))
    try box.files.write("good\na\nnone\n", to: "keys")
    let get = ["get", "--files-from", "keys", "s3://bucket/p/", "back"]
    try FileManager.default.removeItem(atPath: box.binary.home.path(".local/state/s3up/runs"))
    #expect(try await box.run(get).status == 69)
    try unrecord(box)
    try box.files.write("b", to: "back/a")
    let second = try await box.run(get)
    #expect(second.status == 1 && second.errors.contains("failed: back/a"), "\(second.errors)")
    #expect(second.output.contains("unchanged back/good from s3://bucket/p/good ("), "\(second.output)")
    #expect(second.output.contains("matches the file"), "\(second.output)")
    // A file that was there before any run is not.
    try FileManager.default.createDirectory(atPath: box.files.path("other"), withIntermediateDirectories: false)
    try box.files.write("a", to: "other/a")
    let others = ["get", "--files-from", "keys", "s3://bucket/p/", "other"]
    for _ in 0..<2 { #expect(try await box.run(others).errors.contains("failed: other/a")) }
  }

  private static func showsNothing(_ options: inout FakeOptions) {
    (options.partETags, options.checksums, options.addsDefaultChecksum) = (.odd, .ignored, false)
  }

  @Test(
    "A file that an earlier run has sent is sent again if it must be compared and nothing proves the object's bytes",
    arguments: [[], ["--verify"], ["--manifest", "m"]])
  func incomparable(_ options: [String]) async throws {
    let box = try await begun(Self.showsNothing)
    let second = try await box.run(put + options)
    #expect(second.status == 0, "\(second.errors)")
    #expect(sent(box) == (options.isEmpty ? 1 : 2))
  }

  @Test("A time that is recorded with the object does not prove its bytes, as --verify requires")
  func times() async throws {
    let box = try BlackBox(Self.showsNothing)
    try box.sample("good", 2000)
    #expect(try await box.shell("touch -d @1700000000.5 good").status == 0)
    let put = ["put", "good", "s3://bucket/k", "--skip-same", "--metadata", "s3up-mtime=1700000000.5"]
    for (options, count) in [([], 1), ([], 1), (["--verify"], 2)] {
      let result = try await box.run(put + options)
      #expect(result.status == 0, "\(result.errors)")
      #expect(sent(box, "k") == count)
    }
  }

  @Test("After a chmod between two runs nothing is known of the file, and it is sent")
  func touched() async throws {
    let box = try await begun()
    try Touch.chmod.happen(to: box.files.path("good"))
    try await box.run(put).expectSuccess()
    #expect(sent(box) == 2)
  }

  private func line(_ type: String, _ value: String) -> String {
    #"{"localUri":"good","bucket":"bucket","key":"k","mimeType":"\#(type)","metadata":{"m":"\#(value)"}}"# + "\n"
      + #"{"localUri":"missing","bucket":"bucket","key":"missing"}"# + "\n"
  }

  @Test("Another type or other metadata in a batch's line means another object: it is sent, however often it changes")
  func batch() async throws {
    let box = try BlackBox()
    try box.sample("good", 2000)
    // The third run requests the first type again; the object's ETag never changes.
    for (count, asked) in [("a/x", "1"), ("a/y", "1"), ("a/x", "1"), ("a/x", "2")].enumerated() {
      try box.files.write(line(asked.0, asked.1), to: "b")
      for _ in 1...2 {
        #expect(try await box.run("put", "--batch", "b").status == 66)
        #expect(box.fake.object("k")?.headers["content-type"] == asked.0)
        #expect(box.fake.object("k")?.metadata == ["m": asked.1])
        #expect(sent(box, "k") == count + 1)
      }
    }
  }

  @Test(
    "Options of the run that make another object count too", arguments: [["--metadata", "m=1"], ["--tag", "t=1"]])
  func options(_ options: [String]) async throws {
    let box = try await begun()
    try await box.run(put + options).expectSuccess()
    #expect(sent(box) == 2)
  }

  @Test(
    "A run that is killed after its object was created, and before that is recorded, leaves no earlier line about it")
  func killed() async throws {
    let box = try BlackBox()
    try box.sample("good", 2000)
    try box.files.write(line("a/x", "1"), to: "b")
    #expect(try await box.run("put", "--batch", "b").status == 66)
    try box.files.write(line("a/y", "1"), to: "b")
    box.fake.setFaults([Fault(.init(.putObject, key: "k"), .stall(stage: .beforeAnswer))])
    let child = try box.start(["put", "--batch", "b"])
    #expect(await box.fake.wait { _ in box.fake.object("k")?.headers["content-type"] == "a/y" })
    child.signal(SIGKILL)
    _ = await child.wait()
    box.fake.setFaults([])
    try box.files.write(line("a/x", "1"), to: "b")
    #expect(try await box.run("put", "--batch", "b").status == 66)
    #expect(box.fake.object("k")?.headers["content-type"] == "a/x")
  }

  @Test("An object that was encrypted with another key than the caller's is sent again with this one")
  func customerKey() async throws {
    let keys = ["one", "two"]
    let options = { (name: String) in ["--sse-c-key-file", name] }
    let box = try BlackBox(secure: true)
    for (seed, name) in keys.enumerated() { try box.files.write(randomBytes(32, seed: UInt64(seed)), to: name) }
    try box.sample("t/good", 2000)
    try box.sample("t/other", 10)
    box.fake.addFault(Fault(.init(.putObject, key: "p/other"), .error(status: 403, code: "AccessDenied")))
    for (count, name) in [(1, "one"), (1, "one"), (2, "two"), (2, "two")] {
      let result = try await box.run(["put", "-r", "t", "s3://bucket/p"] + options(name))
      #expect(result.status == 77, "\(result.errors)")
      #expect(sent(box) == count)
    }
  }

  @Test("A manifest has the sum of what was published, whatever is written to the file later")
  func published() async throws {
    let box = try BlackBox()
    let gate = try box.files.write([], to: "gate")
    let bytes = try box.sample("large", 11 * mebi)
    box.fake.setFaults([Fault(.init(.completeMultipartUpload), .hold(file: gate, stage: .beforeAnswer))])
    let words = ["large", "large2", "s3://bucket/p/", "--manifest", "m", "--part-size", "5M"]
    try box.sample("large2", 11 * mebi, seed: 2)
    let child = try box.start(["put"] + words)
    #expect(await box.fake.wait { _ in box.fake.object("p/large") != nil })
    try Touch.rewritten.happen(to: box.files.path("large"))
    try FileManager.default.removeItem(atPath: gate)
    let result = await child.wait()
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("p/large")?.holds(bytes) == true)
    let manifest = String(decoding: try box.files.read("m"), as: UTF8.self)
    #expect(manifest.hasPrefix(sha256(bytes) + "  large\n"), "\(manifest)")
  }
}
