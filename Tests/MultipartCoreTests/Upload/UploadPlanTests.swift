import MultipartCore
import Testing

@Suite struct UploadPlanTests {
  private static let cuts: [(size: Int64, parts: Int, single: Bool)] = [
    (0, 1, true), (1, 1, true), (5 << 20, 1, true), (8 << 20, 1, true), (8_388_609, 2, false), (16 << 20, 2, false),
    (1 << 30, 128, false), (80_000 << 20, 10_000, false), (83_886_080_001, 8889, false),
  ]

  @Test("A source is cut into as many parts as it needs, and no more", arguments: cuts)
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

  @Test("48.8 TiB fit into 10,000 parts, and a byte more does not")
  func largest() throws {
    let plan = try UploadPlan(size: UploadPlan.largestObject)
    #expect(plan.partCount == 10_000)
    #expect(plan.partSize == 5 << 30)
    #expect(throws: Failure.self) { try UploadPlan(size: UploadPlan.largestObject + 1) }
  }

  @Test("A part size that S3 would refuse is refused before anything is sent")
  func bounds() throws {
    let sizes: [Int64] = [1, 5_242_879, 5_368_709_121, 0, -1]
    for size in sizes {
      let failure = #expect(throws: Failure.self) { try UploadPlan(size: 100 << 20, partSize: size) }
      #expect(failure?.code == .usage)
    }
    let failure = #expect(throws: Failure.self) { try UploadPlan(size: 100 << 30, partSize: 5 << 20) }
    #expect(failure?.hint?.contains("11M") == true)
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
