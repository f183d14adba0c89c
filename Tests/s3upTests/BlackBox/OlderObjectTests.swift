import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// An object with the same bytes, in the same parts, is already at the key when the store refuses requests or loses
/// answers: an object that this run has not created is not a success.
@Suite(.crowd) struct OlderObjectTests {
  private static let parts = ["put", "f", "s3://bucket/k", "--part-size", "5M"]
  private static let single = ["put", "f", "s3://bucket/k"]

  static let refusals = [
    Fault.Action.error(status: 503, code: "SlowDown"), .error(status: 503, code: "InternalError"),
    .error(status: 429, code: "TooManyRequests"), .errorIn200(code: "SlowDown"),
  ]
  static let doubts = [
    Fault.Action.error(status: 500, code: "InternalError"), .error(status: 504, code: "GatewayTimeout"),
    .resetBeforeReading, .errorIn200(code: "InternalError"),
  ]

  /// Publishes an object as an earlier run did ten minutes ago, or just now.
  private func published(
    _ words: [String], _ size: Int, minutesAgo: Int64 = 0, ahead: Int64 = 0
  ) async throws -> BlackBox {
    let box = try BlackBox()
    try box.sample("f", size)
    box.fake.setClockOffset(ahead - 60 * minutesAgo)
    try await box.run(words).expectSuccess()
    box.fake.setClockOffset(ahead)
    return box
  }

  @Test(
    "a single PUT that is refused each time is 75, although the same bytes are at the key", arguments: refusals + doubts
  )
  func single(_ action: Fault.Action) async throws {
    let box = try await published(Self.single, 1000)
    box.fake.setFaults([Fault(.init(.putObject), action)])
    let result = try await box.run(Self.single + ["--retries", "2", "--metadata", "a=new"])
    result.expectFailure(75)
    #expect(box.fake.object("k")?.metadata == [:])
  }

  @Test(
    "a complete that is refused or lost each time is 75, the upload kept, even if the key has the same bytes and parts",
    arguments: refusals + doubts, [0, 10])
  func parts(_ action: Fault.Action, _ minutesAgo: Int64) async throws {
    let box = try await published(Self.parts, 11 * mebi, minutesAgo: minutesAgo)
    let made = box.fake.object("k")?.uploadID
    box.fake.setFaults([Fault(.init(.completeMultipartUpload), action)])
    let result = try await box.run(Self.parts + ["--retries", "2", "--metadata", "a=new"])
    result.expectFailure(75)
    result.expectResumable(75, "3 of 3 parts")
    #expect(box.fake.object("k")?.uploadID == made)
    #expect(box.fake.unfinishedUploads.count == 1)
    #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
    #expect(try box.records().count == 1)
    // The next run completes the upload.
    box.fake.setFaults([])
    try await box.run(Self.parts + ["--metadata", "a=new"]).expectSuccess()
    #expect(box.fake.object("k")?.metadata == ["a": "new"])
    #expect(box.fake.requests(.uploadPart).count == 6)
  }

  /// The upload is gone at the store, and its complete never ran.
  @Test("if complete never reached the store and the upload is then gone, an older object is not a success")
  func lostAndGone() async throws {
    let box = try await published(Self.parts, 11 * mebi, minutesAgo: 10)
    box.fake.setFaults([
      Fault(.init(.completeMultipartUpload, nth: 1), .resetBeforeReading),
      Fault(.init(.completeMultipartUpload, from: 2), .error(status: 404, code: "NoSuchUpload")),
    ])
    try await box.run(Self.parts).expectFailure(75)
  }

