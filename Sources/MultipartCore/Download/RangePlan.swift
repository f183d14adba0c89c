/// How the bytes that are wanted of an object are cut into ranges, each of one request; numbered from 1.
package struct RangePlan: Sendable, Equatable {
  /// Where in the object the first one begins.
  package let start: Int64
  package let size: Int64
  package let rangeSize: Int64

  package init(start: Int64 = 0, size: Int64, rangeSize: Int64) {
    (self.start, self.size, self.rangeSize) = (start, size, max(1, rangeSize))
  }

  /// No byte needs no request.
  package var count: Int { Int(clamping: size / rangeSize + (size % rangeSize == 0 ? 0 : 1)) }

  /// Where it lies among the bytes that are wanted.
  package func range(of number: Int) -> (offset: Int64, length: Int64) {
    let offset = Int64(number - 1) * rangeSize
    return (offset, min(rangeSize, size - offset))
  }
}
