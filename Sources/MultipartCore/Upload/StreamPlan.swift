/// How a source of unknown length is cut into parts, and how much memory that takes.
///
/// Parts grow in steps, because the length is not known: small ones first, so that a short stream needs little memory,
/// and large ones at the end, so that 10,000 parts are enough.
///
/// | parts | size | the stream until then |
/// | --- | --- | --- |
/// | 1 to 1,000 | 8 MiB | 7.8 GiB |
/// | 1,001 to 1,500 | 16 MiB | 15.6 GiB |
/// | 1,501 to 2,000 | 32 MiB | 31.3 GiB |
/// | and so on, doubled every 500 parts | | |
/// | 5,001 to 5,500 | 4 GiB | 3.9 TiB |
/// | 5,501 to 10,000 | 5 GiB | 25.8 TiB |
///
/// 48.8 TiB would need 5 GiB from the first part on; with a known length all parts have the same size, like those of a
/// file.
struct StreamPlan: Sendable, Equatable {
  /// A number of parts of the same size.
  struct Step: Sendable, Equatable {
    let parts: Int
    let size: Int64
  }

  /// The size of equal parts if the length is not known: 312 GiB in 10,000 of them.
  static let equalPart: Int64 = 32 << 20
  private static let firstParts = 1000
  private static let laterParts = 500

  let steps: [Step]
  let partCount: Int
  /// The longest stream that fits.
  let capacity: Int64

  /// Equal parts of `partSize`; else equal parts that fit `expectedSize`; else equal parts of 32 MiB if the store
  /// demands equal parts; else growing ones.
  init(partSize: Int64? = nil, expectedSize: Int64? = nil, equalParts: Bool = false) throws(Failure) {
    if partSize != nil || expectedSize != nil {
      // An unknown length is planned as an empty one: then only the part size itself is checked.
      let equal = try UploadPlan(size: expectedSize ?? 0, partSize: partSize)
      try self.init(steps: [Step(parts: S3Limits.mostParts, size: equal.partSize)])
    } else if equalParts {
      try self.init(steps: [Step(parts: S3Limits.mostParts, size: Self.equalPart)])
    } else {
      try self.init(steps: Self.growing)
    }
  }

  /// Sizes never decrease; otherwise the window would have to grow again while large parts are still in memory.
  init(steps: [Step]) throws(Failure) {
    var parts = 0
    var bytes: Int64 = 0
    var last: Int64 = 1
    for step in steps {
      guard step.parts > 0, step.size >= last, step.size <= S3Limits.largestPart,
        step.parts <= S3Limits.mostParts - parts
      else { throw Failure(.usage, "part sizes that S3 does not accept") }
      parts += step.parts
      bytes += Int64(step.parts) * step.size
      last = step.size
    }
    guard parts > 0 else { throw Failure(.usage, "a plan without parts") }
    self.steps = steps
    partCount = parts
    capacity = bytes
  }

  private static var growing: [Step] {
    var steps = [Step(parts: firstParts, size: UploadPlan.defaultPart)]
    var left = S3Limits.mostParts - firstParts
    var size = UploadPlan.defaultPart * 2
    while size < S3Limits.largestPart, left > laterParts {
      steps.append(Step(parts: laterParts, size: size))
      left -= laterParts
      size *= 2
    }
    return steps + [Step(parts: left, size: S3Limits.largestPart)]
  }

  /// The size of the first part; a stream no longer than that is sent in one PutObject.
  var firstSize: Int64 { steps[0].size }
  var isEqual: Bool { steps.allSatisfy { $0.size == firstSize } }

  /// The size of a part; 0 for a number that is too high.
  func size(ofPart number: Int) -> Int64 {
    guard number >= 1 else { return 0 }
    var before = 0
    for step in steps {
      if number - before <= step.parts { return step.size }
      before += step.parts
    }
    return 0
  }

  /// How many bytes precede the part.
  func offset(ofPart number: Int) -> Int64 {
    var before = max(0, number - 1)
    var bytes: Int64 = 0
    for step in steps where before > 0 {
      let parts = min(before, step.parts)
      bytes += Int64(parts) * step.size
      before -= parts
    }
    return bytes
  }

  /// How many bytes fit after the part.
  func remaining(afterPart number: Int) -> Int64 {
    capacity - offset(ofPart: number + 1)
  }

  /// The part after which less than a tenth of the bytes or parts is left, and a warning is due.
  var warningPart: Int {
    var (low, high) = (1, partCount)
    while low < high {
      let middle = (low + high) / 2
      let isLate = remaining(afterPart: middle) < capacity / 10 || (partCount - middle) * 10 < partCount
      (low, high) = isLate ? (low, middle) : (middle + 1, high)
    }
    return low
  }

  /// How many parts may be in memory when this one is read: as many as fit into the budget of the first parts, but at
  /// least two, so that one is read while another is sent.
  func window(at part: Int, concurrency: Int) -> Int {
    let size = size(ofPart: part)
    guard size > 0 else { return 0 }
    return Int(max(2, budget(concurrency) / size))
  }

  /// The most memory that parts can take at once, for a stream of at most `length` bytes.
  func memoryCap(concurrency: Int, length: Int64? = nil) -> Int64 {
    var largest = firstSize
    var before: Int64 = 0
    for step in steps where before < length ?? capacity {
      largest = step.size
      before += Int64(step.parts) * step.size
    }
    return max(budget(concurrency), 2 * largest)
  }

  func budget(_ concurrency: Int) -> Int64 {
    Int64(max(1, min(concurrency, S3Limits.mostParts))) * firstSize
  }
}
