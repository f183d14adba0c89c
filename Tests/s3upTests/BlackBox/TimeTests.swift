import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// Options that promise a time keep it.
@Suite(.crowd) struct TimeTests {
  private static let put = ["put", "f", "s3://bucket/k"]

  static let standing: [(FakeOperation, Int, [String])] = [
    (.createMultipartUpload, 11, []), (.headObject, 11, ["--if-none-match"]), (.putObject, 1, []),
    (.listMultipartUploads, 11, ["--resume", "adopt"]),
  ]

  @Test("--deadline ends the run whatever it is doing: looking, creating, a single request", arguments: standing)
  func deadline(_ operation: FakeOperation, _ size: Int, _ options: [String]) async throws {
    let box = try BlackBox(faults: [Fault(.init(operation), .stall(stage: .beforeBody))])
    try box.sample("f", size * mebi)
    let lag = Lag()
    let result = try await box.run(Self.put + ["--deadline", "1s", "--json"] + options)
    #expect(result.status == 75 && result.json["code"] as? String == "deadline", "\(result.errors)")
    #expect(.seconds(result.seconds) - lag.sofar < .milliseconds(1750))
    #expect(box.fake.objectCount == 0)
  }

  @Test(
    "--deadline that ends while the store asks for less reports that",
    arguments: [FakeOperation.uploadPart, .createMultipartUpload])
  func throttled(_ operation: FakeOperation) async throws {
    let box = try BlackBox(faults: [Fault(.init(operation), .error(status: 503, code: "SlowDown"))])
    try box.sample("f", 11 * mebi)
    let result = try await box.run(Self.put + ["--deadline", "2s"])
    result.expectFailure(75, "the time given by --deadline is over; the last try failed: the store says SlowDown")
  }

  @Test(
    "In a run of many it also reports that, whether the store was asked for a list or for an object",
    arguments: [
      (["get", "-r", "s3://bucket/p/", "down"], FakeOperation.listObjects),
      (["get", "-r", "s3://bucket/p/", "down"], .getObject),
      (["put", "-r", "t", "s3://bucket/p/"], .putObject), (["verify", "-r", "t", "s3://bucket/p/"], .headObject),
    ])
  func manyThrottled(_ command: [String], _ operation: FakeOperation) async throws {
    let box = try BlackBox(faults: [Fault(.init(operation), .error(status: 503, code: "SlowDown"))])
    try box.sample("t/f", 100)
    box.fake.putObject("p/f", bytes: Array("old".utf8))
    let result = try await box.run(command + ["--deadline", "2s"])
    result.expectFailure(75, "the time given by --deadline is over; the last try failed: the store ")
  }

  @Test("--deadline ends the run while a file is summed, before anything is sent", .enabled(if: BlackBox.measures))
  func summing() async throws {
    let box = try BlackBox()
    // Reading it would take minutes.
    _ = try box.files.sparseFile("f", size: 1 << 37)
    let lag = Lag()
    let words = ["--expect-sha256", String(repeating: "0", count: 64), "--deadline", "1s", "--json"]
    let result = try await box.run(Self.put + words)
    #expect(result.status == 75 && result.json["code"] as? String == "deadline", "\(result.errors)")
    #expect(.seconds(result.seconds) - lag.sofar < .milliseconds(2500))
    #expect(box.fake.requests.isEmpty)
  }

  @Test("--deadline ends the run while it waits or looks for credentials, and their own wait has its limit")
  func credentials() async throws {
    var box = try BlackBox(faults: [Fault(.all, .error(status: 400, code: "ExpiredToken"))])
    try box.sample("f", 11 * mebi)
    var lag = Lag()
    let ended = try await box.run(Self.put + ["--wait-for-credentials", "5m", "--deadline", "1s"])
    #expect(ended.status == 75, "\(ended.errors)")
    #expect(.seconds(ended.seconds) - lag.sofar < .milliseconds(1750))
    lag = Lag()
    let waited = try await box.run(Self.put + ["--wait-for-credentials", "1s"])
    #expect(waited.status == 77, "\(waited.errors)")
    #expect(.seconds(waited.seconds) - lag.sofar < .milliseconds(2500))
    let mute = try LocalService { _ in .init(200, "", .hang) }
    box.environment = ["AWS_ENDPOINT_URL_S3": box.fake.endpoint, "AWS_CONTAINER_CREDENTIALS_FULL_URI": mute.url + "/c"]
    lag = Lag()
    let silent = try await box.run(Self.put + ["--deadline", "1s"])
    #expect(silent.status == 75, "\(silent.errors)")
    #expect(.seconds(silent.seconds) - lag.sofar < .milliseconds(1750))
  }

  @Test("--stall-timeout also limits complete, and the upload is kept; white space from the store restarts the time")
  func completeStalls() async throws {
    let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), .stall(stage: .beforeBody))])
    try box.sample("f", 11 * mebi)
    let words = Self.put + ["--part-size", "5M", "--stall-timeout", "1s"]
    let lag = Lag()
    let result = try await box.run(words + ["--retries", "1"])
    #expect(result.status == 75, "\(result.errors)")
    #expect(.seconds(result.seconds) - lag.sofar < .seconds(5))
    box.fake.setFaults([Fault(.init(.completeMultipartUpload), .trickle(spaces: 10, milliseconds: 200))])
    let slow = try await box.run(words)
    #expect(slow.status == 0, "\(slow.errors)")
    #expect(box.fake.objectCount == 1)
  }
}
