/// The checksums of one file that a comparison asks for. Each pass also computes the CRC64NVME, which most stores keep
/// and which takes little time compared with an MD5. The file is not read twice for the same checksum.
struct FileSums: ByteSums {
  let file: SourceFile
  var size: Int64 { file.size }
  let isStopped: @Sendable () -> Bool
  private var whole: [ChecksumAlgorithm: Checksum] = [:]
  private var etags: [(cut: PartCut, etag: ETag)] = []

  init(_ file: SourceFile, unless isStopped: @escaping @Sendable () -> Bool) {
    self.file = file
    self.isStopped = isStopped
  }

  mutating func of(_ algorithm: ChecksumAlgorithm) throws(Failure) -> Checksum {
    if let known = whole[algorithm] { return known }
    let sums = try sums(algorithm, 0, file.size)
    try file.checkUnchanged()
    whole.merge(sums) { $1 }
    return try sums.one(algorithm)
  }

  /// The checksums of the parts, in order.
  mutating func of(parts cut: PartCut, _ algorithm: ChecksumAlgorithm) throws(Failure) -> [Checksum] {
    var parts: [Checksum] = []
    var pieces: [(checksum: Checksum, length: Int64)] = []
    for number in 1...cut.count {
      let (offset, length) = cut.range(of: number)
      let sums = try sums(algorithm, offset, length)
      parts.append(try sums.one(algorithm))
      pieces.append((try sums.one(.crc64nvme), length))
    }
    try file.checkUnchanged()
    if let sum = CRCCombiner.combine(.crc64nvme, pieces.map { ($0.checksum, $0.length) }) { whole[.crc64nvme] = sum }
    return parts
  }

  mutating func composite(of cut: PartCut, _ algorithm: ChecksumAlgorithm) throws(Failure) -> CompositeChecksum? {
    try CompositeChecksum(of: of(parts: cut, algorithm))
  }

  mutating func etag(of cut: PartCut) throws(Failure) -> ETag? {
    if let known = etags.first(where: { $0.cut == cut }) { return known.etag }
    guard let etag = ETag(try MultipartETag.of(md5s: of(parts: cut, .md5).map(\.bytes))) else { return nil }
    etags.append((cut, etag))
    return etag
  }

  private func sums(
    _ algorithm: ChecksumAlgorithm, _ offset: Int64, _ length: Int64
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    try PartSlice(file: file, offset: offset, length: length).checksums([algorithm, .crc64nvme], unless: isStopped)
  }
}

extension [ChecksumAlgorithm: Checksum] {
  fileprivate func one(_ algorithm: ChecksumAlgorithm) throws(Failure) -> Checksum {
    guard let sum = self[algorithm] else { throw Failure(.local, "\(algorithm.rawValue) was not computed") }
    return sum
  }
}
