@testable import MultipartCore
import Testing

/// Lines with a device that accepts bytes at once, acknowledges them, and passes them on more slowly: a proxy, a
/// tunnel, a container's network.
@Suite struct BufferedLineStories {
  private static let mega = 1_048_576.0

  private func upload(
    parts: Int = 60, part: Int64 = 8, buffer: Double?, buffers: Buffers = .possible, rate: @escaping (Int) -> Double
  ) throws -> PlayedUpload {
    let bounds = Pace.Bounds(start: part == 8 ? 8 : 13, most: 48, opening: buffers == .known ? 1 : .max)
    var upload = try PlayedUpload(parts: parts, partSize: part << 20, bounds: bounds, buffers: buffers, rate: rate)
    upload.buffer = buffer.map { $0 * Self.mega }
    upload.roundTrip = .microseconds(100)
    return upload
  }

  /// The seconds of the line, beyond one part, that an interruption costs now or that were lost before.
  private func cost(_ upload: PlayedUpload, _ rate: Double) -> Double {
    let part = Double(upload.story.settings.plan.partSize)
    return (rate * (upload.story.now / .seconds(1)) - Double(upload.done.count + 1) * part) / rate
  }

  @Test(
    "After 45 s everything that was passed on is at the store, except ten seconds of the line and one part",
    arguments: [(600_000, 5), (600_000, 8), (1_000_000, 8), (2_000_000, 8), (400_000, 5), (400_000, 8)], [2, 4])
  func stopped(_ line: (rate: Double, part: Int64), _ buffer: Double) throws {
    var upload = try upload(part: line.part, buffer: buffer) { _ in line.rate }
    upload.run(.seconds(45))
    #expect(cost(upload, line.rate) <= 10, "\(upload.done): \(upload.story.notices)")
    #expect(upload.out.count <= 2 && upload.stalls == 0)
  }

  @Test("On a fast line buffering does not matter", arguments: [1, 4, 100], [10, 50, 500])
  func fast(_ buffer: Double, _ mega: Double) throws {
    let uploads = try [Buffers.none, .possible].map { buffers in
      var upload = try upload(parts: 400, buffer: buffer, buffers: buffers) { _ in mega * Self.mega }
      upload.run(.seconds(10))
      return upload
    }
    #expect(uploads[0].story.notices == uploads[1].story.notices)
    #expect(uploads[0].done == uploads[1].done && uploads[1].lost == 0)
  }

  @Test("A store that needs seconds for each answer changes nothing", arguments: [2, 5, 14])
  func slowStore(_ seconds: Int) throws {
    let uploads = try [Buffers.none, .possible].map { buffers in
      var upload = try upload(parts: 400, buffer: nil, buffers: buffers) { _ in 100 * Self.mega }
      upload.answerTime = .seconds(seconds)
      upload.run(.seconds(100))
      return upload
    }
    #expect(uploads[0].story.notices == uploads[1].story.notices)
    #expect(uploads[0].done == uploads[1].done && uploads[0].lost == uploads[1].lost)
  }

  @Test("Once the line is fast again, so are all connections")
  func becomesFast() throws {
    var upload = try upload(parts: 400, buffer: 4) { _ in 600_000 }
    upload.run(.seconds(45))
    #expect(upload.out.count == 1)
    upload.rate = { _ in 50 * Self.mega }
    upload.run(.seconds(2))
    #expect(upload.out.count >= 8, "\(upload.story.notices)")
  }

  @Test("A line that is known to buffer begins with one part, and continues by its answers", arguments: [4, 100])
  func known(_ buffer: Double) throws {
    var slow = try upload(part: 5, buffer: buffer, buffers: .known) { _ in 600_000 }
    slow.run(.seconds(45))
    #expect(slow.most == 1 && slow.lost == 0 && slow.done.count == 5, "\(slow.story.notices)")
    var fast = try upload(parts: 400, part: 5, buffer: buffer, buffers: .known) { _ in 50 * Self.mega }
    fast.run(.seconds(1))
    #expect(fast.out.count >= 13, "\(fast.story.notices)")
  }

  @Test("If nothing is buffered any more, acknowledged bytes count again")
  func knownNoMore() throws {
    var upload = try upload(part: 5, buffer: nil, buffers: .known) { _ in 600_000 }
    upload.run(.seconds(10))
    #expect(!upload.story.machine.run.scheduler.lineBuffers)
    upload.rate = { _ in 50 * Self.mega }
    upload.run(.seconds(2))
    #expect(upload.out.count >= 13, "\(upload.story.notices)")
  }
}
