internal import CKernels

/// A checksum in progress. It is a value: a copy continues independently, and `finish` can be called at any time.
///
/// `@unchecked Sendable` holds because the digest context is written only while this value is its only owner, like the
/// storage of an array; copying it only reads it.
struct RunningChecksum: @unchecked Sendable {
  let algorithm: ChecksumAlgorithm
  private var crc: UInt64 = 0
  private var digest: DigestContext?
  private var failure: Failure?

  init(_ algorithm: ChecksumAlgorithm) throws(Failure) {
    self.algorithm = algorithm
    digest = algorithm.isCRC ? nil : try DigestContext(algorithm)
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    switch algorithm {
    case .crc64nvme: crc = ck_crc64nvme(crc, bytes.baseAddress, bytes.count)
    case .crc32c: crc = UInt64(ck_crc32c(UInt32(truncatingIfNeeded: crc), bytes.baseAddress, bytes.count))
    case .crc32: crc = UInt64(ck_crc32(UInt32(truncatingIfNeeded: crc), bytes.baseAddress, bytes.count))
    case .sha256, .sha1, .md5: updateDigest(bytes)
    }
  }

  mutating func update(_ bytes: some Sequence<UInt8>) {
    let done: Void? = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) }
    if done == nil { Array(bytes).withUnsafeBytes { update($0) } }
  }

  /// The checksum of the bytes so far; more may follow.
  func finish() throws(Failure) -> Checksum {
    if let failure { throw failure }
    guard let digest else { return Checksum(algorithm, crc: crc) }
    return Checksum(algorithm, whole: try digest.copy().finish())
  }

  private mutating func updateDigest(_ bytes: UnsafeRawBufferPointer) {
    do throws(Failure) {
      if !isKnownUniquelyReferenced(&digest) { digest = try digest?.copy() }
      digest?.update(bytes)
    } catch {
      failure = failure ?? error
    }
  }
}

/// Several checksums of the same bytes in one pass: memory is read once, in blocks that stay in the cache until every
/// algorithm has used them.
struct MultiChecksum: Sendable {
  /// Fits the second-level cache (256 KiB or more) together with other data.
  static let block = 64 << 10

  private var running: [RunningChecksum]

  init(_ algorithms: Set<ChecksumAlgorithm>) throws(Failure) {
    running = []
    for algorithm in ChecksumAlgorithm.allCases where algorithms.contains(algorithm) {
      running.append(try RunningChecksum(algorithm))
    }
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var at = 0
    while at < bytes.count {
      let end = min(at + Self.block, bytes.count)
      for index in running.indices { running[index].update(UnsafeRawBufferPointer(rebasing: bytes[at..<end])) }
      at = end
    }
  }

  /// The checksums of the bytes so far; more may follow.
  func finish() throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    var sums: [ChecksumAlgorithm: Checksum] = [:]
    for one in running { sums[one.algorithm] = try one.finish() }
    return sums
  }
}
