@testable import MultipartCore
import Testing

private let mib: Int64 = 1 << 20
private let gib: Int64 = 1 << 30

@Suite(.timeLimit(.minutes(15))) struct StreamPlanTests {
  private static let sizes: [(part: Int, mebibytes: Int64)] = [
    (1, 8), (1000, 8), (1001, 16), (1500, 16), (1501, 32), (2001, 64), (2501, 128), (3001, 256), (3501, 512),
    (4001, 1024), (4501, 2048), (5000, 2048), (5001, 4096), (5500, 4096), (5501, 5120), (10_000, 5120),
    (0, 0), (-1, 0), (10_001, 0),
  ]

  @Test("Parts begin at 8 MiB and double every 500 up to 5 GiB", arguments: sizes)
  func growth(part: Int, mebibytes: Int64) throws {
    #expect(try StreamPlan().size(ofPart: part) == mebibytes * mib)
  }

  @Test("The parts are consecutive without a gap, and the remaining capacity is theirs")
  func cover() throws {
    for plan in [try StreamPlan(), try StreamPlan(partSize: 5 << 20), try StreamPlan(expectedSize: 3 << 40)] {
      var next: Int64 = 0
      for number in 1...plan.partCount {
        #expect(plan.offset(ofPart: number) == next)
        next += plan.size(ofPart: number)
        #expect(plan.remaining(afterPart: number) == plan.capacity - next)
      }
      #expect(next == plan.capacity)
      #expect(plan.partCount == 10_000)
    }
  }

  @Test("Growing parts can hold 25.8 TiB, and those of 5 GiB 48.8 TiB")
  func capacity() throws {
    #expect(try StreamPlan().capacity == 27_136_000 * mib)
    #expect(try StreamPlan(partSize: 5 << 30).capacity == S3Limits.largestObject)
    #expect(try StreamPlan(expectedSize: S3Limits.largestObject).capacity == S3Limits.largestObject)
  }

  @Test("A known length gives the same parts as for a file")
  func expected() throws {
    for size: Int64 in [0, 1, 8 << 20, 100 << 30, 3 << 40] {
      let plan = try StreamPlan(expectedSize: size)
      #expect(plan.isEqual)
      #expect(plan.firstSize == (try UploadPlan(size: size).partSize))
      #expect(plan.capacity >= size)
    }
  }

  @Test("Equal parts are all equal, whatever the reason for them")
  func equal() throws {
    #expect(try StreamPlan(equalParts: true).steps == [StreamPlan.Step(parts: 10_000, size: 32 << 20)])
    #expect(try StreamPlan(partSize: 6 << 20, equalParts: true).firstSize == 6 << 20)
    #expect(try StreamPlan(partSize: 6 << 20).isEqual)
    #expect(try !StreamPlan().isEqual)
  }

  @Test("Part sizes that S3 refuses, or too small for the length, are refused before anything is read")
  func refused() throws {
    for size: Int64 in [0, -1, 5_242_879, 5_368_709_121] {
      #expect(throws: Failure.self) { try StreamPlan(partSize: size) }
    }
    #expect(throws: Failure.self) { try StreamPlan(partSize: 5 << 20, expectedSize: 100 << 30) }
    #expect(throws: Failure.self) { try StreamPlan(expectedSize: S3Limits.largestObject + 1) }
    let step = StreamPlan.Step.init
    for steps in [[], [step(0, 1)], [step(1, 0)], [step(1, 2), step(1, 1)], [step(10_001, 1)], [step(1, 6 << 30)]] {
      #expect(throws: Failure.self) { try StreamPlan(steps: steps) }
    }
  }

  @Test("The warning comes once less than a tenth of the parts or of the bytes is left")
  func warning() throws {
    #expect(try StreamPlan().warningPart == 9001)
    #expect(try StreamPlan(partSize: 5 << 20).warningPart == 9001)
    // All the bytes are in the last part: they are never nearly used up before it, but the parts are.
    #expect(try StreamPlan(steps: [.init(parts: 19, size: 1), .init(parts: 1, size: 1000)]).warningPart == 19)
    // 20 of 200 bytes are left after part 18, 10 after part 19.
    #expect(try StreamPlan(steps: [.init(parts: 20, size: 10)]).warningPart == 19)
    #expect(try StreamPlan(steps: [.init(parts: 1, size: 10)]).warningPart == 1)
  }

  private static let windows: [(part: Int, concurrency: Int, window: Int)] = [
    (1, 8, 8), (1, 1, 2), (1, 0, 2), (1001, 8, 4), (1501, 8, 2), (2001, 8, 2), (10_000, 8, 2), (1501, 64, 16),
    (10_001, 8, 0),
  ]

  @Test("As many parts are in memory as the first parts' budget allows, but at least two", arguments: windows)
  func window(part: Int, concurrency: Int, window: Int) throws {
    #expect(try StreamPlan().window(at: part, concurrency: concurrency) == window)
  }

  private static let caps: [(length: Int64?, concurrency: Int, cap: Int64)] = [
    (0, 8, 64 * mib), (7 * gib, 8, 64 * mib), (7 * gib, 1, 16 * mib), (20 * gib, 8, 64 * mib),
    (32 * gib, 8, 128 * mib), (900 * gib, 8, 2 * gib), (nil, 8, 10 * gib), (nil, 10_000, 80_000 * mib),
  ]

  @Test("The stated memory for a stream is what its windows need", arguments: caps)
  func memory(length: Int64?, concurrency: Int, cap: Int64) throws {
    let plan = try StreamPlan()
    #expect(plan.memoryCap(concurrency: concurrency, length: length) == cap)
    for number in stride(from: 1, through: plan.partCount, by: 100)
    where plan.offset(ofPart: number) < length ?? plan.capacity {
      #expect(Int64(plan.window(at: number, concurrency: concurrency)) * plan.size(ofPart: number) <= cap)
    }
  }
}
