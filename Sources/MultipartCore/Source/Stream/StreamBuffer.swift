import Glibc
import MultipartBasics

/// Memory for one part: anonymous, page-aligned, excluded from core files. Pages are allocated when first written, so a
/// short stream needs no more than its length. Owns its mapping (`mmap`, `munmap`).
///
/// `@unchecked Sendable` holds because it has one owner at a time: the ring passes it to the thread that fills it,
/// which passes it to the `StreamPart`, whose readers only read, and which returns it to the ring, which alone calls
/// `unmap`.
final class StreamBuffer: @unchecked Sendable {
  let size: Int64
  private(set) var bytes: UnsafeMutableRawBufferPointer

  init(size: Int64) throws(Failure) {
    // MAP_NORESERVE: pages that a short stream never writes are not reserved.
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    guard let start = mmap(nil, Int(size), PROT_READ | PROT_WRITE, flags, -1, 0), start != MAP_FAILED else {
      throw Failure.system(
        .local, errno, "no memory for a part of \(size) bytes",
        remedy: "lower \(.concurrency) or \(.partSize)")
    }
    // Keeps the user's data out of core files. A failure has no other effect.
    _ = madvise(start, Int(size), MADV_DONTDUMP)
    self.size = size
    bytes = UnsafeMutableRawBufferPointer(start: start, count: Int(size))
  }

  deinit { unmap() }

  func unmap() {
    guard let start = bytes.baseAddress else { return }
    munmap(start, bytes.count)
    bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }
}

/// A part that was read from a stream: sent from memory, also for retries, until the store has it.
///
/// `release` returns the memory to the ring as soon as it is no longer read. A later reader, such as a second request
/// for the same part that lost the race, gets an error, never the bytes of another part.
final class StreamPart: BodySource {
  private struct State: Sendable {
    var buffer: StreamBuffer?
    var readers = 0
    var isReleased = false
  }

  let length: Int64
  private let state: Locked<State>
  private let ring: PartRing

  init(buffer: StreamBuffer, length: Int64, ring: PartRing) {
    self.length = length
    self.ring = ring
    state = Locked(State(buffer: buffer))
  }

  deinit { release() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
    guard offset >= 0, offset < length else { return 0 }
    let count = Int(min(Int64(buffer.count), length - offset))
    return try withBytes { bytes in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[Int(offset)...].prefix(count)))
      return count
    }
  }

  /// The checksums of the part, in one pass.
  func checksums(_ algorithms: Set<ChecksumAlgorithm>) throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    var sums = try MultiChecksum(algorithms)
    try withBytes { sums.update($0) }
    return try sums.finish()
  }

  /// The first bytes, for guessing the content type.
  func leadingBytes(_ count: Int) throws(Failure) -> [UInt8] {
    try withBytes { Array($0.prefix(count)) }
  }

  /// Returns the memory to the ring; further calls do nothing.
  func release() {
    let free = state.withLock { state in
      state.isReleased = true
      return Self.free(&state)
    }
    if let free { ring.giveBack(free) }
  }

  /// Calls `body` with the bytes, which stay in place while it runs, even if the part is released.
  func withBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let buffer = state.withLock { state -> StreamBuffer? in
      guard !state.isReleased, let buffer = state.buffer else { return nil }
      state.readers += 1
      return buffer
    }
    guard let buffer else { throw Failure(.interrupted, "the part's memory was already released") }
    defer {
      let free = state.withLock { state in
        state.readers -= 1
        return Self.free(&state)
      }
      if let free { ring.giveBack(free) }
    }
    return try body(UnsafeRawBufferPointer(rebasing: buffer.bytes.prefix(Int(length))))
  }

  /// Returns the buffer, once, when it is no longer needed.
  private static func free(_ state: inout State) -> StreamBuffer? {
    guard state.isReleased, state.readers == 0 else { return nil }
    return state.buffer.take()
  }
}
