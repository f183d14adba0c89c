import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// The events of `--json=all` in states other than sending.
@Suite(.crowd) struct ProgressBoxTests {
  /// Runs until an event of progress matches, and stops the run.
  private static func event(
    _ box: BlackBox, _ options: String..., size: Int = 16 * mebi, partSize: String = "5M",
    until fits: @escaping @Sendable ([String: Any]) -> Bool
  ) async throws -> [[String: Any]] {
    try box.sample("f", size)
    let out = box.files.path + "/out"
    let words = ["--part-size", partSize, "--json=all"] + options
    let line = "exec \"$S3UP\" put f s3://bucket/k \(words.joined(separator: " ")) >out"
    async let run = box.shell("echo $$ >pid; " + line)
    var events: [[String: Any]] = []
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      let text = (try? String(contentsOfFile: out, encoding: .utf8)) ?? ""
      events = text.split(separator: "\n").compactMap {
        (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
      }
      if events.contains(where: { fits($0) || $0["event"] as? String == "completed" }) { break }
      try await Task.sleep(for: .milliseconds(20))
    }
    if let pid = (try? String(contentsOfFile: box.files.path + "/pid", encoding: .utf8))
      .flatMap({ pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
    {
      kill(pid, SIGTERM)
    }
    _ = try await run
    return events.filter { fits($0) }
  }

  @Test("A store that stalls is reported as stalled, without a rate or time left")
  func stalled() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart), .stall(stage: .withinBody))])
    let events = try await Self.event(box, size: 64 * mebi, partSize: "32M") {
      ($0["state"] as? String)?.hasPrefix("stalled for ") == true
    }
    let event = try #require(events.first)
    #expect(event["eta_seconds"] is NSNull && event["bytes_per_second"] is NSNull, "\(event)")
    // Half of each part has been read. The buffers on both sides hold 10 MiB at most, less than the rest.
    #expect(event["bytes"] as? Int ?? .max < 64 * mebi, "\(event)")
  }

  @Test(
    "While nothing is answered it says so, for how long, and which try it is, although buffers take the bytes again")
  func unanswered() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart), .stall(stage: .withinBody))])
    // Many tries, because a busy machine may report nothing during one of them.
    let events = try await Self.event(
      box, "--stall-timeout", "2s", "--retries", "10", size: 64 * mebi, partSize: "32M"
    ) {
      ($0["state"] as? String).flatMap(Self.tryAndSeconds).map { $0.number >= 3 } ?? false
    }
    let event = try #require(events.first)
    let state = try #require(event["state"] as? String)
    let (number, seconds) = try #require(Self.tryAndSeconds(state))
    // Each of the tries before has waited two seconds for an answer.
    #expect(seconds >= 2 * (number - 1), "\(state)")
    #expect(event["eta_seconds"] is NSNull && event["bytes_per_second"] is NSNull, "\(event)")
  }

  private static func tryAndSeconds(_ state: String) -> (number: Int, seconds: Int)? {
    guard let match = state.wholeMatch(of: /no answer for (\d+)s, trying again \((\d+) of 10\)/),
      let seconds = Int(match.1), let number = Int(match.2)
    else { return nil }
    return (number, seconds)
  }

  @Test("While the store assembles the object, that is reported, without a rate")
  func assembling() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.completeMultipartUpload), .trickle(spaces: 60, milliseconds: 100))
    ])
    let events = try await Self.event(box) { $0["state"] as? String == "assembling" }
    let event = try #require(events.first)
    #expect(event["eta_seconds"] is NSNull && event["bytes_per_second"] is NSNull, "\(event)")
    #expect(event["bytes"] as? Int == 16 * mebi)
  }

  @Test("Waiting for credentials is reported")
  func credentials() async throws {
    var box = try BlackBox()
    box.environment["AWS_ACCESS_KEY_ID"] = nil
    box.environment["AWS_SECRET_ACCESS_KEY"] = nil
    let events = try await Self.event(box, "--wait-for-credentials", "5m") {
      $0["state"] as? String == "waiting for credentials"
    }
    #expect(!events.isEmpty)
  }

  @Test("While all parts wait for a retry, the store's reason and the time are reported")
  func retrying() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart), .error(status: 503, code: "SlowDown", headers: ["Retry-After": "30"]))
    ])
    let events = try await Self.event(box) {
      ($0["state"] as? String)?.hasPrefix("the store says SlowDown, next try in ") == true
    }
    #expect(!events.isEmpty)
  }
}
