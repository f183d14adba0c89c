/// How a source of known size is sent: in one PutObject, or in parts of equal size except for the last.
struct UploadPlan: Sendable, Equatable {
  static let defaultPart: Int64 = 8 << 20
  private static let grain: Int64 = 1 << 20

  let size: Int64
  let partSize: Int64
  let partCount: Int
  /// The whole source is sent in one PutObject; it counts as one part.
  let isSingle: Bool

  /// Without `partSize` the size and the line decide: usually 8 MiB, and if that makes more than 10,000 parts, the
  /// smallest whole number of MiB that does not. A source no longer than one part, or than 8 MiB, is sent in one
  /// PutObject; with a threshold, a source shorter than it, up to 5 GiB.
  init(
    size: Int64, partSize asked: Int64? = nil, threshold: Int64? = nil, line: LineClass = .usual
  ) throws(Failure) {
    guard size <= S3Limits.largestObject else {
      throw Failure(.usage, "\(size) bytes are more than an object can hold (48.8 TiB)", remedy: "split the file")
    }
    if let asked, !(S3Limits.smallestPart...S3Limits.largestPart).contains(asked) {
      throw Failure(
        .usage, "a part of \(asked) bytes: S3 accepts parts of 5 MiB to 5 GiB",
        remedy: "choose \(.partSize) in that range")
    }
    let needed = (size + Int64(S3Limits.mostParts) - 1) / Int64(S3Limits.mostParts)
    let grown = (needed + Self.grain - 1) / Self.grain * Self.grain
    var chosen = asked ?? min(S3Limits.largestPart, max(line.partSize(forFileOf: size), grown))
    var isSingle = size <= (asked ?? max(chosen, Self.defaultPart))
    if let threshold {
      isSingle = size == 0 || (size < threshold && size <= S3Limits.largestPart)
    }
    if isSingle { chosen = max(chosen, size) }
    let count = PartCut(size, partSize: chosen).count
    guard count <= S3Limits.mostParts else {
      throw Failure(
        .usage, "\(count) parts of \(chosen) bytes: S3 accepts at most \(S3Limits.mostParts) parts",
        remedy: "leave \(.partSize) out, or choose at least \(grown >> 20)M")
    }
    self.size = size
    partSize = chosen
    partCount = count
    self.isSingle = isSingle
  }

  /// A plan in parts of this size, however short the source is.
  init(inParts size: Int64, of partSize: Int64) throws(Failure) {
    guard (0...S3Limits.largestObject).contains(size), (S3Limits.smallestPart...S3Limits.largestPart).contains(partSize)
    else { throw Failure(.usage, "\(size) bytes in parts of \(partSize) are not what S3 accepts") }
    let count = PartCut(size, partSize: partSize).count
    guard count <= S3Limits.mostParts else {
      throw Failure(.usage, "\(count) parts: S3 accepts at most \(S3Limits.mostParts)")
    }
    self.size = size
    self.partSize = partSize
    partCount = count
    isSingle = false
  }

  /// The plan of an upload with these parts of a file of this size; nil if they fit none.
  init?(size: Int64, parts: [Int: Int64]) {
    guard let longest = parts.values.max(), let plan = try? UploadPlan(size: size, partSize: longest), !plan.isSingle,
      plan.fits(parts)
    else { return nil }
    self = plan
  }

  /// Whether all of these are parts of this plan.
  func fits(_ parts: [Int: Int64]) -> Bool {
    parts.allSatisfy { number, length in (1...partCount).contains(number) && range(of: number).length == length }
  }

  /// The range of the source that part `number` (from 1) has.
  func range(of number: Int) -> (offset: Int64, length: Int64) { PartCut(self).range(of: number) }
}
