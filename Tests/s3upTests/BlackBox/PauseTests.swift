import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// Ctrl-Z and fg.
@Suite(.crowd) struct PauseTests {
  @Test("After SIGTSTP and SIGCONT the upload continues where it was, although every connection died meanwhile")
  func pause() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 3, nth: 1), .stall(stage: .withinBody))])
    let bytes = try box.sample("f", 27 * mebi)
    let child = try box.start(["put", "f", "s3://bucket/k", "--part-size", "5M", "--json", "--concurrency", "1"])
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 3 } })
    child.signal(SIGTSTP)
    #expect(await Self.comesTo("T", child.pid))
    // As after an hour: none of the old connections is alive.
    box.fake.dropConnections()
    child.signal(SIGCONT)
    let result = await child.wait(timeout: .seconds(60))
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests(.createMultipartUpload).count == 1)
    #expect(box.fake.partsSent(since: 0).filter { $0 < 3 }.count == 2)
  }

  /// Waits until a process has this state, the third word of its `stat`.
  private static func comesTo(_ state: String, _ pid: pid_t) async -> Bool {
    for _ in 0..<10_000 {
      let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
      if text.split(separator: ") ").last?.hasPrefix(state) == true { return true }
      try? await Task.sleep(for: .milliseconds(2))
    }
    return false
  }
}
