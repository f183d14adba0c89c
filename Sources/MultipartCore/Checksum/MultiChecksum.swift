internal import CKernels

/// Several checksums of the same bytes in one pass: memory is read once, in blocks that stay in the cache while each
/// algorithm takes them.
package struct MultiChecksum: Sendable {
  /// Fits the second-level cache of every CPU of the last ten years beside what else is there (256 KiB and up).
  static let block = 64 << 10
  /// After so many bytes of a mapping the caller is told, and can drop the pages behind.
  package static let window = 256 << 10

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

  /// Takes mapped memory whose file may be cut short meanwhile: then it throws `sourceChanged`, and this value is of
  /// no further use. After each window `afterWindow` gets the number of bytes done; what it throws ends the work.
  ///
  /// CRCs alone read the mapping itself. As soon as OpenSSL takes part (no jump may leave its code) each block is
  /// copied out, and all algorithms take the copy: they see the same bytes even while somebody writes the file.
  package mutating func update(
    mapped start: UnsafeRawPointer, length: Int, afterWindow: (Int) throws(Failure) -> Void = { _ in }
  ) throws(Failure) {
    let copies = running.contains { !$0.algorithm.isCRC }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: copies ? Self.block : 0, alignment: 64)
    defer { copy.deallocate() }
    var at = 0
    while at < length {
      let end = min(at + Self.window, length)
      while at < end {
        let count = min(Self.block, end - at)
        let whole =
          copies
          ? updateCopied(start + at, count, through: copy)
          : updateDirectly(start + at, count)
        guard whole else { throw Self.pageGone }
        at += count
      }
      try afterWindow(at)
    }
  }

  /// The checksums of what was given until now; more may follow.
  package func finish() throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    var sums: [ChecksumAlgorithm: Checksum] = [:]
    for one in running { sums[one.algorithm] = try one.finish() }
    return sums
  }

  private mutating func updateCopied(
    _ start: UnsafeRawPointer, _ count: Int, through copy: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard ck_guarded_read(copy.baseAddress, start, count) == 0 else { return false }
    let bytes = UnsafeRawBufferPointer(rebasing: copy[..<count])
    for index in running.indices { running[index].update(bytes) }
    return true
  }

  private mutating func updateDirectly(_ start: UnsafeRawPointer, _ count: Int) -> Bool {
    for index in running.indices {
      guard running[index].updateCRC(mapped: start, length: count) else { return false }
    }
    return true
  }

  private static var pageGone: Failure {
    Failure(.sourceChanged, "the file was cut short, or its disk failed, while it was read")
  }
}

/// The checksums of `length` bytes of a mapped file; see `MultiChecksum.update(mapped:length:afterWindow:)`.
package func checksums(
  ofMapped start: UnsafeRawPointer, length: Int, algorithms: Set<ChecksumAlgorithm>,
  afterWindow: (Int) throws(Failure) -> Void = { _ in }
) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
  var sums = try MultiChecksum(algorithms)
  try sums.update(mapped: start, length: length, afterWindow: afterWindow)
  return try sums.finish()
}
