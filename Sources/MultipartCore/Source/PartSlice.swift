import MultipartBasics

/// A slice of a file: the body of one part. It is mapped when it is first read, for its checksums or for sending, and
/// unmapped with the last copy of the slice.
struct PartSlice: BodySource {
  let file: SourceFile
  let offset: Int64
  let length: Int64
  /// The window that was read last.
  private let current = Locked<FileWindow?>(nil)

  init(file: SourceFile, offset: Int64, length: Int64) {
    self.file = file
    self.offset = offset
    self.length = length
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws(Failure) -> Int {
    let count = Int(min(Int64(buffer.count), length - position))
    guard count > 0 else { return 0 }
    var done = 0
    while done < count {
      let piece = try piece(at: position + Int64(done), count - done)
      UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyMemory(from: piece.bytes)
      // Zeros in place of unreadable bytes are never sent.
      try piece.window.check()
      done += piece.bytes.count
      piece.window.release(before: offset + position + Int64(done))
    }
    try checkEnd(position + Int64(count))
    return count
  }

  func lend(_ count: Int, at position: Int64) throws(Failure) -> FilePiece? {
    let piece = try piece(at: position, count)
    try piece.window.check()
    piece.window.release(before: offset + position)
    try checkEnd(position + Int64(piece.bytes.count))
    return piece
  }

  /// Checks the file before the last bytes are returned: until then the store has received less than Content-Length, so
  /// a changed part is never stored.
  private func checkEnd(_ position: Int64) throws(Failure) {
    if position == length { try file.checkUnchanged() }
  }

  /// The checksums of the slice, in one pass. It may take minutes, so `isStopped` is called after each step.
  func checksums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: () -> Bool = { false }
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    var sums = try MultiChecksum(algorithms)
    guard length > 0, !algorithms.isEmpty else { return try sums.finish() }
    var done: Int64 = 0
    while done < length {
      if isStopped() { throw Failure.interrupted }
      let piece = try piece(at: done, Self.step)
      sums.update(piece.bytes)
      try piece.window.check()
      piece.window.release(before: offset + done)
      done += Int64(piece.bytes.count)
    }
    current.withLock { $0 }?.release(before: offset + length)
    try checkWhole()
    return try sums.finish()
  }
}

extension PartSlice {
  // MARK: - Windows

  /// Small steps, so that a second checksum of the same bytes finds them in the cache.
  static let step = 128 << 10
  /// A slice of at most this length is one window, so that sending uses the mapping of the checksum.
  private static let whole: Int64 = 16 << 20
  /// The windows of a longer slice end at multiples of `alignment` in the file, as huge pages do, and have about this
  /// length: below 2 MiB, mapping costs more than reading.
  private static let window: Int64 = 8 << 20
  private static let alignment: Int64 = 2 << 20
  /// If the file cannot be mapped, a window takes memory of its own.
  private static let windowToRead: Int64 = 512 << 10

  /// Bytes from `position`: `count` of them or as many as the window has, but at least `least` before the slice's end.
  func piece(at position: Int64, _ count: Int, least: Int64 = 1) throws(Failure) -> FilePiece {
    let begin = offset + position
    let needed = begin..<min(offset + length, begin + least)
    let known = current.withLock { $0.flatMap { $0.holds(needed) ? $0 : nil } }
    let window = if let known { known } else { try open(at: begin) }
    return FilePiece(bytes: window.bytes(at: begin, Int(min(Int64(count), length - position))), window: window)
  }

  private func open(at begin: Int64) throws(Failure) -> FileWindow {
    // Unmapped first, so that there are never two.
    current.withLock { $0 = nil }
    let window = try FileWindow(range(from: begin), of: file)
    current.withLock { $0 = window }
    return window
  }

  private func range(from begin: Int64) -> Range<Int64> {
    guard file.canBeMapped else { return begin..<min(begin + Self.windowToRead, offset + length) }
    guard length > Self.whole else { return offset..<offset + length }
    let aligned = (file.start + begin) / Self.alignment * Self.alignment - file.start
    return begin..<min(aligned + Self.window, offset + length)
  }

  /// Truncation within the last page leaves zeros without a fault.
  func checkWhole() throws(Failure) { try file.checkReaches(offset + length) }
}
