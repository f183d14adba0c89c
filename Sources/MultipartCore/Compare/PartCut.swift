/// How an object is divided into parts: all of one size except for the last, or of the sizes that the store has listed.
struct PartCut: Sendable, Equatable {
  private enum Form: Sendable, Equatable {
    case equal(Int64)
    /// The positions at which the parts end.
    case listed([Int64])
  }

  let length: Int64
  private let form: Form

  init(_ length: Int64, partSize: Int64) { (self.length, form) = (length, .equal(max(1, partSize))) }

  init(_ plan: UploadPlan) { self.init(plan.size, partSize: plan.partSize) }

  /// The division into these sizes; nil unless they add up to the object's.
  init?(sizes: [Int64], of length: Int64) {
    var ends: [Int64] = []
    var end: Int64 = 0
    for size in sizes {
      guard size > 0, size <= length - end else { return nil }
      end += size
      ends.append(end)
    }
    guard let first = sizes.first, end == length else { return nil }
    let isEqual = sizes.dropLast().allSatisfy { $0 == first } && sizes.allSatisfy { $0 <= first }
    (self.length, form) = (length, isEqual ? .equal(first) : .listed(ends))
  }

  /// The number of parts; at least one, which may be empty.
  var count: Int {
    switch form {
    case .equal(let size): max(1, Int(clamping: length / size + (length % size == 0 ? 0 : 1)))
    case .listed(let ends): ends.count
    }
  }

  /// The range of a part; `number` is from 1 to `count`.
  func range(of number: Int) -> (offset: Int64, length: Int64) {
    switch form {
    case .equal(let size):
      let offset = Int64(number - 1) * size
      return (offset, min(size, length - offset))
    case .listed(let ends):
      let offset = number == 1 ? 0 : ends[number - 2]
      return (offset, ends[number - 1] - offset)
    }
  }

  /// Follows the number of parts in evidence.
  var title: String {
    switch form {
    case .equal(let size): count == 1 ? "" : " of \(size) bytes"
    case .listed: " of the sizes that the store lists"
    }
  }
}
