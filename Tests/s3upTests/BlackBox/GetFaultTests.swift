import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// Whatever a store, a line or another program does to a download, the file is identical, or there is a clear failure
/// and no file under its name.
@Suite(.crowd) struct GetFaultTests {
  private static let size = 3 * mebi + 70_001
  private static let ranges = 5
  private static let range = 640 << 10
  private let get = ["get", "s3://bucket/key", "target", "--part-size", "640K"]
  private let pipe = "\"$S3UP\" get s3://bucket/key - --part-size 640K >piped"

  private func box(_ change: (inout FakeOptions) -> Void = { _ in }) throws -> (BlackBox, [UInt8]) {
    let box = try BlackBox(faults: [], change)
    let bytes = try box.sample("source", Self.size, seed: 9)
    box.fake.putObject("key", bytes: bytes)
    return (box, bytes)
  }

  private func names(_ box: BlackBox, _ folder: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: box.files.path(folder)).sorted()
  }

  private func records(_ box: BlackBox) -> [String] {
    let folder = box.binary.home.path + "/.local/state/s3up/downloads"
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".record") }
  }

  /// Expects no file under the name, and no part file that no run would resume.
  private func expectNothing(_ box: BlackBox, where location: SourceLocation = #_sourceLocation) throws {
    #expect(try names(box).filter { $0 != "piped" } == ["source"], sourceLocation: location)
    #expect(records(box) == [], sourceLocation: location)
  }

  // MARK: - The line

  static let passing: [Fault.Action] = [
    .resetBeforeReading, .loseAnswer, .truncateAnswer(bytes: 100_000), .truncateAnswer(bytes: 0),
    .shortenAnswer(bytes: 100_000), .overrunAnswer(bytes: 1000), .hugeBody(bytes: 10), .halfClose, .garbage(),
    .closeAfterAnswer, .error(status: 503, code: "SlowDown"), .error(status: 500, code: "InternalError"),
    .headers(["Content-Range": "bytes 1-655360/\(size)"]), .headers(["Content-Range": "bytes 0-0/*"]),
    .headers(["Content-Range": "nonsense"]),
  ]

  @Test(
    "Cuts in each range in turn, and answers that are too short, too long or of another range, leave the file intact",
    arguments: passing)
  func cut(_ action: Fault.Action) async throws {
    let (box, bytes) = try box()
    let faults = (0..<Self.ranges).map { Fault(.init(.getObject, rangeFrom: $0 * Self.range, nth: 1), action) }
    for _ in 0..<2 {
      box.fake.setFaults(faults)
      let result = try await box.run(get + ["--overwrite"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(try box.files.read("target") == bytes)
    }
    box.fake.setFaults(faults)
    let piped = try await box.shell(pipe)
    #expect(piped.status == 0, "\(piped.errors)")
    #expect(try box.files.read("piped") == bytes)
  }

  @Test(
    "If a range keeps failing, so does the download, and what has arrived is kept for the next run",
    arguments: [
      Fault.Action.truncateAnswer(bytes: 1000), .hugeBody(bytes: 10), .headers(["Content-Range": "bytes 1-2/*"]),
    ])
  func neverRight(_ action: Fault.Action) async throws {
    let (box, bytes) = try box()
    box.fake.setFaults([Fault(.init(.getObject, rangeFrom: 2 * Self.range, rangeWithin: Self.range), action)])
    let result = try await box.run(get + ["--retries", "2", "--json"])
    #expect(result.status == 75 && result.json["resumable"] as? Bool == true, "\(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("target")))
    let loaded = box.fake.requests(.getObject).count
    box.fake.setFaults([])
    let next = try await box.run(get + ["--json"])
    #expect(next.json["bytes_resumed"] as? Int ?? 0 > 0, "\(next.output) \(next.errors)")
    #expect(box.fake.requests(.getObject).count - loaded < Self.ranges)
    #expect(try box.files.read("target") == bytes)
    #expect(try names(box) == ["source", "target"] && records(box) == [])
  }

  // MARK: - The object

  static let stores: [@Sendable (inout FakeOptions) -> Void] = [
    { _ in }, { $0.ignoresIfMatch = true }, { $0.headHides = ["ETag"] },
    { options in (options.ignoresIfMatch, options.headHides) = (true, ["Last-Modified"]) }, { $0.versioning = true },
  ]

  @Test(
    "An object that is replaced between two ranges is 65, whatever shows it: If-Match, the ETag, or its time",
    arguments: stores.indices, [1, 3, ranges])
  func replaced(_ store: Int, _ nth: Int) async throws {
    let (box, bytes) = try box(Self.stores[store])
    box.fake.setFaults([Fault(.init(.getObject, nth: nth), .replaceObject)])
    let result = try await box.run(get + ["--concurrency", "1"])
    guard !box.fake.options.versioning else {
      // The version that HEAD has found still exists.
      result.expectSuccess()
      #expect(try box.files.read("target") == bytes)
      return
    }
    result.expectFailure(
      65, "was replaced while it was downloaded", "\nNothing was written under the target's name; run it again")
    // A store that honours If-Match sends no byte of another object.
    if store == 0 { #expect(box.fake.requests(.getObject).map(\.status).last == 412) }
    try expectNothing(box)
    box.fake.setFaults([Fault(.init(.getObject, nth: nth), .replaceObject)])
    #expect(try await box.shell(pipe + " --concurrency 1").status == 65)
    #expect(try box.files.read("piped").count < Self.size)
    box.fake.setFaults([])
    try await box.run(get).expectSuccess()
    #expect(try box.files.read("target") == bytes, "it was replaced twice")
  }

  @Test("What a run has left of another object is not used, even if only the size could show the difference")
  func leftOfAnother() async throws {
    let box = try BlackBox()
    box.fake.putObject("key", bytes: randomBytes(Self.size, seed: 1), parts: [], etag: "odd")
    let third = Fault.Match(.getObject, rangeFrom: 2 * Self.range)
    box.fake.setFaults([Fault(third, .error(status: 503, code: "SlowDown"))])
    let first = try await box.run(get + ["--retries", "2", "--concurrency", "1", "--json"])
    #expect(first.status == 75 && first.json["resumable"] as? Bool == true, "\(first.errors)")
    let bytes = randomBytes(Self.size, seed: 2)
    box.fake.putObject("key", bytes: bytes, parts: [], etag: "another")
    box.fake.setFaults([])
    let next = try await box.run(get + ["--json"])
    #expect(next.json["bytes_resumed"] as? Int == 0, "\(next.output) \(next.errors)")
    #expect((next.json["evidence"] as? String)?.hasPrefix("size only") == true, "\(next.output)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("An object that is deleted during the download is 65")
  func deleted() async throws {
    let (box, _) = try box()
    box.fake.setFaults([Fault(.init(.getObject, nth: 3), .error(status: 404, code: "NoSuchKey"))])
    try await box.run(get).expectFailure(65, "was deleted while it was downloaded")
    try expectNothing(box)
  }

  // MARK: - This machine

  @Test("A limit on the length of files is an error, and does not end the program by a signal")
  func fileLimit() async throws {
    let (box, _) = try box()
    // In blocks of 512 bytes: less than the object, and more than the 2 MiB that ThreadSanitizer writes into a file of
    // its own when a program begins.
    let result = try await box.shell("ulimit -f 5000; exec \"$S3UP\" get s3://bucket/key target")
    result.expectFailure(75, "no file may be longer than", "ulimit -f")
    try expectNothing(box)
  }

  @Test("What has arrived before this machine failed is kept, and resumed")
  func keptHere() async throws {
    let (box, bytes) = try box()
    box.fake.setFaults([Fault(Fault.Match(.getObject, from: 3), .stall(stage: .beforeAnswer))])
    let child = try box.start(get + ["--concurrency", "2"])
    try await until("four ranges were asked for") { box.fake.requests(.getObject).count >= 4 }
    child.signal(SIGTERM)
    _ = await child.wait()
    box.fake.setFaults([])
    let limited = try await box.shell("ulimit -f 5000; exec \"$S3UP\" \"$@\"", get)
    limited.expectFailure(75, "no file may be longer than")
    let result = try await box.run(get + ["--json"])
    result.expectSuccess()
    #expect(result.json["bytes_resumed"] as? Int == 2 * Self.range, "\(result.output)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test(
    "A full disk is an error before a byte is downloaded, and leaves no part file",
    .enabled(if: MountedDisk.isPossible(.tmpfs), "no mounts here"))
  func fullDisk() async throws {
    let (box, bytes) = try box()
    let disk = try MountedDisk(.tmpfs, size: "1m")
    try #require(disk.isMounted)
    try await box.run("get", "s3://bucket/key", disk.path + "/target").expectFailure(75, "No space left", "Make room")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
    #expect(box.fake.requests(.getObject).isEmpty)
    try await box.run(get).expectSuccess()
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A target that cannot be written is 73, and nothing is downloaded")
  func unwritable() async throws {
    let (box, _) = try box()
    for target in ["/proc/target", "no/such/folder/target", "source/target"] {
      let result = try await box.run("get", "s3://bucket/key", target)
      result.expectFailure(73)
    }
    #expect(box.fake.requests(.getObject).isEmpty)
    try expectNothing(box)
  }

  /// Starts a download whose third range is not answered while the returned file exists.
  private func held(_ box: BlackBox, _ arguments: [String]) async throws -> (ChildProcess, gate: String) {
    let gate = try box.files.write([], to: "gate")
    box.fake.setFaults([Fault(.init(.getObject, nth: 3), .hold(file: gate, stage: .beforeAnswer))])
    let child = try box.start(arguments + ["--hedge", "off"])
    try await until("all ranges were asked for") {
      child.ended || box.fake.requests(.getObject).filter { $0.done }.count == Self.ranges - 1
    }
    return (child, gate)
  }

  @Test("Of two runs to one target the second fails and names the first, whose file is complete")
  func twoRuns() async throws {
    let (box, bytes) = try box()
    let (child, gate) = try await held(box, get)
    try await box.run(get).expectFailure(75, "another run is downloading to this file")
    try await box.run(get + ["--state-dir", box.files.path("other-state")])
      .expectFailure(75, "another run is downloading to this file")
    try FileManager.default.removeItem(atPath: gate)
    await child.wait().expectSuccess()
    #expect(try box.files.read("target") == bytes)
    #expect(records(box) == [])
  }

  @Test("A download whose folder is removed fails, and leaves nothing behind that cannot be resumed")
  func folderRemoved() async throws {
    let (box, _) = try box()
    try FileManager.default.createDirectory(atPath: box.files.path("folder"), withIntermediateDirectories: true)
    let (child, gate) = try await held(box, ["get", "s3://bucket/key", "folder/target", "--part-size", "640K"])
    try FileManager.default.removeItem(atPath: box.files.path("folder"))
    try FileManager.default.removeItem(atPath: gate)
    await child.wait().expectFailure(75, "moved, removed or replaced the file that was being written")
    try expectNothing(box)
  }

  @Test("A download whose folder is renamed fails, and publishes nothing")
  func folderMoved() async throws {
    let (box, _) = try box()
    let folder = box.files.path("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let (child, gate) = try await held(box, ["get", "s3://bucket/key", "folder/target", "--part-size", "640K"])
    #expect(rename(folder, box.files.path("moved")) == 0)
    try FileManager.default.removeItem(atPath: gate)
    await child.wait().expectFailure(75, "moved, removed or replaced the file that was being written")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("moved/target")))
  }

  @Test("A part file that another program replaces is never published")
  func partReplaced() async throws {
    let (box, _) = try box()
    let (child, gate) = try await held(box, get)
    let part = try #require(try names(box).first { $0.hasSuffix(".s3up-part") })
    let other = box.files.path("other")
    try box.files.write([UInt8](repeating: 1, count: Self.size), to: "other")
    #expect(rename(other, box.files.path(part)) == 0)
    try FileManager.default.removeItem(atPath: gate)
    await child.wait().expectFailure(75, "moved, removed or replaced the file that was being written")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("target")))
    #expect(try box.files.read(part) == [UInt8](repeating: 1, count: Self.size), "it is not ours to remove")
  }

  @Test("A part file that another program truncates is not published with holes, though the received bytes are proven")
  func partTruncated() async throws {
    let (box, bytes) = try box()
    let (child, gate) = try await held(box, get)
    let part = try #require(try names(box).first { $0.hasSuffix(".s3up-part") })
    try await until("a range was written") {
      child.ended || (try? box.files.read(part).contains { $0 != 0 }) == true
    }
    #expect(truncate(box.files.path(part), 0) == 0)
    try FileManager.default.removeItem(atPath: gate)
    let result = await child.wait()
    #expect(result.status == 0 && result.output.contains("proven by CRC64NVME"), "\(result.output) \(result.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A named pipe without a reader does not delay a signal")
  func unreadPipe() async throws {
    let (box, bytes) = try box()
    #expect(mkfifo(box.files.path("target"), 0o600) == 0)
    let child = try box.start(get)
    #expect(await box.fake.wait { $0.contains { $0.operation == .headObject && $0.done } })
    child.signal(SIGINT)
    let result = await child.wait(timeout: .seconds(60))
    #expect(result.status == 130 && !result.timedOut, "\(result.errors)")
    #expect(box.fake.requests(.getObject).isEmpty)
    let read = try await box.shell("cat target >read & \"$S3UP\" get s3://bucket/key target && wait")
    #expect(read.status == 0, "\(read.errors)")
    #expect(try box.files.read("read") == bytes)
  }

  @Test("A slow range that is requested twice survives if one of the two is cut", arguments: [true, false])
  func hedged(_ firstFails: Bool) async throws {
    let (box, bytes) = try box()
    let gate = try box.files.write([], to: "gate")
    let last = (Self.ranges - 1) * Self.range
    let slow = Fault(.init(.getObject, rangeFrom: last, nth: 1), .hold(file: gate, stage: .beforeAnswer))
    let second = Fault(.init(.getObject, rangeFrom: last, nth: 2), .hold(file: gate + "2", stage: .beforeAnswer))
    try box.files.write([], to: "gate2")
    box.fake.setFaults([slow, second])
    let child = try box.start(get)
    try await until("the last range was asked for twice") {
      child.ended || box.fake.requests(.getObject).count == Self.ranges + 1
    }
    // A cut connection is a failure of this copy only.
    box.fake.cut(connectionOf: box.fake.requests(.getObject)[Self.ranges - (firstFails ? 1 : 0)])
    try await until("it was noticed") { child.ended || box.fake.counters.runningRequests == 1 }
    try FileManager.default.removeItem(atPath: gate)
    try FileManager.default.removeItem(atPath: gate + "2")
    let result = await child.wait()
    result.expectSuccess()
    #expect(try box.files.read("target") == bytes)
  }
}
