internal import CKernels
import Glibc

/// A stretch of a file in memory: mapped, or read into memory of its own if the file cannot be mapped. Owns its mapping
/// (`mmap`, `munmap`) and its place with the guard, which turns a page that cannot be read into zeros and a mark.
///
/// `@unchecked Sendable` holds because only `state` changes after `init`, and the memory is unmapped with the last
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
  private struct State: Sendable {
    /// What it counts for in `charged`.
    var charge = 0
    /// Its pages stay until it is unmapped.
    var keeps = false
    /// If not, how much of `memory` was let go of.
    var left = 0
  }

  private let state: Locked<State>

  /// Mapped pages count as this process's memory, and so does what a connection needs besides. As long as all windows
  /// together have room in this many bytes, their pages stay from the sum to the answer, so that sending does not map
  /// them again; those of others are let go of behind whoever reads.
  private static let most = 48 << 20
  /// For one that does not keep its pages: those that are mapped together, and its connection's buffers.
  private static let least = 3 << 19
  private static let charged = Locked(0)

  init(_ range: Range<Int64>, of file: SourceFile) throws(Failure) {
    begin = range.lowerBound
    self.file = file
    if file.canBeMapped, let (mapped, lead, number) = Self.map(range, of: file) {
      (memory, self.lead, self.number) = (mapped, lead, number)
      state = Locked(
        Self.charged.withLock { charged in
          let keeps = charged + mapped.count <= Self.most
          let charge = keeps ? mapped.count : min(mapped.count, Self.least)
          charged += charge
          return State(charge: charge, keeps: keeps)
        })
      if !state.withLock({ $0.keeps }) { mapSmallPages() }
      return
    }
    state = Locked(State())
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
    let charge = state.withLock { $0.charge }
    Self.charged.withLock { $0 -= charge }
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
  /// steps of 512 KiB, because each costs a message to the other cores. A window that has kept all of its pages does so no
  /// longer once others need the room.
  func release(before position: Int64) {
    guard number != nil, let start = memory.baseAddress else { return }
    let used = lead + Int(position - begin)
    let end = used == memory.count ? used : used / Self.step * Self.step
    let old: Range<Int>? = state.withLock { state in
      if state.keeps {
        let less = min(memory.count, Self.least)
        guard Self.yields(state.charge - less) else { return nil }
        state = State(charge: less, keeps: false, left: end)
        return 0..<memory.count
      }
      // Less than before: it is read once more.
      let from = min(state.left, end)
      state.left = end
      return from..<end
    }
    guard let old, !old.isEmpty else { return }
    if old.count == memory.count { mapSmallPages() }
    madvise(start + old.lowerBound, old.count, MADV_DONTNEED)
  }

  /// Whether a window has to give up its pages, so many bytes, because all together have too many.
  private static func yields(_ bytes: Int) -> Bool {
    charged.withLock { charged in
      guard charged > most else { return false }
      charged -= bytes
      return true
    }
  }

  /// Else one access could map 2 MiB of a file that the cache holds in huge pages. A failure has no other effect.
  private func mapSmallPages() { _ = madvise(memory.baseAddress, memory.count, MADV_NOHUGEPAGE) }

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
