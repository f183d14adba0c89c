/// The checksums of bytes that go by once, in order: those by which the object can be proven.
struct StreamSums: ByteSums {
  let size: Int64
  private let plan: UploadPlan?
  private let partAlgorithm: ChecksumAlgorithm?
  private var whole: MultiChecksum
  private var part: MultiChecksum
  private var parts: [Checksum] = []
  private var left: Int64

  init(_ object: ObjectInfo, _ proof: ByteProof, size: Int64) throws(Failure) {
    self.size = size
    var algorithms: Set<ChecksumAlgorithm> = [.crc64nvme]
    var ofParts: (UploadPlan, ChecksumAlgorithm)?
    if let one = ChecksumAlgorithm.allCases.first(where: { object.wholeChecksum($0) != nil }) {
      algorithms.insert(one)
    } else {
      if object.notesMD5 { algorithms.insert(.md5) }
      switch object.etag.flatMap(ETag.init)?.form {
      case .md5: algorithms.insert(.md5)
      case .multipart(_, let count): ofParts = proof.plans(of: count, size).first.map { ($0, .md5) }
      case .opaque, nil: break
      }
      if let (algorithm, count) = object.composite, let plan = proof.plans(of: count, size).first {
        ofParts = (plan, algorithm)
      }
    }
    (plan, partAlgorithm) = (ofParts?.0, ofParts?.1)
    whole = try MultiChecksum(algorithms)
    part = try MultiChecksum(partAlgorithm.map { [$0] } ?? [])
    left = plan?.range(of: 1).length ?? 0
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    whole.update(bytes)
    guard let plan, let partAlgorithm else { return }
    var at = 0
    while at < bytes.count {
      let count = min(bytes.count - at, Int(left))
      part.update(UnsafeRawBufferPointer(rebasing: bytes[at..<at + count]))
      at += count
      left -= Int64(count)
      guard left == 0 else { continue }
      if let sum = try part.finish()[partAlgorithm] { parts.append(sum) }
      part = try MultiChecksum([partAlgorithm])
      guard parts.count < plan.partCount else { return }
      left = plan.range(of: parts.count + 1).length
    }
  }

  func of(_ algorithm: ChecksumAlgorithm) throws(Failure) -> Checksum {
    guard let sum = try whole.finish()[algorithm] else {
      throw Failure(.local, "\(algorithm.rawValue) was not computed while the bytes went by")
    }
    return sum
  }

  func composite(of plan: UploadPlan, _ algorithm: ChecksumAlgorithm) throws(Failure) -> CompositeChecksum? {
    guard plan == self.plan, algorithm == partAlgorithm, parts.count == plan.partCount else { return nil }
    return try CompositeChecksum(of: parts)
  }

  func etag(of plan: UploadPlan) throws(Failure) -> ETag? {
    guard plan == self.plan, partAlgorithm == .md5, parts.count == plan.partCount else { return nil }
    return ETag(try MultipartETag.of(md5s: parts.map(\.bytes)))
  }
}

extension ObjectInfo {
  var notesMD5: Bool { S3cmdAttributes(metadata)?["md5"] != nil || metadata.value("md5chksum") != nil }

  /// Of its parts.
  var composite: (ChecksumAlgorithm, Int)? {
    for algorithm in ChecksumAlgorithm.allCases where type(of: algorithm) == .composite {
      if let text = checksums[algorithm.headerName], let sum = CompositeChecksum(algorithm, text: text) {
        return (algorithm, sum.parts)
      }
    }
    return nil
  }
}
