/// The checksums of bytes that pass by once, in order: those that can prove the object.
struct StreamSums: ByteSums {
  /// The checksums of the parts of one division.
  private struct InParts: Sendable {
    let cut: PartCut
    let algorithm: ChecksumAlgorithm
    var sums: [Checksum] = []
    private var running: MultiChecksum
    private var left: Int64

    init(_ cut: PartCut, _ algorithm: ChecksumAlgorithm) throws(Failure) {
      (self.cut, self.algorithm, left) = (cut, algorithm, cut.range(of: 1).length)
      running = try MultiChecksum([algorithm])
    }

    var isWhole: Bool { sums.count == cut.count }

    mutating func update(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
      var at = 0
      while at < bytes.count, !isWhole {
        let count = min(bytes.count - at, Int(left))
        running.update(UnsafeRawBufferPointer(rebasing: bytes[at..<at + count]))
        at += count
        left -= Int64(count)
        guard left == 0 else { continue }
        if let sum = try running.finish()[algorithm] { sums.append(sum) }
        running = try MultiChecksum([algorithm])
        left = isWhole ? 0 : cut.range(of: sums.count + 1).length
      }
    }
  }

  let size: Int64
  private var whole: MultiChecksum
  private var parts: [InParts] = []

  /// If the store does not reveal the sizes of the parts, each size that is tried costs one more checksum over all
  /// bytes.
  private static let mostCuts = 4

  init(_ object: ObjectInfo, _ proof: ByteProof, size: Int64) throws(Failure) {
    self.size = size
    var algorithms: Set<ChecksumAlgorithm> = [.crc64nvme]
    if let one = ChecksumAlgorithm.allCases.first(where: { object.wholeChecksum($0) != nil }) {
      algorithms.insert(one)
    } else {
      if object.notesMD5 { algorithms.insert(.md5) }
      let etag = proof.etagMayBeMD5 ? object.etag.flatMap(ETag.init)?.form : nil
      if case .md5 = etag { algorithms.insert(.md5) }
      if let (algorithm, count) = object.composite {
        parts = try Self.parts(proof.cuts(of: count, size), algorithm)
      } else if case .multipart(_, let count) = etag {
        parts = try Self.parts(proof.cuts(of: count, size), .md5)
      }
    }
    whole = try MultiChecksum(algorithms)
  }

  private static func parts(_ cuts: [PartCut], _ algorithm: ChecksumAlgorithm) throws(Failure) -> [InParts] {
    var parts: [InParts] = []
    for cut in cuts.prefix(mostCuts) { parts.append(try InParts(cut, algorithm)) }
    return parts
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    whole.update(bytes)
    for index in parts.indices { try parts[index].update(bytes) }
  }

  func of(_ algorithm: ChecksumAlgorithm) throws(Failure) -> Checksum {
    guard let sum = try whole.finish()[algorithm] else {
      throw Failure(.local, "\(algorithm.rawValue) was not computed while the bytes passed by")
    }
    return sum
  }

  func composite(of cut: PartCut, _ algorithm: ChecksumAlgorithm) throws(Failure) -> CompositeChecksum? {
    guard let sums = sums(of: cut, algorithm) else { return nil }
    return try CompositeChecksum(of: sums)
  }

  func etag(of cut: PartCut) throws(Failure) -> ETag? {
    guard let sums = sums(of: cut, .md5) else { return nil }
    return ETag(try MultipartETag.of(md5s: sums.map(\.bytes)))
  }

  private func sums(of cut: PartCut, _ algorithm: ChecksumAlgorithm) -> [Checksum]? {
    parts.first { $0.cut == cut && $0.algorithm == algorithm && $0.isWhole }?.sums
  }
}

extension ObjectInfo {
  var notesMD5: Bool { S3cmdAttributes(metadata)?["md5"] != nil || metadata.value("md5chksum") != nil }

  /// The algorithm and number of parts of a composite checksum.
  var composite: (ChecksumAlgorithm, Int)? {
    for algorithm in ChecksumAlgorithm.allCases {
      if let sum = compositeChecksum(algorithm) { return (algorithm, sum.parts) }
    }
    return nil
  }
}
