import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// The timeline of a run says what the result says, however the run went.
@Suite(.crowd) struct TraceTests {
  private static let size = 26 * mebi
  private let put =
    ["put", "f", "s3://bucket/k", "--part-size", "5M", "--checksum", "sha256", "--concurrency", "2", "--hedge", "off"]
    + BlackBox.traced
  private let get = ["get", "s3://bucket/k", "out", "--part-size", "640K"] + BlackBox.traced

  private static let faultyPut = [
    Fault(.init(.uploadPart, partNumber: 2, nth: 1), .error(status: 503, code: "SlowDown")),
    Fault(.init(.uploadPart, partNumber: 3, nth: 1), .resetAfterBody(bytes: mebi)),
    Fault(.init(.uploadPart, partNumber: 5), .error(status: 500, code: "InternalError")),
    Fault(.init(.completeMultipartUpload, nth: 1), .error(status: 500, code: "InternalError")),
  ]

  @Test("The trace of a faulty upload adds up to the result: bytes, parts, retries and time")
  func upload() async throws {
    var faults = Self.faultyPut
    faults[2].match.nth = 1
    let box = try BlackBox(faults: faults)
    let bytes = try box.sample("f", Self.size)
    let result = try await box.run(put)
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.content.map { Array($0) } == bytes)
    let (trace, json) = (try box.trace(), result.json)
    trace.expectSound()
    trace.expectAgrees(with: json, bytes: "bytes_sent")
    // A part whose connection is reset when it is not its first is repeated by libcurl itself.
    let retries = try #require(json["retries"] as? Int)
    #expect((3...4).contains(retries) && json["parts"] as? Int == 6 && trace.total("parts") == 6)
    #expect(Set(trace.slices("part").compactMap { $0.facts["part"] as? Int }) == Set(1...6))
    #expect(trace.slices("failed", of: "connections").count == 4)
    #expect(trace.slices("assembly", of: "connections").count == 1 && trace.slices("assembly", of: "phases").count >= 1)
    #expect(!trace.slices("work").filter { $0.name == "checksums" }.isEmpty)
    #expect(!trace.slices("connect").isEmpty)
    let object = try #require(trace.slices("object").first)
    #expect(object.name == "k" && object.facts["parts"] as? Int == 6 && object.facts["size"] as? Int == Self.size)
    #expect(object.facts["evidence"] as? String == json["evidence"] as? String)
    let page = try box.page()
    #expect(page.contains("503") && page.contains("throttled") && page.contains("<td>\(json["bytes_sent"] as! Int) ("))
    #expect(page.contains("parts        6 parts of 5.0 MiB"), "\(page)")
    try box.keepTrace("put", result)
  }

  @Test("The trace of a faulty download adds up to the result")
  func download() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.getObject, rangeFrom: 0, nth: 1), .truncateAnswer(bytes: 100_000)),
      Fault(.init(.getObject, rangeFrom: 640 << 10, nth: 1), .error(status: 503, code: "SlowDown")),
      // Not a lost answer: on the connection of the HEAD libcurl would repeat that itself.
      Fault(.init(.getObject, rangeFrom: 1280 << 10, nth: 1), .truncateAnswer(bytes: 1)),
    ])
    let bytes = try box.sample("source", 3 * mebi + 70_001)
    box.fake.putObject("k", bytes: bytes)
    let result = try await box.run(get)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try box.files.read("out") == bytes)
    let (trace, json) = (try box.trace(), result.json)
    trace.expectSound()
    trace.expectAgrees(with: json, bytes: "bytes_received")
    #expect(json["retries"] as? Int == 3 && json["parts"] as? Int == 5 && trace.total("parts") == 5)
    #expect(trace.total("bytes_sent") == 0)
    #expect(Set(trace.slices("part").map(\.name)) == Set((1...5).map { "range \($0)" }))
    #expect(trace.slices("failed", of: "connections").count == 3)
    #expect(trace.slices("phase").map(\.name).contains("receiving"))
    #expect(try box.page().contains("ranges       of 640 KiB, as --part-size says"))
    try box.keepTrace("get", result)
  }

  @Test("Runs of many, up and down, have one timeline, which adds up to the summary")
  func many() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.putObject, key: "p/f3", nth: 1), .error(status: 500, code: "InternalError")),
      Fault(.init(.getObject, key: "p/f4", nth: 1), .error(status: 500, code: "InternalError")),
    ])
    for number in 1...40 { try box.sample("t/f\(number)", 1000 + number) }
    try box.sample("t/large", 11 * mebi)
    for (words, bytes, ended) in [
      (["put", "-r", "t", "s3://bucket/p/", "--part-size", "5M"], "bytes_sent", "uploaded"),
      (["get", "-r", "s3://bucket/p/", "down"], "bytes_received", "downloaded"),
    ] {
      let result = try await box.run(words + BlackBox.traced)
      #expect(result.status == 0, "\(result.errors)")
      let last = try #require(result.lines.last)
      let summary = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
      #expect(summary["event"] as? String == "summary" && summary[ended] as? Int == 41)
      let trace = try box.trace()
      trace.expectSound()
      trace.expectAgrees(with: summary, bytes: bytes)
      #expect(summary["retries"] as? Int == 1)
      #expect(trace.slices("object").count == 41 && trace.total("objects") == 41)
      _ = try box.page()
    }
    #expect(box.fake.object("p/trace.json") == nil)
  }

  @Test("An upload by a ticket and a download from a URL have timelines too, without their signatures")
  func ticket() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "t.json", "--part-size", "5M").expectSuccess()
    let result = try await box.stranger.run(["put", "f", "--ticket", "t.json"] + BlackBox.traced)
    #expect(result.status == 0, "\(result.errors)")
    let trace = try box.trace()
    trace.expectSound()
    trace.expectAgrees(with: result.json, bytes: "bytes_sent")
    try expectUnsigned(box)
    let url = try #require(try await box.run("presign", "s3://bucket/k").lines.first)
    #expect(url.contains("Signature"))
    let down = try await box.stranger.run(["get", url, "out"] + BlackBox.traced)
    #expect(down.status == 0, "\(down.errors)")
    try box.trace().expectAgrees(with: down.json, bytes: "bytes_received")
    try expectUnsigned(box)
  }

  private func expectUnsigned(_ box: BlackBox, where location: SourceLocation = #_sourceLocation) throws {
    for file in ["trace.json", "report.html"] {
      let text = String(decoding: try box.files.read(file), as: UTF8.self)
      #expect(!text.contains("Signature") && !text.contains("X-Amz"), sourceLocation: location)
    }
  }

  @Test("An interrupted run has a whole trace and page, which say how it ended", arguments: [SIGINT, SIGTERM])
  func interrupted(_ signal: Int32) async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 2), .stall(stage: .withinBody))])
    try box.sample("f", 11 * mebi)
    let child = try box.start(put)
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 2 } })
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 128 + signal, "\(result.errors)")
    let trace = try box.trace()
    trace.expectSound()
    #expect(trace.slices("stopped", of: "connections").contains { $0.facts["part"] as? Int == 2 })
    #expect(trace.slices("stopped", of: "objects").count == 1 && trace.total("failed_objects") == 0)
    #expect(try box.page().contains("The exit status is \(128 + signal)."))
  }

  @Test("A run that cannot connect, one that is refused and one whose time is over have their traces")
  func failures() async throws {
    for (fault, status) in [
      (Fault(.init(.uploadPart), .error(status: 403, code: "AccessDenied")), Int32(77)),
      (Fault(.init(.uploadPart), .stall(stage: .beforeBody)), 75),
    ] {
      let box = try BlackBox(faults: [fault])
      try box.sample("f", 11 * mebi)
      let result = try await box.run(put + ["--deadline", "2s"])
      #expect(result.status == status, "\(result.errors)")
      let trace = try box.trace()
      trace.expectSound()
      #expect(trace.total("failed_objects") == 1)
      #expect(trace.total("parts") == 0)
    }
    var box = try BlackBox()
    box.environment["AWS_ENDPOINT_URL_S3"] = "http://127.0.0.1:1"
    try box.sample("f", 10)
    let result = try await box.run(put + ["--retries", "2"])
    #expect(result.status == 75, "\(result.errors)")
    let trace = try box.trace()
    trace.expectSound()
    let failed = trace.slices("failed", of: "requests without a connection").count
    #expect(failed > 1 && trace.total("failed_requests") == failed)
    #expect(trace.total("retries") == trace.slices("retry").count && trace.slices("retry").count > 0)
  }
}
