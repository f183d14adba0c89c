internal import CKernels
import Glibc
import MultipartBasics

/// A range of a file in memory: mapped, or read into separate memory if the file cannot be mapped. Owns its mapping
/// (`mmap`, `munmap`) and its entry with the guard, which turns a page that cannot be read into zeros and marks the
/// mapping.
///
/// `@unchecked Sendable` holds because only the window's entry in `Self.room` changes after `init`, and the memory is
/// unmapped when the last reference is released.
final class FileWindow: @unchecked Sendable {
  /// The position in the source at which the window begins.
  private let begin: Int64
  private let file: SourceFile
  private let memory: UnsafeMutableRawBufferPointer
  /// The window's first byte in `memory`, which begins at a page boundary of the file.
  private let lead: Int
  /// The guard's number for the mapping; nil if the bytes were read.
  private let number: Int32?

  /// The budget for mapped pages. They count as this process's memory, and so do the buffers of a connection. As long
  /// as all windows together fit into `most` bytes, their pages stay mapped from the checksum to the answer, so that
  /// sending does not map them again; the pages of other windows are released right after they are read. A window that
  /// no longer fits takes the room of those that keep their pages: they could wait a long time to be sent, and would
  /// hold their pages all that time.
  ///
  /// `@unchecked Sendable` holds because it is only used under its lock, and a window removes its entry before its
  /// memory is unmapped.
  private struct Room: @unchecked Sendable {
    static let most = 48 << 20
    /// The room for a window that does not keep its pages: those that are mapped at a time, and its connection's
    /// buffers.
    static let least = 3 << 19

    struct Place {
      let memory: UnsafeMutableRawBufferPointer
      var keeps: Bool
      /// If it does not keep its pages: how much of `memory` has been released.
      var left = 0
      var charge: Int { keeps ? memory.count : min(memory.count, Room.least) }

      /// One access can map as much as the cache holds in one piece, 2 MiB, but never across the border of a mapping.
      /// A flag that every other step has, and that has no other effect here, makes each step a mapping of its own.
      /// Without huge pages the call fails, and the cache has no large pieces. A process may have 65,530 mappings; 1,000
      /// windows of 16 MiB become 32,000.
      func divide() {
        for start in stride(from: 0, to: memory.count, by: 2 * Room.step) {
          guard let address = memory.baseAddress else { return }
          _ = madvise(address + start, min(Room.step, memory.count - start), MADV_NOHUGEPAGE)
        }
      }
    }

    /// The entries by the guard's numbers.
    private var places: [Int32: Place] = [:]
    private var keepers: [Int32] = []
    private var charged = 0

    mutating func enter(_ number: Int32, _ memory: UnsafeMutableRawBufferPointer) {
      let place = Place(memory: memory, keeps: charged + memory.count <= Self.most)
      places[number] = place
      charged += place.charge
      if place.keeps { return keepers.append(number) }
      place.divide()
      while charged > Self.most, let oldest = keepers.first { give(oldest) }
    }

    mutating func leave(_ number: Int32) {
      charged -= places.removeValue(forKey: number)?.charge ?? 0
      keepers.removeAll { $0 == number }
    }

    /// Pages are released in steps, because each costs a message to the other cores.
    private static let step = 512 << 10

    /// Releases the pages of a window that were used, unless it keeps them.
    mutating func release(_ number: Int32, used: Int) {
      guard var place = places[number], !place.keeps else { return }
      let end = used == place.memory.count ? used : used / Self.step * Self.step
      // Less than before means that it is read once more.
      drop(place.memory, min(place.left, end)..<end)
      place.left = end
      places[number] = place
    }

    private mutating func give(_ number: Int32) {
      keepers.removeAll { $0 == number }
      guard var place = places[number] else { return }
      charged -= place.charge
      place.keeps = false
      charged += place.charge
      places[number] = place
      place.divide()
      drop(place.memory, 0..<place.memory.count)
    }

    /// Drops pages, which are mapped again when they are read.
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

  /// Whether the file's first page can be mapped. Some file systems, and files of the kernel, can only be read.
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

  /// At most `count` bytes from `position` in the source. They are valid as long as the window exists.
  func bytes(at position: Int64, _ count: Int) -> UnsafeRawBufferPointer {
    let skipped = lead + Int(position - begin)
    return UnsafeRawBufferPointer(rebasing: memory[skipped..<min(memory.count, skipped + count)])
  }

  /// Releases the pages before `position`, which are mapped again if they are read again.
  func release(before position: Int64) {
    guard let number else { return }
    let used = lead + Int(position - begin)
    Self.room.withLock { $0.release(number, used: used) }
  }

  /// Throws if bytes of the window could not be read. Call it after using the bytes, and before using the result.
  func check() throws(Failure) {
    guard let number, let fault = ck_guard_fault(number), let start = memory.baseAddress else { return }
    throw file.unreadable(at: max(0, begin + Int64(UnsafeRawPointer(start).distance(to: fault) - lead)))
  }
}

/// Bytes of a file that may be read in place as long as this exists.
struct FilePiece {
  let bytes: UnsafeRawBufferPointer
  let window: FileWindow

  /// Throws if the bytes cannot be read, even if only the kernel has tried.
  func check() throws(Failure) {
    ck_guard_touch(bytes.baseAddress, bytes.count)
    try window.check()
  }
}
