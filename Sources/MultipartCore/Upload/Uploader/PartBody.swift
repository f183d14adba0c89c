/// The bytes of one part, from a file or from memory: sent in pieces, and again for each retry.
protocol PartBody: BodySource {
  /// The checksums, in one pass over the bytes; `isStopped` is called repeatedly, and true ends the computation.
  func checksums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: () -> Bool
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum]
  /// The checksums; slices may be summed together with other slices.
  func sums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: @escaping @Sendable () -> Bool
  ) async throws(Failure) -> [ChecksumAlgorithm: Checksum]
  /// Throws if the source has changed.
  func checkSource() throws(Failure)
}

extension PartBody {
  func sums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: @escaping @Sendable () -> Bool
  ) async throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    try checksums(algorithms) { isStopped() || Task.isCancelled }
  }
}

extension PartSlice: PartBody {
  func sums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: @escaping @Sendable () -> Bool
  ) async throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    guard algorithms.contains(.sha256), SumDesk.isWorthIt, length >= 1 << 20 else {
      return try checksums(algorithms) { isStopped() || Task.isCancelled }
    }
    return try await file.desk.sums(of: self, others: algorithms.subtracting([.sha256]), unless: isStopped)
  }

  func checkSource() throws(Failure) { try file.checkUnchanged() }
}

extension StreamPart: PartBody {
  func checksums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: () -> Bool
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    if isStopped() { throw Failure.interrupted }
    return try checksums(algorithms)
  }

  /// Bytes in memory do not change.
  func checkSource() throws(Failure) {}
}
