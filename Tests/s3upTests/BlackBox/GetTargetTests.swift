import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// What a target may be, and what others may do to it while the object is downloaded.
@Suite("The target of a download", .crowd) struct GetTargetTests {
  private let bytes = randomBytes(3 * mebi + 70_001, seed: 9)
  private let get = ["get", "s3://bucket/key", "target", "--part-size", "640K", "--overwrite"]

  private func box(_ headers: HeaderList = [:]) throws -> BlackBox {
    let box = try BlackBox(faults: [])
    box.fake.putObject("key", bytes: bytes, headers: headers)
    return box
  }

  /// Replaces a target, with which something happens meanwhile.
  private func replace(
    _ box: BlackBox, _ change: (String) throws -> Void, before prepare: (String) throws -> Void = { _ in }
  ) async throws -> ChildProcess.Result {
    let target = try box.files.write(Array("old".utf8), to: "target")
    try prepare(target)
    let gate = box.binary.home.path + "/gate"
    try Data().write(to: URL(fileURLWithPath: gate))
    box.fake.setFaults([Fault(.init(.getObject, nth: 3), .hold(file: gate, stage: .beforeAnswer))])
    let before = box.fake.requests(.getObject).count
    let child = try box.start(get + ["--hedge", "off"])
    try await until("a range is held back") { child.ended || box.fake.requests(.getObject).count > before + 3 }
    try change(target)
    try FileManager.default.removeItem(atPath: gate)
    return await child.wait()
  }

  @Test("A target that is removed meanwhile is written, and one whose mode is changed keeps the new mode")
  func changed() async throws {
    let box = try box()
    try await replace(box) { try FileManager.default.removeItem(atPath: $0) }.expectSuccess()
    #expect(try box.files.read("target") == bytes)
    try await replace(box) { #expect(chmod($0, 0o640) == 0) }.expectSuccess()
    #expect(try box.files.read("target") == bytes)
    let mode = try FileManager.default.attributesOfItem(atPath: box.files.path("target"))[.posixPermissions] as? Int
    #expect(mode == 0o640)
    try await replace(box) { try Data("new".utf8).write(to: URL(fileURLWithPath: $0)) }
      .expectFailure(73, "another program has written the target")
    #expect(try box.files.read("target") == Array("new".utf8))
  }

  @Test("A target that is rewritten meanwhile, with its size and time restored, is left alone")
  func restored() async throws {
    let box = try box()
    try await replace(box) { target in
      let file = try #require(FileHandle(forUpdatingAtPath: target))
      try file.write(contentsOf: Data("NEW".utf8))
      try file.close()
      try setModified(target, seconds: 1_700_000_000)
    } before: {
      try setModified($0, seconds: 1_700_000_000)
    }
    .expectFailure(73, "another program has written the target")
    #expect(try box.files.read("target") == Array("NEW".utf8))
  }

  @Test("A part file that another program has made longer is never published")
  func otherLength() async throws {
    let box = try box()
    let result = try await replace(box) { target in
      let folder = (target as NSString).deletingLastPathComponent
      let part = try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".s3up-part") }
      #expect(truncate(folder + "/" + (part ?? ""), 30 << 20) == 0)
    }
    result.expectFailure(75, "changed the length of the file that was being written")
    #expect(try box.files.read("target") == Array("old".utf8))
  }

  @Test("An empty target is a variable that is not set: nothing is asked for", arguments: [[], ["-r"]])
  func empty(_ options: [String]) async throws {
    let box = try box()
    try await box.run(["get", "s3://bucket/key", ""] + options).expectFailure(64, "the target has an empty name")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("Standard output that is closed or only readable is refused before anything is asked for")
  func closed() async throws {
    let box = try box()
    for output in [">&-", "1<\"$S3UP\""] {
      let result = try await box.shell("\"$S3UP\" get s3://bucket/key - \(output)")
      #expect(result.status == 73 && result.errors.contains("not open for writing"), "\(result.errors)")
    }
    #expect(box.fake.requests.isEmpty)
  }

  @Test("--if-newer compares fractions of a second where both times have them")
  func fraction() async throws {
    let box = try box(["x-amz-meta-s3up-mtime": "1700000000.9"])
    let newer = ["get", "s3://bucket/key", "target", "--if-newer"]
    let target = try box.files.write(Array("old".utf8), to: "target")
    try setModified(target, seconds: 1_700_000_000, nanoseconds: 0)
    #expect(try await box.run(newer).output.hasPrefix("skipped"), "no fraction")
    try setModified(target, seconds: 1_700_000_000, nanoseconds: 900_000_000)
    #expect(try await box.run(newer).output.hasPrefix("skipped"), "the same time")
    let coarse = try self.box(["x-amz-meta-s3up-mtime": "1700000000.123456789"])
    let short = try coarse.files.write(Array("old".utf8), to: "target")
    try setModified(short, seconds: 1_700_000_000, nanoseconds: 123_456_700)
    #expect(try await coarse.run(newer).output.hasPrefix("skipped"), "a file system that keeps seven digits")
    try setModified(target, seconds: 1_700_000_000, nanoseconds: 100_000_000)
    try await box.run(newer).expectSuccess()
    #expect(try box.files.read("target") == bytes)
    for piece in [["--range", "0-9"], ["--part", "1"]] {
      try await box.run(newer + piece).expectFailure(64, "exclude each other")
    }
  }

  @Test("A bucket that does not exist is named by every command that looks for an object in it")
  func noBucket() async throws {
    let box = try box()
    try box.files.write([1], to: "file")
    for command in [
      ["get", "s3://nothing/key", "out"], ["head", "s3://nothing/key"], ["verify", "file", "s3://nothing/key"],
    ] {
      try await box.run(command).expectFailure(69, "NoSuchBucket")
      let folder = command.map { $0.replacingOccurrences(of: "s3://nothing/key", with: "s3://bucket/folder") }
      box.fake.putObject("folder/key", bytes: [1])
      try await box.run(folder).expectFailure(69, "there is no object at the key, but there are keys below it")
    }
  }
}
