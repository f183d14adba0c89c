/// How the requested bytes of an object are divided into ranges, one request each; numbered from 1.
struct RangePlan: Sendable, Equatable {
  /// The position in the object at which the first range begins.
  let start: Int64
  let size: Int64
  let rangeSize: Int64

  init(start: Int64 = 0, size: Int64, rangeSize: Int64) {
    (self.start, self.size, self.rangeSize) = (start, size, max(1, rangeSize))
  }

  /// The number of ranges; no bytes need no request.
  var count: Int { size > 0 ? cut.count : 0 }
  private var cut: PartCut { PartCut(size, partSize: rangeSize) }

  /// The position of a range among the requested bytes.
  func range(of number: Int) -> (offset: Int64, length: Int64) { cut.range(of: number) }
}
