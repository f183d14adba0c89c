import Glibc

/// Memory for one window of a file that is being summed. Not Sendable: used by one sum at a time.
///
/// Full windows come from a pool: aligned memory from malloc would grow with each part, because glibc hardly reuses it
/// after it was freed.
final class WindowBuffer {
  /// Two of them stay in the second-level cache between the kernel's copy and the sums.
  static let size: Int64 = 128 << 10

  let start: UnsafeMutableRawPointer
  /// Nil for a small window, which malloc provides.
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

/// Mappings of a window's size (`mmap`, `munmap`). A few unused ones are kept for the next part.
final class WindowPool: Sendable {
  static let shared = WindowPool(most: 4)

  private struct State: Sendable {
    /// The addresses of unused mappings. Threads share only these numbers; the memory belongs to one thread from `take` to
    /// `give`.
    var spare: [UInt] = []
    /// The number of mappings, used and unused.
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
