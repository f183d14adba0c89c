/// The bytes of a small file, read at once: the checksum is of the bytes that are sent, whatever happens to the file
/// afterwards.
final class FileBytes: PartBody {
  /// The size up to which a copy costs less than a mapping and its page faults.
  static let most: Int64 = 256 << 10

  let bytes: [UInt8]
  var length: Int64 { Int64(bytes.count) }

  /// Throws if the file changes while it is read.
  init(_ file: SourceFile) throws(Failure) {
    bytes = try file.leadingBytes(Int(file.size))
    try file.checkUnchanged()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
    let rest = bytes[min(bytes.count, Int(offset))...].prefix(buffer.count)
    rest.withUnsafeBytes { buffer.copyMemory(from: $0) }
    return rest.count
  }

  func checksums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: () -> Bool
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    if isStopped() { throw Failure.interrupted }
    var sums = try MultiChecksum(algorithms)
    bytes.withUnsafeBytes { sums.update($0) }
    return try sums.finish()
  }

  /// Bytes in memory do not change.
  func checkSource() throws(Failure) {}
}
