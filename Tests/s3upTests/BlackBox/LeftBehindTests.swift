import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// Ways in which an upload could be left behind at the store.
@Suite(.timeLimit(.minutes(10))) struct LeftBehindTests {
  @Test("An upload whose id cannot be printed is aborted")
  func createWithoutReader() async throws {
    let fake = try FakeS3()
    let binary = try S3upBinary()
    var environment = Programs.environment(home: binary.home.path)
    environment.merge(fake.environment()) { $1 }
    environment["S3UP"] = binary.path
    let result = try await ChildProcess(
      Programs.find("sh"), ["-c", "\"$S3UP\" create s3://bucket/k >/dev/full"], environment: environment,
      directory: binary.home.path
    ).wait()
    #expect(result.status == 75, "\(result.errors)")
    #expect(fake.requests(.createMultipartUpload).count == 1)
    #expect(fake.unfinishedUploads.isEmpty)
  }

  @Test(
    "SIGTERM ends an upload within 5 s even while gigabytes are read for their checksums", arguments: ["keep", "abort"])
  func whileHashing(_ choice: String) async throws {
    let fake = try FakeS3(FakeOptions { $0.storage = .discard })
    let binary = try S3upBinary()
    let path = binary.home.path + "/large"
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    #expect(truncate(path, 40 << 30) == 0)
    let child = try binary.start(
      ["put", path, "s3://bucket/k", "--part-size", "5G", "--on-interrupt", choice], environment: fake.environment())
    #expect(await fake.wait { $0.contains { $0.operation == .createMultipartUpload } })
    // After a tenth of a second of CPU time every thread is working.
    try await until("the sums have begun") { child.ended || Self.ticks(child.pid) >= 10 }
    let (sent, lag) = (ContinuousClock.now, Lag())
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(20))
    #expect(result.endedAt - sent - lag.sofar < .seconds(5))
    #expect(result.status == 143, "\(result.errors)")
    #expect(fake.unfinishedUploads.count == (choice == "keep" ? 1 : 0))
    #expect(result.errors.contains("to resume: ") == (choice == "keep"), "\(result.errors)")
  }

  @Test("The single steps end the record of an upload together with it", arguments: ["abort", "complete"])
  func stepsEndTheRecord(_ step: String) async throws {
    let box = try BlackBox()
    let stopped = try await StoppedUpload(box)
    try await box.run(step, "s3://bucket/k", "--upload-id", stopped.uploadID).expectSuccess()
    #expect(try box.records().isEmpty)
    #expect(try await box.run("uploads").output.isEmpty)
  }

  @Test("An upload that ended elsewhere is not called aborted, and one that may not be listed hides no other")
  func goneAndUnlisted() async throws {
    let box = try BlackBox()
    let stopped = try await StoppedUpload(box)
    for _ in 0..<2 { try await box.run("create", "s3://bucket/other") }
    box.fake.setFaults([Fault(.init(.listParts, key: "other"), .error(status: 403, code: "AccessDenied"))])
    let listed = try await box.run("uploads", "s3://bucket")
    #expect(listed.status == 77 && listed.lines.count == 3, "\(listed.output) \(listed.errors)")
    #expect(listed.errors.contains("the parts of 1 other upload could not be listed either"), "\(listed.errors)")
    #expect(listed.lines.contains { $0.contains("  ? parts  ?  ") && $0.contains("s3://bucket/other") })
    let json = try await box.run("uploads", "s3://bucket", "--json")
    #expect(json.lines.contains { $0.contains(#""parts":null,"bytes":null"#) }, "\(json.output)")
    var other = try BlackBox()
    other.environment = box.environment
    try await other.run("abort", "s3://bucket/k", "--upload-id", stopped.uploadID).expectSuccess()
    let cleaned = try await box.run("uploads", "--clean")
    cleaned.expectSuccess()
    #expect(cleaned.output.hasPrefix("gone  ") && cleaned.lines.count == 1, "\(cleaned.output)")
    #expect(try box.records().isEmpty)
  }

  /// CPU time of a process, in hundredths of a second: the 14th and 15th word of its `stat`.
  private static func ticks(_ pid: pid_t) -> Int {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    let words = text.split(separator: ") ").last?.split(separator: " ") ?? []
    return words.count > 12 ? (Int(words[11]) ?? 0) + (Int(words[12]) ?? 0) : 0
  }
}
