import Glibc

/// A slice of a mapped file: what one part sends. Reading it leaves no more than a window of pages in memory.
package struct PartSlice: BodySource {
  package let file: MappedFile
  package let offset: Int64
  package let length: Int64

  package init(file: MappedFile, offset: Int64, length: Int64) {
    self.file = file
    self.offset = offset
    self.length = length
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws(Failure) -> Int {
    let count = Int(min(Int64(buffer.count), length - position))
    guard count > 0 else { return 0 }
    let start = offset + position
    PageWindow.fetch(file, from: start, count: count, end: offset + length, begins: position == 0)
    try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: start)
    PageWindow.drop(file, from: start, count: count, end: offset + length)
    // The last bytes are only handed out when the file is still the one it was: until then the store holds less than
    // it was promised, and what changed meanwhile is never published.
    if position + Int64(count) == length { try file.checkUnchanged() }
    return count
  }

  /// The checksums of the slice, in one pass. It can take minutes; `isStopped` is asked after each window.
  package func checksums(
    _ algorithms: Set<ChecksumAlgorithm>, unless isStopped: () -> Bool = { false }
  ) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    var sums = try MultiChecksum(algorithms)
    guard length > 0, !algorithms.isEmpty, let start = file.address(offset) else { return try sums.finish() }
    let end = offset + length
    var done: Int64 = 0
    PageWindow.fetch(file, from: offset, count: 1, end: end, begins: true)
    do throws(Failure) {
      try sums.update(mapped: start, length: Int(length)) { (total: Int) throws(Failure) in
        if isStopped() { throw Failure(.interrupted, "interrupted") }
        PageWindow.drop(file, from: offset + done, count: total - Int(done), end: end)
        done = Int64(total)
        let next = min(Int64(MultiChecksum.window), length - done)
        if next > 0 { PageWindow.fetch(file, from: offset + done, count: Int(next), end: end, begins: false) }
      }
    } catch {
      throw error.code == .sourceChanged ? file.changed("shrank") : error
    }
    return try sums.finish()
  }
}

/// Which pages of a mapping are in memory: one window ahead is brought in by one call instead of a fault for each
/// 64 KiB, and what was read is let go. Letting go of pages of a shared mapping drops them from this process alone, the
/// page cache keeps them; a neighbouring part that shares a window's pages faults them in again.
enum PageWindow {
  static let size: Int64 = 512 << 10
  /// `MADV_POPULATE_READ`, Linux 5.14; older kernels refuse it, and the pages come by faults as ever.
  private static let populateRead: Int32 = 22
  private static let pageSize = Int64(sysconf(Int32(_SC_PAGESIZE)))

  /// Brings in what this read is the first to touch; `begins` says that it is the first of its part.
  static func fetch(_ file: MappedFile, from start: Int64, count: Int, end: Int64, begins: Bool) {
    let next = start + Int64(count)
    let from = begins || start % size == 0 ? start : (start / size + 1) * size
    guard from < next else { return }
    advise(file, from: from, to: min(end, (next + size - 1) / size * size), populateRead)
  }

  static func drop(_ file: MappedFile, from start: Int64, count: Int, end: Int64) {
    let next = start + Int64(count)
    let first = start / size * size
    let last = next == end ? end : next / size * size
    if last > first { advise(file, from: first, to: last, MADV_DONTNEED) }
  }

  /// `madvise`; the range grows to whole pages. A refusal costs speed or memory, never correctness.
  private static func advise(_ file: MappedFile, from start: Int64, to end: Int64, _ advice: Int32) {
    let aligned = start / pageSize * pageSize
    guard end > aligned, let address = file.address(aligned) else { return }
    _ = madvise(address, Int(end - aligned), advice)
  }
}
