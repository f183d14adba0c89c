import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite("Comparing many files with their objects", .crowd) struct VerifyManyTests {
  /// A box with a folder of five files, and the objects that `put -r` makes of it.
  private func box(_ change: (inout FakeOptions) -> Void = { _ in }) async throws -> BlackBox {
    let box = try BlackBox(faults: [], change)
    for (index, name) in ["a.txt", "b.txt", "d/c.txt", "d/e/f.bin", "z"].enumerated() {
      try box.sample("dir/\(name)", 1000 + index, seed: UInt64(index))
    }
    try await box.run("put", "-r", "-q", "dir", "s3://bucket/p/").expectSuccess()
    return box
  }

  private func verified(_ result: ChildProcess.Result) -> [String] {
    result.lines.filter { $0.hasPrefix("verified ") }.compactMap { $0.split(separator: " ").dropFirst().first }
      .map(String.init).sorted()
  }

  @Test("each file of a folder is compared with its object, and the summary has their number")
  func tree() async throws {
    let box = try await box()
    let result = try await box.run("verify", "-r", "dir", "s3://bucket/p")
    result.expectSuccess()
    #expect(verified(result) == ["dir/a.txt", "dir/b.txt", "dir/d/c.txt", "dir/d/e/f.bin", "dir/z"])
    #expect(result.lines.last?.hasPrefix("5 files verified (") == true, "\(result.output)")
    #expect(box.fake.requests(.headObject).count == 5 && box.fake.requests(.getObject).isEmpty)
    let events = try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--json").lines
    #expect(events.count == 6 && events.prefix(5).allSatisfy { $0.hasPrefix("{\"event\":\"verified\"") })
    #expect(events.last?.contains("\"verified\":5,") == true && events.last?.contains("\"failed\":0") == true)
  }

  @Test(
    "what differs, is missing, or cannot be read is named, and the others are compared; the exit code is theirs or 1")
  func failures() async throws {
    let box = try await box()
    var bytes = try box.files.read("dir/a.txt")
    bytes[500] ^= 1
    try box.files.write(bytes, to: "dir/a.txt")
    let one = try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--failed-to", "failed")
    #expect(one.status == 65 && verified(one).count == 4, "\(one.errors)")
    #expect(one.errors.contains("the object is not the file") && one.errors.contains("  failed: dir/a.txt"))
    #expect(one.errors.contains("s3up verify --files-from failed s3://bucket/p/"), "\(one.errors)")
    let again = try await box.run("verify", "--files-from", "failed", "s3://bucket/p/")
    #expect(again.status == 65 && verified(again).isEmpty && box.fake.requests(.headObject).last?.key == "p/a.txt")
    box.fake.removeObject("p/z")
    let two = try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--json")
    #expect(two.status == 1, "\(two.errors)")
    #expect(two.lines.filter { $0.contains("\"event\":\"failed\"") }.count == 2)
    #expect(two.lines.contains { $0.contains("\"source\":\"dir/z\"") && $0.contains("\"exit\":69") }, "\(two.output)")
    let named = try await box.run("verify", "dir/b.txt", "dir/z", "s3://bucket/p/")
    #expect(named.status == 69 && verified(named) == ["dir/b.txt"], "\(named.errors)")
  }

  @Test("rules and shards select as they do for put: all shares together compare each file once")
  func selection() async throws {
    let box = try await box()
    let chosen = try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--include", "*.txt", "--exclude", "b*")
    #expect(verified(chosen) == ["dir/a.txt", "dir/d/c.txt"], "\(chosen.output)")
    var all: [String] = []
    for share in 1...3 {
      let result = try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--shard", "\(share)/3")
      result.expectSuccess()
      all += verified(result)
    }
    #expect(all.sorted() == ["dir/a.txt", "dir/b.txt", "dir/d/c.txt", "dir/d/e/f.bin", "dir/z"])
  }

  @Test("a folder without a file proves nothing: 66, unless that is allowed")
  func empty() async throws {
    let box = try await box()
    try FileManager.default.createDirectory(atPath: box.files.path("mount"), withIntermediateDirectories: true)
    let result = try await box.run("verify", "-r", "mount", "s3://bucket/p/")
    #expect(result.status == 66 && result.errors.contains("--allow-empty"), "\(result.errors)")
    #expect(try await box.run("verify", "-r", "mount", "s3://bucket/p/", "--allow-empty").status == 0)
    let ruled = try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--include", "*.png")
    #expect(ruled.status == 66, "\(ruled.errors)")
    #expect(try await box.run("verify", "-r", "nothing", "s3://bucket/p/").status == 66)
  }

  @Test("--fail-fast stops at the first, and so does a run whose requests are all refused")
  func stops() async throws {
    let box = try await box()
    for number in 0..<60 { try box.files.write([1], to: "dir/many\(number)") }
    box.fake.setFaults([Fault(Fault.Match(.headObject), .error(status: 403, code: "AccessDenied"))])
    let refused = try await box.run("verify", "-r", "dir", "s3://bucket/p/")
    #expect(refused.status == 77 && refused.output.contains("the others were not completed"), "\(refused.output)")
    #expect(box.fake.requests(.headObject).count < 60)
    box.fake.setFaults([])
    let fast = try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--fail-fast")
    #expect(fast.status == 69 && fast.output.contains("the others were not completed"), "\(fast.output)")
    // Missing objects do not stop the run.
    let missing = try await box.run("verify", "-r", "dir", "s3://bucket/p/")
    #expect(missing.status == 69 && missing.output.contains("5 files verified, 60 failed"), "\(missing.output)")
  }

  @Test("several files are compared at a time, and a signal ends the run")
  func signal() async throws {
    let box = try await box()
    try box.files.write([UInt8](), to: "hold")
    box.fake.setFaults([Fault(Fault.Match(.headObject), .hold(file: box.files.path("hold"), stage: .beforeAnswer))])
    let process = try box.start(["verify", "-r", "dir", "s3://bucket/p/"])
    try await until("all five are asked for") { box.fake.requests(.headObject).count == 5 }
    process.signal(SIGINT)
    let result = await process.wait()
    #expect(result.status == 130, "\(result.errors)")
    try FileManager.default.removeItem(atPath: box.files.path("hold"))
  }

  @Test("A deadline ends a comparison with 75, and what was compared before it is reported")
  func deadline() async throws {
    let box = try await box()
    // The object of z never answers.
    box.fake.setFaults([Fault(Fault.Match(.headObject, key: "p/z"), .stall(stage: .beforeAnswer))])
    let many = try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--deadline", "3s", "--json")
    #expect(many.status == 75 && many.seconds < 10, "\(many.seconds) s: \(many.errors)")
    #expect(many.lines.filter { $0.hasPrefix("{\"event\":\"verified\"") }.count == 4, "\(many.output)")
    #expect(many.lines.contains { $0.contains("\"verified\":4,") && $0.contains("\"failed\":0") }, "\(many.output)")
    #expect(many.lines.last?.contains("\"exit\":75,\"resumable\":false") == true, "\(many.output)")
    #expect(!many.errors.contains("continue"), "\(many.errors)")
    let one = try await box.run("verify", "dir/z", "s3://bucket/p/z", "--deadline", "1s")
    #expect(one.status == 75 && one.seconds < 10, "\(one.seconds) s: \(one.errors)")
    #expect(one.errors.contains("the time given by --deadline is over") && one.output.isEmpty, "\(one.errors)")
    // What ends in time is not affected.
    try await box.run("verify", "dir/b.txt", "s3://bucket/p/b.txt", "--deadline", "30s").expectSuccess()
  }

  @Test("options that are for one file, or for uploads only, are refused")
  func usage() async throws {
    let box = try await box()
    try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--version-id", "x").expectUsage(
      "--version-id is not for")
    try await box.run("verify", "dir", "s3://bucket/p/").expectUsage("s3up verify -r dir")
    try await box.run("verify", "-r", "dir").expectUsage("not a destination")
    try await box.run("verify", "-r", "dir", "s3://bucket/p/", "--skip-same").expectUsage("--skip-same")
  }
}
