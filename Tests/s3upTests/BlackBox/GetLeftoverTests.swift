import Foundation
import Testing

@testable import Support

/// What an interrupted download has left stays until a run can use it, and no longer.
@Suite("What an interrupted download leaves", .crowd) struct GetLeftoverTests {
  private static let size = 3 * mebi + 70_001
  private let get = ["get", "s3://bucket/key", "target", "--part-size", "640K"]

  private func names(_ box: BlackBox) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: box.files.path("")).sorted()
  }

  private func records(_ box: BlackBox) -> [String] {
    let folder = box.binary.home.path + "/.local/state/s3up/downloads/"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".record") }.map { folder + $0 }
  }

  /// A download that has failed after some ranges.
  private func interrupted(_ action: Fault.Action = .truncateAnswer(bytes: 1000)) async throws -> (
    BlackBox, bytes: [UInt8], result: ChildProcess.Result
  ) {
    let third = Fault.Match(.getObject, rangeFrom: 2 * (640 << 10), rangeWithin: 640 << 10)
    let box = try BlackBox(faults: [Fault(third, action)])
    let bytes = randomBytes(Self.size, seed: 9)
    box.fake.putObject("key", bytes: bytes)
    let result = try await box.run(get + ["--retries", "2", "--json", "--concurrency", "1"])
    box.fake.setFaults([])
    return (box, bytes, result)
  }

  enum Then: CaseIterable {
    case nothing, changesBytes, storeIgnoresRanges
  }

  @Test(
    "On a slow line an interruption costs seconds, not the range; a beginning is used if it is the same and of use",
    arguments: Then.allCases)
  func beginning(_ then: Then) async throws {
    let box = try BlackBox(faults: []) { $0.ignoresRanges = then == .storeIgnoresRanges }
    let bytes = randomBytes(17 * mebi, seed: 3)
    box.fake.putObject("key", bytes: bytes)
    // Only an object of one range can be had from such a store.
    let size = then == .storeIgnoresRanges ? "32M" : "16M"
    let get = ["get", "s3://bucket/key", "target", "--part-size", size]
    let child = try box.start(get + ["--limit-rate", "1M", "--concurrency", "1"])
    try await until("a beginning is recorded") {
      child.ended
        || records(box).contains { (try? String(contentsOfFile: $0, encoding: .utf8))?.contains("\nrange ") == true }
    }
    child.signal(SIGKILL)
    _ = await child.wait()
    if then == .changesBytes {
      let part = try #require(try names(box).first { $0.hasSuffix(".s3up-part") })
      let file = try #require(FileHandle(forUpdatingAtPath: box.files.path(part)))
      try file.write(contentsOf: [UInt8](repeating: 0, count: 10))
      try file.close()
    }
    let next = try await box.run(get + ["--json", "--retries", "1"])
    let resumed = next.json["bytes_resumed"] as? Int ?? -1
    #expect(
      then == .nothing ? (1..<16 * mebi).contains(resumed) : resumed == 0, "\(next.output) \(next.errors)")
    #expect(next.status == 0 && next.json["size"] as? Int == bytes.count)
    #expect(try box.files.read("target") == bytes)
    #expect(try names(box) == ["target"] && records(box) == [])
  }

  @Test("A run that fails before it has looked at the object says what an earlier run has left, and where")
  func before() async throws {
    let (box, bytes, _) = try await interrupted(.error(status: 503, code: "SlowDown"))
    let part = try #require(try names(box).first { $0.hasSuffix(".s3up-part") })
    for (answer, status) in [(404, Int32(69)), (503, 75)] {
      box.fake.setFaults([Fault(.init(.headObject), .error(status: answer, code: "Code"))])
      let result = try await box.run(get + ["--json", "--retries", "1"])
      #expect(result.status == status && result.json["resumable"] as? Bool == true, "\(result.output)")
      let kept = "\nWhat an earlier run has downloaded is kept in "
      #expect(result.errors.contains(kept) && result.errors.contains(part), "\(result.errors)")
    }
    box.fake.setFaults([Fault(.init(.headObject), .error(status: 404, code: "NoSuchKey"))])
    let other = try await box.run(["get", "s3://bucket/other", "target"])
    #expect(other.status == 69 && !other.errors.contains("earlier run"), "\(other.errors)")
    box.fake.setFaults([])
    let next = try await box.run(get + ["--json"])
    #expect(next.json["bytes_resumed"] as? Int ?? 0 > 0, "\(next.output) \(next.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("The part file of a run of many that was killed just before the rename goes once its file is complete")
  func beforeItsName() async throws {
    let box = try BlackBox()
    box.fake.putObject("d/one", bytes: randomBytes(1000, seed: 1))
    box.fake.putObject("d/two", bytes: randomBytes(1000, seed: 2))
    let get = ["get", "-r", "s3://bucket/d/", "back", "--overwrite"]
    box.fake.setFaults([Fault(.init(.getObject, key: "d/two"), .error(status: 403, code: "AccessDenied"))])
    #expect(try await box.run(get).status == 77)
    // As if it had been killed at the last moment: the last line says that the file is about to come into being.
    let runs = box.binary.home.path + "/.local/state/s3up/runs/"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: runs).first { !$0.hasSuffix(".lock") })
    var lines = try String(contentsOfFile: runs + name, encoding: .utf8).split(separator: "\n")
    let place = try #require(lines.last).prefix(16)
    lines.append(place + "0000000000000001")
    try (lines.joined(separator: "\n") + "\n").write(toFile: runs + name, atomically: false, encoding: .utf8)
    let part = "back/.one.\(sha256(Array("one".utf8)).prefix(8)).s3up-part"
    try box.files.write([UInt8](repeating: 0, count: 1000), to: part)
    box.fake.setFaults([])
    try await box.run(get).expectSuccess()
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.files.path("back")).sorted() == ["one", "two"])
  }

  @Test("A refusal in the middle keeps what has arrived")
  func refused() async throws {
    let (box, bytes, result) = try await interrupted(.error(status: 409, code: "InvalidRequest"))
    #expect(result.status == 69 && result.json["resumable"] as? Bool == true, "\(result.output) \(result.errors)")
    let next = try await box.run(get + ["--json"])
    #expect(next.json["bytes_resumed"] as? Int ?? 0 > 0, "\(next.output) \(next.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test(
    "Whatever has arrived of a range that broke off is kept; if that is nothing, nothing is left",
    arguments: [0, 1_000_000])
  func brokeOff(_ arrived: Int) async throws {
    let box = try BlackBox(faults: [Fault(.init(.getObject), .truncateAnswer(bytes: arrived))])
    let bytes = randomBytes(Self.size, seed: 9)
    box.fake.putObject("key", bytes: bytes)
    let get = ["get", "s3://bucket/key", "target", "--json"]
    let result = try await box.run(get + ["--retries", "1"])
    #expect(result.status == 75 && result.json["resumable"] as? Bool == (arrived > 0), "\(result.output)")
    #expect(result.errors.contains("What has arrived is kept for the next run") == (arrived > 0), "\(result.errors)")
    #expect(try names(box).isEmpty == (arrived == 0) && records(box).isEmpty == (arrived == 0))
    box.fake.setFaults([])
    #expect(try await box.run(get).json["bytes_resumed"] as? Int == arrived)
    #expect(try box.files.read("target") == bytes)
  }

  @Test("The next try of a range that broke off requests only the bytes that are missing", arguments: [false, true])
  func continues(toCommand: Bool) async throws {
    let box = try BlackBox(faults: [Fault(.init(.getObject), .truncateAnswer(bytes: 700_000))])
    let bytes = randomBytes(Self.size, seed: 9)
    box.fake.putObject("key", bytes: bytes)
    // A try that makes progress does not count.
    let output = toCommand ? ["--to-command", "--", "sh", "-c", "cat > target"] : ["target"]
    let result = try await box.run(["get", "s3://bucket/key", "--json", "--retries", "2"] + output)
    #expect(result.status == 0 && result.json["retries"] as? Int == 4, "\(result.output) \(result.errors)")
    #expect(result.json["bytes_received"] as? Int == Self.size && result.json["bytes_resumed"] as? Int == 0)
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A run whose state folder belongs to another user touches nothing that was left", .enabled(if: geteuid() == 0))
  func foreignState() async throws {
    let (box, bytes, result) = try await interrupted()
    #expect(result.status == 75, "\(result.errors)")
    let left = try names(box)
    let other = box.binary.home.path + "/other"
    try FileManager.default.createDirectory(atPath: other + "/downloads", withIntermediateDirectories: true)
    #expect(chown(other + "/downloads", 65_534, 65_534) == 0)
    let refused = try await box.run(get + ["--state-dir", other])
    #expect(refused.status == 78, "\(refused.errors)")
    #expect(try names(box) == left && left.count == 1 && records(box).count == 1)
    let next = try await box.run(get + ["--json"])
    #expect(next.json["bytes_resumed"] as? Int ?? 0 > 0, "\(next.output) \(next.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("A run that can keep no record leaves what another has recorded")
  func noRecord() async throws {
    let (box, bytes, _) = try await interrupted()
    let left = try names(box)
    box.fake.setFaults([Fault(.init(.getObject), .truncateAnswer(bytes: 0))])
    let failed = try await box.run(get + ["--retries", "1", "--state-dir", "/proc/none"])
    #expect(failed.status == 75 && failed.errors.contains("this download cannot be resumed"), "\(failed.errors)")
    #expect(try names(box) == left && left.count == 1)
    box.fake.setFaults([])
    let next = try await box.run(get + ["--json"])
    #expect(next.json["bytes_resumed"] as? Int ?? 0 > 0, "\(next.output) \(next.errors)")
    #expect(try box.files.read("target") == bytes)
  }

  @Test("What was left of a file that is complete by now is removed")
  func complete() async throws {
    let (box, bytes, _) = try await interrupted()
    #expect(try names(box).count == 1 && records(box).count == 1)
    try box.files.write(bytes, to: "target")
    let same = try await box.run(get + ["--skip-same"])
    #expect(same.status == 0 && same.output.hasPrefix("unchanged"), "\(same.output) \(same.errors)")
    #expect(try names(box) == ["target"] && records(box) == [])
  }
}
