internal import CKernels
import Glibc

/// A stretch of a file in memory: mapped, or read into memory of its own if the file cannot be mapped. Owns its mapping
/// (`mmap`, `munmap`) and its place with the guard, which turns a page that cannot be read into zeros and a mark.
///
/// `@unchecked Sendable` holds because nothing changes after `init` but the window's place in `Self.room`, and the
/// memory is unmapped with the last reference.
final class FileWindow: @unchecked Sendable {
  /// Where it begins in the source.
  private let begin: Int64
  private let file: SourceFile
  private let memory: UnsafeMutableRawBufferPointer
  /// The window's first byte in `memory`, which begins with a page of the file.
  private let lead: Int
  /// What the guard calls it; nil if the bytes were read.
  private let number: Int32?

  /// Mapped pages count as this process's memory, and so does what a connection needs besides. As long as all windows
  /// together have room in `most` bytes, their pages stay from the sum to the answer, so that sending does not map them
  /// again; the pages of others leave behind whoever reads. A window that no longer fits takes the room of those that
  /// keep their pages: they could wait long for their turn to be sent, and would hold them meanwhile.
  ///
  /// `@unchecked Sendable` holds because it is only used under the lock that it stands in, and a window takes its place out
  /// before its memory is unmapped.
  private struct Room: @unchecked Sendable {
    static let most = 48 << 20
    /// For a window that does not keep its pages: those that are mapped together, and its connection's buffers.
    static let least = 3 << 19

    struct Place {
      let memory: UnsafeMutableRawBufferPointer
      var keeps: Bool
      /// Where it does not keep its pages: how much of `memory` has left.
      var left = 0
      var charge: Int { keeps ? memory.count : min(memory.count, Room.least) }

      /// Else one access could map 2 MiB of a file that the cache holds in huge pages. A failure has no other effect.
      func mapSmallPages() { _ = madvise(memory.baseAddress, memory.count, MADV_NOHUGEPAGE) }
    }

    /// By what the guard calls them.
    private var places: [Int32: Place] = [:]
    private var keepers: [Int32] = []
    private var charged = 0

    mutating func enter(_ number: Int32, _ memory: UnsafeMutableRawBufferPointer) {
      let place = Place(memory: memory, keeps: charged + memory.count <= Self.most)
      places[number] = place
      charged += place.charge
      if place.keeps { return keepers.append(number) }
      place.mapSmallPages()
      while charged > Self.most, let oldest = keepers.first { give(oldest) }
    }

    mutating func leave(_ number: Int32) {
      charged -= places.removeValue(forKey: number)?.charge ?? 0
      keepers.removeAll { $0 == number }
    }

    /// Lets go of the pages of a window up to `end`, unless it keeps them.
    mutating func release(_ number: Int32, before end: Int) {
      guard var place = places[number], !place.keeps else { return }
      // Less than before: it is read once more.
      let old = min(place.left, end)..<end
      place.left = end
      places[number] = place
      drop(place.memory, old)
    }

    private mutating func give(_ number: Int32) {
      keepers.removeAll { $0 == number }
      guard var place = places[number] else { return }
      charged -= place.charge
      place.keeps = false
      charged += place.charge
      places[number] = place
      place.mapSmallPages()
      drop(place.memory, 0..<place.memory.count)
    }

    /// They come back if somebody reads them.
    private func drop(_ memory: UnsafeMutableRawBufferPointer, _ range: Range<Int>) {
      guard !range.isEmpty, let start = memory.baseAddress else { return }
      madvise(start + range.lowerBound, range.count, MADV_DONTNEED)
    }
  }

  private static let room = Locked(Room())

  init(_ range: Range<Int64>, of file: SourceFile) throws(Failure) {
    begin = range.lowerBound
    self.file = file
    if file.canBeMapped, let (mapped, lead, guarded) = Self.map(range, of: file) {
      (memory, self.lead, number) = (mapped, lead, guarded)
      Self.room.withLock { $0.enter(guarded, mapped) }
      return
    }
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
    if let number {
      Self.room.withLock { $0.leave(number) }
      ck_guard_end(number)
    }
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
  ) -> (UnsafeMutableRawBufferPointer, Int, Int32)? {
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
    guard let number else { return }
    let used = lead + Int(position - begin)
    let end = used == memory.count ? used : used / Self.step * Self.step
    Self.room.withLock { $0.release(number, before: end) }
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
