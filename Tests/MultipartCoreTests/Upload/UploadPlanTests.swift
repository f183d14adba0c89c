import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@Suite(.timeLimit(.minutes(15))) struct UploadPlanTests {
  private static let cuts: [(size: Int64, parts: Int, single: Bool)] = [
    (0, 1, true), (1, 1, true), (5 << 20, 1, true), (8 << 20, 1, true), (8_388_609, 2, false), (16 << 20, 2, false),
    (1 << 30, 128, false), (80_000 << 20, 10_000, false), (83_886_080_001, 8889, false),
  ]

  @Test("A source is divided into as many parts as it needs, and no more", arguments: cuts)
  func counts(size: Int64, parts: Int, single: Bool) throws {
    let plan = try UploadPlan(size: size)
    #expect(plan.partCount == parts)
    #expect(plan.isSingle == single)
  }

  @Test("The parts cover the source without gap or overlap, and only the last is shorter")
  func cover() throws {
    let sizes: [Int64] = [8_388_609, 100 << 20, 104_857_617, 3 << 40]
    for size in sizes {
      let plan = try UploadPlan(size: size)
      var next: Int64 = 0
      for number in 1...plan.partCount {
        let (offset, length) = plan.range(of: number)
        #expect(offset == next)
        #expect(length == plan.partSize || number == plan.partCount)
        #expect(length > 0)
        next = offset + length
      }
      #expect(next == size)
    }
  }

  @Test("On a fast line parts of a large file are larger; on a slow one they are the smallest")
  func line() throws {
    func part(_ size: Int64, _ line: LineClass) throws -> Int64 {
      try UploadPlan(size: size, line: line).partSize >> 20
    }
    for size: Int64 in [100 << 20, 1 << 30, 100 << 30] { #expect(try part(size, .usual) == (size > 80 << 30 ? 11 : 8)) }
    #expect(try part(100 << 20, .fast) == 8 && part(100 << 20, .fastest) == 8)
    #expect(try part(1 << 30, .fast) == 16 && part(1 << 30, .fastest) == 16)
    #expect(try part(4 << 30, .fast) == 16 && part(4 << 30, .fastest) == 32)
    for line in [LineClass.slow, .lossy, .buffered] {
      #expect(try part(100 << 20, line) == 5 && part(100 << 30, line) == 11)
    }
    #expect(try UploadPlan(size: 1 << 40, line: .fastest).partSize == 105 << 20)
    let small = try UploadPlan(size: 7 << 20, line: .slow)
    #expect(small.isSingle && small.range(of: 1) == (0, 7 << 20))
    #expect(try UploadPlan(size: 4 << 30, partSize: 6 << 20, line: .fastest).partSize == 6 << 20)
    let rates = [0, 0.9, 1.1, 6.9, 7.1, 199, 201, 799, 801].map { LineClass(bytesPerSecond: $0 * 1_048_576) }
    #expect(
      LineClass.fast.bounded(by: .bytesPerSecond(1000)) == .slow
        && LineClass.slow.bounded(by: .bytesPerSecond(1 << 40)) == .slow)
    #expect(LineClass.fast.bounded(by: nil) == .fast)
    #expect(rates == [.slow, .slow, .modest, .modest, .usual, .usual, .fast, .fast, .fastest])
  }

  @Test("The parts of an upload show its plan, or that it is of another file")
  func found() throws {
    let size: Int64 = 100 << 20
    let part: Int64 = 16 << 20
    #expect(UploadPlan(size: size, parts: [1: part, 3: part])?.partCount == 7)
    #expect(UploadPlan(size: size, parts: [7: 4 << 20, 2: part])?.partCount == 7)
    #expect(UploadPlan(size: size, parts: [:]) == nil)
    #expect(UploadPlan(size: size, parts: [1: part, 2: part - 1]) == nil)
    #expect(UploadPlan(size: size, parts: [8: part]) == nil)
    #expect(UploadPlan(size: size, parts: [1: 100]) == nil, "smaller than a part can be")
    #expect(UploadPlan(size: size, parts: [1: size]) == nil, "one part is no upload of this program")
    #expect(UploadPlan(size: size, parts: [0: part]) == nil)
  }

  @Test("48.8 TiB fit into 10,000 parts, and a byte more does not")
  func largest() throws {
    let plan = try UploadPlan(size: S3Limits.largestObject)
    #expect(plan.partCount == 10_000)
    #expect(plan.partSize == 5 << 30)
    #expect(throws: Failure.self) { try UploadPlan(size: S3Limits.largestObject + 1) }
  }

  @Test("A part size that S3 would refuse is refused before anything is sent")
  func bounds() throws {
    let sizes: [Int64] = [1, 5_242_879, 5_368_709_121, 0, -1]
    for size in sizes {
      let failure = #expect(throws: Failure.self) { try UploadPlan(size: 100 << 20, partSize: size) }
      #expect(failure?.code == .usage)
    }
    let failure = #expect(throws: Failure.self) { try UploadPlan(size: 100 << 30, partSize: 5 << 20) }
    #expect(failure?.remedy?.contains("11M") == true)
    #expect(try UploadPlan(size: 12 << 20, partSize: 5 << 20).partCount == 3)
  }

  @Test("a threshold decides between one request and parts, up to what one request can carry")
  func threshold() throws {
    func plan(_ size: Int64, _ threshold: Int64) throws -> UploadPlan {
      try UploadPlan(size: size, partSize: 8 << 20, threshold: threshold)
    }
    let whole = try plan(100 << 20, 200 << 20)
    #expect(whole.isSingle && whole.partCount == 1 && whole.range(of: 1) == (0, 100 << 20))
    let small = try plan(6 << 20, 6 << 20)
    #expect(!small.isSingle && small.partCount == 1)
    #expect(try plan(0, 1).isSingle)
    #expect(try !plan(6 << 30, 7 << 30).isSingle)
    #expect(try plan(100 << 20, 100 << 20).partCount == 13)
  }
}
