import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// Whole uploads over a model of a line, with as many connections as the run finds useful, compared with fixed numbers
/// of them.
@Suite(.timeLimit(.minutes(15))) struct ModelLineTests {
  /// Thirteen parts of 5 MiB are as many bytes as eight of 8 MiB.
  private static let bounds = Pace.Bounds(start: 13, most: 48, mostWhenLossy: 64, opening: 13)
  /// The bounds for parts of 8 MiB, however many parts of 5 MiB they mean.
  private static let ofLargerParts = Pace.Bounds(start: 8, most: 48, mostWhenLossy: 64, opening: 8)
  /// The bounds of a run whose store's line was lossy the last time.
  private static let again = Pace.Bounds(start: 32, most: 48, mostWhenLossy: 64, opening: .max)

  private static func seconds(_ line: ModelLine, _ mib: Int, _ bounds: Pace.Bounds) throws -> Double {
    try played(line, mib, bounds).seconds
  }

  /// Plays an upload, for at most `most` seconds; also returns the messages about the number of connections.
  private static func played(
    _ line: ModelLine, _ mib: Int, _ bounds: Pace.Bounds?, fixed: Int = 8, most: Double = 1200
  ) throws -> (seconds: Double, told: String) {
    let count = (mib + 4) / 5
    var upload = try PlayedUpload(parts: count, partSize: 5 << 20, bounds: bounds, concurrency: fixed, line: line)
    while upload.done.count < count, upload.story.now < .seconds(most) { upload.run(.milliseconds(100)) }
    return (upload.story.now / .seconds(1), "\(upload.story.notices)")
  }

  /// The time of the best of some fixed numbers of connections, and that number. The others are not played to their end.
  private static func best(_ play: (_ fixed: Int, _ most: Double) throws -> Double) rethrows -> (
    seconds: Double, connections: Int
  ) {
    var found = (seconds: 1200.0, connections: 0)
    for fixed in [64, 32, 16, 8, 4] {
      let took = try play(fixed, found.seconds)
      if took < found.seconds { found = (took, fixed) }
    }
    return found
  }

  private static func best(_ line: ModelLine, _ mib: Int) throws -> (seconds: Double, connections: Int) {
    try best { try played(line, mib, nil, fixed: $0, most: $1).seconds }
  }

  /// Round trip in ms, share of the packets lost, Mbit/s, MiB.
  private static let lines: [(Int, Double, Double, Int)] = [
    (50, 0.005, 1000, 64), (50, 0.005, 1000, 512), (20, 0.001, 1000, 512), (50, 0.001, 500, 512),
    (200, 0.005, 500, 256), (200, 0, 500, 512), (50, 0, 100, 256), (50, 0, 20, 64), (20, 0.02, 500, 256),
    (50, 0.02, 50, 64), (50, 0.001, 20, 64), (50, 0.005, 8, 40), (1, 0, 1000, 512),
    (200, 0.02, 1000, 64), (200, 0.02, 1000, 256),
  ]

  @Test("Without options an upload needs little more time than with the best number of connections", arguments: lines)
  func table(_ trip: Int, _ loss: Double, _ mbit: Double, _ mib: Int) async throws {
    let line = ModelLine(roundTrip: .milliseconds(trip), rate: mbit * 125_000, loss: loss)
    let (own, best) = try await aside { (try Self.played(line, mib, Self.bounds), try Self.best(line, mib)) }
    #expect(
      own.seconds <= best.seconds * 1.3,
      "\(own.seconds) s, and \(best.seconds) s with \(best.connections) connections: \(own.told)")
  }

  @Test(
    "On a slow, long and lossy line it needs half as much again: many parts at once would all be lost with the line")
  func slow() async throws {
    let line = ModelLine(roundTrip: .milliseconds(200), rate: 1_000_000, loss: 0.005)
    let (own, best) = try await aside { (try Self.played(line, 80, Self.bounds), try Self.best(line, 80)) }
    #expect(own.seconds <= best.seconds * 1.5, "\(own.seconds) s, and \(best.seconds) s: \(own.told)")
  }

  @Test("On random lines it needs a fifth longer on average, and nowhere twice as long")
  func random() async throws {
    let ratios = try await aside {
      var dice = SimDice(seed: 18)
      return try (0..<24).map { seed in
        let trip = [20, 50, 100, 200][dice.below(4)]
        let loss = [0, 0, 0.0005, 0.001, 0.005, 0.02][dice.below(6)]
        let mbit = [10.0, 50, 200, 1000, 2000][dice.below(5)]
        let line = ModelLine(
          roundTrip: .milliseconds(trip), rate: mbit * 125_000, loss: loss, buffer: [0.02, 0.05, 0.2][dice.below(3)],
          seed: UInt64(seed))
        // The upload takes from eight seconds to a minute and a half, if the line is full.
        let mib = Int(mbit / 8 * Double(8 + dice.below(20)))
        let size = min(max(40, mib), 512)
        let ratio = try Self.seconds(line, size, Self.bounds) / Self.best(line, size).seconds
        return (ratio, "\(trip) ms, \(loss * 100) %, \(Int(mbit)) Mbit/s, \(size) MiB")
      }
    }
    let long = ratios.filter { $0.0 > 1.4 }
    #expect(ratios.reduce(0) { $0 + $1.0 } / Double(ratios.count) <= 1.2, "\(ratios)")
    #expect(long.count * 6 <= ratios.count, "\(long)")
    #expect(ratios.allSatisfy { $0.0 <= 2 }, "\(long)")
  }

  /// A line that changes after some seconds.
  struct Story: Sendable, CustomTestStringConvertible {
    let name: String
    let mib: Int
    let lines: [(until: Double, line: ModelLine)]
    var breaks = false

    var testDescription: String { name }

    /// Plays it for at most `most` seconds. Returns the seconds, and how often the number of connections changed after
    /// the first ten.
    func play(
      _ bounds: Pace.Bounds?, fixed: Int = 8, most: Double = 1200
    ) throws -> (seconds: Double, changes: Int, told: String) {
      let count = (mib + 4) / 5
      var upload = try PlayedUpload(
        parts: count, partSize: 5 << 20, bounds: bounds, concurrency: fixed, line: lines[0].line)
      var (current, windows, window) = (0, 0, 0)
      while upload.done.count < count, upload.story.now < .seconds(most) {
        upload.run(.milliseconds(100))
        let now = upload.story.now / .seconds(1)
        if now >= lines[current].until {
          current += 1
          upload.line = lines[current].line
          if breaks { upload.breakAll() }
        }
        if now > 10, upload.story.machine.window != window { windows += 1 }
        window = upload.story.machine.window
      }
      return (upload.story.now / .seconds(1), windows, "\(upload.story.notices)")
    }

    private static func line(_ trip: Int, _ mbit: Double, _ loss: Double = 0) -> ModelLine {
      ModelLine(roundTrip: .milliseconds(trip), rate: mbit * 125_000, loss: loss)
    }

    static let all = [
      Story(name: "much slower", mib: 300, lines: [(10, line(50, 200)), (.infinity, line(50, 20))]),
      Story(name: "much faster", mib: 600, lines: [(20, line(50, 20)), (.infinity, line(50, 500))]),
      Story(name: "lossy after a while", mib: 700, lines: [(3, line(50, 1000)), (.infinity, line(50, 1000, 0.005))]),
      Story(name: "clean after a while", mib: 800, lines: [(15, line(50, 500, 0.005)), (.infinity, line(50, 500))]),
      Story(
        name: "a pause of 20 s", mib: 400,
        lines: [(10, line(50, 100)), (30, line(50, 100, 1)), (.infinity, line(50, 100))]),
      Story(
        name: "another network, longer and lossy", mib: 500,
        lines: [(10, line(20, 200)), (.infinity, line(200, 200, 0.002))], breaks: true),
      Story(
        name: "another network, shorter and faster", mib: 800,
        lines: [(15, line(200, 20, 0.001)), (.infinity, line(5, 500))], breaks: true),
      Story(
        name: "fast and slow every eight seconds", mib: 400,
        lines: (1...30).map { (Double($0) * 8, line(50, $0 % 2 == 0 ? 20 : 200)) } + [(.infinity, line(50, 100))]),
    ]
  }

  @Test("When the line changes, the number of connections follows, and does not oscillate", arguments: Story.all)
  func changes(_ story: Story) async throws {
    let (own, best) = try await aside {
      (try story.play(Self.ofLargerParts), try Self.best { try story.play(nil, fixed: $0, most: $1).seconds })
    }
    #expect(
      own.seconds <= best.seconds * 1.3,
      "\(own.seconds) s, and \(best.seconds) s with \(best.connections) connections: \(own.told)")
    #expect(Double(own.changes) <= 4 + own.seconds / 5, "\(own.changes) changes in \(own.seconds) s")
  }

  @Test("Where chance alone makes some connections slow, few parts are sent twice")
  func copies() async throws {
    let copies = try await aside {
      try (1...12).map { seed in
        let line = ModelLine(roundTrip: .milliseconds(50), rate: 125_000_000, loss: 0.005, seed: UInt64(seed))
        var upload = try PlayedUpload(parts: 13, partSize: 5 << 20, bounds: Self.bounds, line: line)
        while upload.done.count < 13, upload.story.now < .seconds(1200) { upload.run(.milliseconds(100)) }
        return upload.copies
      }
    }
    #expect(copies.reduce(0, +) <= 3, "\(copies)")
  }

  @Test("A run on a line that is known to be lossy begins with many connections")
  func known() async throws {
    let line = ModelLine(roundTrip: .milliseconds(50), rate: 125_000_000, loss: 0.005)
    let (first, second, best) = try await aside {
      (try Self.seconds(line, 256, Self.bounds), try Self.seconds(line, 256, Self.again), try Self.best(line, 256))
    }
    #expect(second <= first && second <= best.seconds * 1.2, "\(first) s, \(second) s, \(best)")
  }
}
