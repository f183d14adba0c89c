import Glibc

/// Memory of one window of a file that is summed, given back with its last reference. Not Sendable: one sum's at a time.
///
/// A whole window comes from a pool. Aligned memory of malloc's would grow with each part: glibc hardly finds again what
/// was freed of it.
final class WindowBuffer {
  /// Stays in the second-level cache between the kernel's copy and the sums, also when there are two.
  static let size: Int64 = 128 << 10

  let start: UnsafeMutableRawPointer
  /// Nil: the window is small, and malloc's.
  private let pool: WindowPool?

  init(upTo length: Int64, from pool: WindowPool = .shared) throws(Failure) {
    guard length > Self.size / 8 else {
      self.pool = nil
      start = .allocate(byteCount: max(1, Int(length)), alignment: 16)
      return
    }
    self.pool = pool
    start = try pool.take()
  }

  deinit {
    if let pool { pool.give(start) } else { start.deallocate() }
  }

  func bytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: start, count: count)
  }
}

/// Mappings of a window's size (`mmap`, `munmap`). A few that nobody uses are kept for the next part.
final class WindowPool: Sendable {
  static let shared = WindowPool(most: 4)

  private struct State: Sendable {
    /// Where those that nobody uses begin. Numbers, because that is all that threads share: of the memory only its taker
    /// makes use, from `take` to `give`.
    var spare: [UInt] = []
    /// Those in use and the spare ones.
    var mapped = 0
  }

  private let state = Locked(State())
  private let most: Int

  init(most: Int) {
    self.most = most
  }

  var counts: (spare: Int, mapped: Int) { state.withLock { ($0.spare.count, $0.mapped) } }

  func take() throws(Failure) -> UnsafeMutableRawPointer {
    if let spare = state.withLock({ $0.spare.popLast() }).flatMap({ UnsafeMutableRawPointer(bitPattern: $0) }) {
      return spare
    }
    let protection = PROT_READ | PROT_WRITE
    let start = mmap(nil, Int(WindowBuffer.size), protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let start, start != MAP_FAILED else {
      throw Failure.system(.local, errno, "no memory to read the file into")
    }
    state.withLock { $0.mapped += 1 }
    return start
  }

  func give(_ start: UnsafeMutableRawPointer) {
    let address = UInt(bitPattern: start)
    let isKept = state.withLock { state in
      guard state.spare.count < most else {
        state.mapped -= 1
        return false
      }
      state.spare.append(address)
      return true
    }
    if !isKept { munmap(start, Int(WindowBuffer.size)) }
  }
}
