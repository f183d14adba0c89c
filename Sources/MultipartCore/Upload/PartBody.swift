/// The bytes of one part, wherever they are: sent piece by piece, and as often as it takes.
package protocol PartBody: BodySource {
  /// In one pass over the bytes; `isStopped` is asked again and again, and ends it.
  func checksums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: () -> Bool
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum]
  /// The same where the work may be shared with what else is being summed.
  func sums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: @escaping @Sendable () -> Bool
  ) async throws(Failure) -> [ChecksumAlgorithm: Checksum]
  /// Throws when what the bytes were read from is no longer what it was.
  func checkSource() throws(Failure)
}

extension PartBody {
  package func sums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: @escaping @Sendable () -> Bool
  ) async throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    try checksums(algorithms) { isStopped() || Task.isCancelled }
  }
}

extension PartSlice: PartBody {
  package func sums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: @escaping @Sendable () -> Bool
  ) async throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    guard algorithms.contains(.sha256), SumDesk.isWorthIt, length >= 1 << 20 else {
      return try checksums(algorithms) { isStopped() || Task.isCancelled }
    }
    return try await file.desk.sums(of: self, others: algorithms.subtracting([.sha256]), unless: isStopped)
  }

  package func checkSource() throws(Failure) { try file.checkUnchanged() }
}

extension StreamPart: PartBody {
  package func checksums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: () -> Bool
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    if isStopped() { throw Failure(.interrupted, "interrupted") }
    return try checksums(algorithms)
  }

  /// What is in memory does not change.
  package func checkSource() throws(Failure) {}
}
