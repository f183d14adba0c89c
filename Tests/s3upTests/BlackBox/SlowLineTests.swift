import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct SlowLineTests {
  private let put = ["put", "f", "s3://bucket/k", "--part-size", "5M"]

  private func partsThere(_ box: BlackBox) -> Int { box.fake.unfinishedUploads.first?.parts.count ?? 0 }

  @Test(
    "If a device buffers eight parts, the first is stored before half is passed on, a signal keeps it, the line is known"
  )
  func buffered() async throws {
    let size = 40 * mebi
    var box = try BlackBox()
    let bytes = try box.sample("f", size)
    let line = try await SlowLine(to: box.fake.port, rate: 500_000, buffer: 4 * mebi)
    box.environment["AWS_ENDPOINT_URL_S3"] = line.endpoint
    let child = try box.start(put)
    try await until("a part is at the store") { child.ended || partsThere(box) > 0 }
    #expect(line.passed < size / 2, "\(line.passed)")
    child.signal(SIGTERM)
    let stopped = await child.wait(timeout: .seconds(30))
    stopped.expectFailure(143, "interrupted")
    stopped.expectResumable(143)
    #expect(partsThere(box) >= 1)
    let memory = StoreMemory(folder: box.binary.home.path + "/.local/state/s3up")
    let now = Timestamp(seconds: Int64(Date().timeIntervalSince1970))
    #expect(memory.lessons(of: line.endpoint, now: now).line == .buffered)
    await line.set(rate: 50_000_000)
    try await box.expectResumes(put, to: bytes)
  }
}