  /// This holds even if the store's clock is ahead: by this machine's clock the older object would be from the future.
  @Test(
    "a run whose recorded upload is gone begins a new one, and does not take an older object for its result",
    arguments: [0, 800])
  func recordedAndGone(_ ahead: Int64) async throws {
    let box = try await published(Self.parts, 11 * mebi, minutesAgo: 10, ahead: ahead)
    let made = box.fake.object("k")?.uploadID
    box.fake.setFaults([Fault(.init(.completeMultipartUpload), .error(status: 500, code: "InternalError"))])
    try await box.run(Self.parts + ["--retries", "1"]).expectFailure(75)
    box.fake.setFaults([])
    let id = try #require(box.fake.unfinishedUploads.first?.id)
    box.fake.dropUpload(id)
    let result = try await box.run(Self.parts)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("no longer has the upload"))
    let now = try #require(box.fake.object("k")?.uploadID)
    #expect(now != made && now != id)
  }

  // MARK: - It is ours

  @Test("an object whose complete succeeded is a success, although no answer ever said so")
  func everyAnswerLost() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.completeMultipartUpload, nth: 1), .loseAnswer),
      Fault(.init(.completeMultipartUpload, from: 2), .error(status: 500, code: "InternalError")),
    ])
    let bytes = try box.sample("f", 11 * mebi)
    let told = [
      "--metadata", "a=b c", "--metadata", "u=ü", "--cache-control", "no-cache", "--content-type", "text/x-test",
      "--sse", "AES256", "--storage-class", "STANDARD_IA",
    ]
    try await box.run(Self.parts + ["--retries", "2"] + told).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
    #expect(try box.records() == [])
  }

  @Test("a wrong clock of this machine does not change that")
  func wrongClock() async throws {
    for ahead: Int64 in [-600, 600] {
      let box = try BlackBox(faults: [
        Fault(.init(.completeMultipartUpload, nth: 1), .loseAnswer),
        Fault(.init(.completeMultipartUpload, from: 2), .error(status: 404, code: "NoSuchUpload")),
      ])
      box.fake.setClockOffset(ahead)
      try box.sample("f", 11 * mebi)
      try await box.run(Self.parts).expectSuccess()
    }
  }

  @Test("an object with these bytes but without the requested settings is another client's")
  func otherSettings() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.completeMultipartUpload, nth: 1), .loseAnswer),
      Fault(.init(.completeMultipartUpload, from: 2), .error(status: 404, code: "NoSuchUpload")),
      Fault(.init(.headObject, nth: 1), .stall(stage: .beforeBody)),
    ])
    let bytes = try box.sample("f", 11 * mebi)
    let child = try box.start(Self.parts + ["--metadata", "a=new", "--stall-timeout", "2s"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .headObject } })
    box.fake.putObject("k", bytes: bytes, headers: ["x-amz-meta-a": "old"])
    await child.wait().expectFailure(75)
  }

  @Test("--if-none-match recognises its own object by what was at the key before, whatever the clocks say")
  func createOnly() async throws {
    let box = try BlackBox(faults: [Fault(.init(.putObject, nth: 1), .loseAnswer)])
    try box.sample("f", 1000)
    try await box.run(Self.single + ["--if-none-match"]).expectSuccess()
  }

  @Test(
    "an object that the killed run has completed is a success also where an existing object is to be left as it is",
    arguments: ["--if-none-match", "--if-match", "--skip-existing", "--skip-same"], [false, true])
  func completedUnderCondition(_ option: String, isTree: Bool) async throws {
    let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), .stall(stage: .beforeAnswer))])
    let bytes = try box.sample("d/k", StoppedUpload.size)
    var words = isTree ? ["put", "-r", "d", "s3://bucket/"] : ["put", "d/k", "s3://bucket/k"]
    words += ["--part-size", "5M", option]
    if option == "--if-match" {
      guard !isTree else { return }
      box.fake.putObject("k", bytes: [1])
      words.append(try #require(box.fake.object("k")).etag)
    }
    let child = try box.start(words)
    #expect(await box.fake.wait { _ in box.fake.object("k")?.holds(bytes) == true })
    child.signal(SIGKILL)
    _ = await child.wait()
    #expect(try box.records().count == 1)
    box.fake.setFaults([])
    let result = try await box.run(words + ["--json"])
    result.expectSuccess()
    let line = result.lines.first ?? ""
    #expect(line.hasPrefix(#"{"event":"completed""#) && line.contains(#""bytes_resumed":\#(bytes.count)"#), "\(line)")
    #expect(box.fake.requests(.createMultipartUpload).count == 1)
    #expect(try box.records() == [])
  }

  @Test("an object of another client, which is to be left as it is, is not taken for that of the killed run")
  func otherUnderCondition() async throws {
    for (isGone, option) in [(false, "--if-none-match"), (true, "--if-none-match"), (true, "--skip-existing")] {
      let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), .stall(stage: .beforeBody))])
      let bytes = try box.sample("f", StoppedUpload.size)
      let child = try box.start(StoppedUpload.words + [option])
      #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload } })
      child.signal(SIGKILL)
      _ = await child.wait()
      box.fake.setFaults([])
      let id = try #require(box.fake.unfinishedUploads.first?.id)
      if isGone { box.fake.dropUpload(id) }
      box.fake.putObject("k", bytes: [UInt8](repeating: 1, count: bytes.count))
      let result = try await box.run(StoppedUpload.words + [option])
      #expect(result.status == (option == "--skip-existing" ? 0 : 73), "\(result.errors)")
      #expect(box.fake.object("k")?.holds(bytes) == false)
      #expect(box.fake.unfinishedUploads.map(\.id) == (isGone ? [] : [id]))
      #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
      #expect(try box.records().count == 1)
    }
  }
}
