import Glibc

/// Writes ranges in their order, whatever the order in which they come, and holds the last one back until the object is
/// proven. Writing may block for as long as the reader likes, so it has a thread of its own while there is something to
/// write.
final class OrderedOutput: Sendable {
  private struct State: Sendable {
    var waiting: [Int: [UInt8]] = [:]
    var next = 1
    var isWriting = false
    var failure: Failure?
    var sums: StreamSums
    /// Told once all but the last were written, or could not be.
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let descriptor: Int32
  private let owns: Bool
  private let count: Int
  private let state: Locked<State>
  private let passedOn: @Sendable (Int) -> Void
  private let failed: @Sendable (Failure) -> Void

  init(
    _ descriptor: Int32, owns: Bool, count: Int, sums: StreamSums, passedOn: @escaping @Sendable (Int) -> Void,
    failed: @escaping @Sendable (Failure) -> Void
  ) {
    (self.descriptor, self.owns, self.count) = (descriptor, owns, count)
    (self.passedOn, self.failed) = (passedOn, failed)
    state = Locked(State(sums: sums))
  }

  deinit { if owns { close(descriptor) } }

  func put(_ number: Int, _ bytes: [UInt8]) {
    let starts = state.withLock { state in
      guard number >= state.next, state.waiting[number] == nil else { return false }
      state.waiting[number] = bytes
      guard !state.isWriting, state.waiting[state.next] != nil else { return false }
      state.isWriting = true
      return true
    }
    guard starts else { return }
    do throws(Failure) {
      try OwnThread.start { [self] in drain() }.detach()
    } catch {
      end(error)
    }
  }

  private func drain() {
    while true {
      let piece: (Int, [UInt8])? = state.withLock { state in
        guard state.failure == nil, state.next < count, let bytes = state.waiting.removeValue(forKey: state.next) else {
          state.isWriting = false
          return nil
        }
        return (state.next, bytes)
      }
      guard let (number, bytes) = piece else { break }
      do throws(Failure) {
        try sum(bytes)
        try write(bytes)
      } catch {
        return end(error)
      }
      state.withLock { $0.next += 1 }
      passedOn(number)
    }
    wakeIfAllOut()
  }

  private func end(_ failure: Failure) {
    state.withLock { state in
      state.failure = state.failure ?? failure
      state.isWriting = false
    }
    failed(failure)
    wakeIfAllOut()
  }

  private func sum(_ bytes: [UInt8]) throws(Failure) {
    try state.withLock { (state) throws(Failure) in
      var problem: Failure?
      bytes.withUnsafeBytes { bytes in
        do throws(Failure) { try state.sums.update(bytes) } catch { problem = error }
      }
      if let problem { throw problem }
    }
  }

  private func wakeIfAllOut() {
    let waiter = state.withLock { state in
      guard state.failure != nil || state.next >= count else { return nil as CheckedContinuation<Void, Never>? }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// The checksums of all bytes, also of those that are held back; waits until the reader has taken the others.
  func wholeSums() async throws(Failure) -> StreamSums {
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiter = continuation }
      wakeIfAllOut()
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    if let last = state.withLock({ $0.waiting[count] }) { try sum(last) }
    return state.withLock { $0.sums }
  }

  /// What was held back.
  func release() async throws(Failure) {
    guard let last = state.withLock({ $0.waiting.removeValue(forKey: count) }) else { return }
    let result: Result<Void, Failure> = await withCheckedContinuation { continuation in
      do throws(Failure) {
        try OwnThread.start { [self] in
          do throws(Failure) {
            try write(last)
            continuation.resume(returning: .success(()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }.detach()
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    try result.get()
  }

  private func write(_ bytes: [UInt8]) throws(Failure) {
    guard StateFolder.writeAll(descriptor, bytes) else {
      let error = errno
      throw .system(
        .local, error, "the output cannot be written",
        remedy: error == EPIPE ? "the program that reads it has ended before it had the whole object" : nil)
    }
  }
}
