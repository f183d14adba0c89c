/// Several checksums of the same bytes in one pass: memory is read once, in blocks that stay in the cache until every
/// algorithm has used them.
package struct MultiChecksum: Sendable {
  /// Fits the second-level cache (256 KiB or more) together with other data.
  package static let block = 64 << 10

  private var running: [RunningChecksum]

  package init(_ algorithms: Set<ChecksumAlgorithm>) throws(Failure) {
    running = []
    for algorithm in ChecksumAlgorithm.allCases where algorithms.contains(algorithm) {
      running.append(try RunningChecksum(algorithm))
    }
  }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var at = 0
    while at < bytes.count {
      let end = min(at + Self.block, bytes.count)
      for index in running.indices { running[index].update(UnsafeRawBufferPointer(rebasing: bytes[at..<end])) }
      at = end
    }
  }

  /// The checksums of the bytes so far; more may follow.
  package func finish() throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    var sums: [ChecksumAlgorithm: Checksum] = [:]
    for one in running { sums[one.algorithm] = try one.finish() }
    return sums
  }
}
