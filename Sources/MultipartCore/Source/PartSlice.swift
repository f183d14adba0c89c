/// A slice of a file: the body of one part.
package struct PartSlice: BodySource {
  package let file: SourceFile
  package let offset: Int64
  package let length: Int64

  package init(file: SourceFile, offset: Int64, length: Int64) {
    self.file = file
    self.offset = offset
    self.length = length
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws(Failure) -> Int {
    let count = Int(min(Int64(buffer.count), length - position))
    guard count > 0 else { return 0 }
    try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset + position)
    // The last bytes are only returned if the file has not changed: until then the store has received less than
    // Content-Length, so a changed part is never stored.
    if position + Int64(count) == length { try file.checkUnchanged() }
    return count
  }

  package var place: FilePlace? { FilePlace(file: file, offset: offset) }

  /// The checksums of the slice, in one pass. It may take minutes, so `isStopped` is called after each window.
  package func checksums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: () -> Bool = { false }
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    var sums = try MultiChecksum(algorithms)
    guard length > 0, !algorithms.isEmpty else { return try sums.finish() }
    let buffer = try WindowBuffer(upTo: length)
    defer { withExtendedLifetime(buffer) {} }
    var done: Int64 = 0
    while done < length {
      if isStopped() { throw Failure(.interrupted, "interrupted") }
      let piece = buffer.bytes(Int(min(WindowBuffer.size, length - done)))
      try file.read(into: piece, at: offset + done)
      sums.update(UnsafeRawBufferPointer(piece))
      done += Int64(piece.count)
    }
    return try sums.finish()
  }
}
