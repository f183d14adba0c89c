internal import CKernels
import Glibc

/// A stretch of a file in memory: mapped, or read into memory of its own if the file cannot be mapped. Owns its mapping
/// (`mmap`, `munmap`) and its place with the guard, which turns a page that cannot be read into zeros and a mark.
///
/// `@unchecked Sendable` holds because only `left` changes after `init`, and the memory is unmapped with the last
/// reference.
final class FileWindow: @unchecked Sendable {
  /// Where it begins in the source.
  private let begin: Int64
  private let file: SourceFile
  private let memory: UnsafeMutableRawBufferPointer
  /// The window's first byte in `memory`, which begins with a page of the file.
  private let lead: Int
  /// What the guard calls it; nil if the bytes were read.
  private let number: Int32?
  /// Whether its pages stay until it is unmapped; if not, how much of `memory` was let go of.
  private let keeps: Bool
  private let left = Locked(0)

  /// Pages of windows that keep theirs. With more, each part's pages would count as this process's memory from its sum to
  /// its answer, however many connections there are.
  private static let most = 80 << 20
  private static let kept = Locked(0)

  init(_ range: Range<Int64>, of file: SourceFile) throws(Failure) {
    begin = range.lowerBound
    self.file = file
    if file.canBeMapped, let (mapped, lead, number) = Self.map(range, of: file) {
      (memory, self.lead, self.number) = (mapped, lead, number)
      keeps = Self.kept.withLock { kept in
        guard kept + mapped.count <= Self.most else { return false }
        kept += mapped.count
        return true
      }
      return
    }
    keeps = false
    let length = range.count
    let start = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let start, start != MAP_FAILED else {
      throw Failure.system(.local, errno, "no memory to read the file into")
    }
    (memory, lead, number) = (UnsafeMutableRawBufferPointer(start: start, count: length), 0, nil)
    // Keeps the user's data out of core files. A failure has no other effect.
    _ = madvise(start, length, MADV_DONTDUMP)
    try file.read(into: memory, at: begin)
  }

  deinit {
    if let number { ck_guard_end(number) }
    if keeps { Self.kept.withLock { $0 -= memory.count } }
    munmap(memory.baseAddress, memory.count)
  }

  private static let page = Int64(sysconf(Int32(_SC_PAGESIZE)))

  /// Whether the file's first page can be mapped. Some file systems, and files of the kernel, only let themselves be read.
  static func canMap(_ descriptor: Int32) -> Bool {
    guard let start = mmap(nil, Int(page), PROT_READ, MAP_SHARED, descriptor, 0), start != MAP_FAILED else {
      return false
    }
    munmap(start, Int(page))
    return true
  }

  private static func map(
    _ range: Range<Int64>, of file: SourceFile
  ) -> (UnsafeMutableRawBufferPointer, Int, Int32?)? {
    let begin = file.start + range.lowerBound
    let lead = Int(begin % page)
    let length = lead + range.count
    let start = mmap(nil, length, PROT_READ, MAP_SHARED, file.descriptor, off_t(begin) - off_t(lead))
    guard let start, start != MAP_FAILED else { return nil }
    let number = ck_guard_begin(start, length)
    guard number >= 0 else {
      munmap(start, length)
      return nil
    }
    return (UnsafeMutableRawBufferPointer(start: start, count: length), lead, number)
  }

  func holds(_ range: Range<Int64>) -> Bool {
    begin <= range.lowerBound && range.upperBound <= begin + Int64(memory.count - lead)
  }

  /// The bytes from `position` in the source on, at most `count` of them. Valid as long as the window is.
  func bytes(at position: Int64, _ count: Int) -> UnsafeRawBufferPointer {
    let skipped = lead + Int(position - begin)
    return UnsafeRawBufferPointer(rebasing: memory[skipped..<min(memory.count, skipped + count)])
  }

  /// What lies before `position` was used: its pages leave the process's memory, and come back if they are read again. In
  /// steps of 512 KiB, because each costs a message to the other cores.
  func release(before position: Int64) {
    guard !keeps, number != nil, let start = memory.baseAddress else { return }
    let end = (lead + Int(position - begin)) / Self.step * Self.step
    let from = left.withLock { left in
      // Less than before: it is read once more.
      defer { left = end }
      return min(left, end)
    }
    if end > from { madvise(start + from, end - from, MADV_DONTNEED) }
  }

  private static let step = 512 << 10

  /// Throws if bytes of it could not be read. To be called after they were used, and before the result is.
  func check() throws(Failure) {
    guard let number, let fault = ck_guard_fault(number), let start = memory.baseAddress else { return }
    throw file.unreadable(at: max(0, begin + Int64(UnsafeRawPointer(start).distance(to: fault) - lead)))
  }
}

/// Bytes of a file that may be read in place as long as this exists.
package struct FilePiece {
  package let bytes: UnsafeRawBufferPointer
  let window: FileWindow

  /// Throws if they cannot be read, also if only the kernel has tried.
  func check() throws(Failure) {
    ck_guard_touch(bytes.baseAddress, bytes.count)
    try window.check()
  }
}
