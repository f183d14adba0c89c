import Glibc
import MultipartBasics

/// Passes ranges on in order, regardless of the order in which they arrive, and holds the last one back until the
/// object is proven. Writing may block for as long as the reader likes, so each range is written by its own thread.
final class OrderedOutput: Sendable {
  private struct State: Sendable {
    var waiting: [Int: [UInt8]] = [:]
    var next = 1
    var isWriting = false
    var failure: Failure?
    var sums: StreamSums
    var isClosed = false
    /// Resumed once all but the last range were written, or could not be.
    var waiter: CheckedContinuation<Void, Never>?
  }

  enum Sink: Sendable {
    case descriptor(Int32, owns: Bool)
    case feed(ByteFeed)
  }

  private let sink: Sink
  private let count: Int
  private let state: Locked<State>
  private let passedOn: @Sendable (Int) -> Void
  private let failed: @Sendable (Failure) -> Void

  init(
    _ sink: Sink, count: Int, sums: StreamSums, passedOn: @escaping @Sendable (Int) -> Void,
    failed: @escaping @Sendable (Failure) -> Void
  ) {
    (self.sink, self.count) = (sink, count)
    (self.passedOn, self.failed) = (passedOn, failed)
    state = Locked(State(sums: sums))
  }

  deinit { closeOutput() }

  /// Closes the output after the last byte.
  func closeOutput() {
    guard case .descriptor(let descriptor, owns: true) = sink else { return }
    let closes = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if closes { close(descriptor) }
  }

  func put(_ number: Int, _ bytes: [UInt8]) {
    let starts = state.withLock { state in
      guard number >= state.next, state.waiting[number] == nil else { return false }
      state.waiting[number] = bytes
      guard !state.isWriting, state.waiting[state.next] != nil else { return false }
      state.isWriting = true
      return true
    }
    if starts { Task { [self] in await drain() } }
  }

  private func drain() async {
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
        try await write(bytes)
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

  /// Stops waiting for the reader.
  func stop() {
    state.withLock { $0.failure = $0.failure ?? .interrupted }
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

  /// The checksums of all bytes, including those that are held back; waits until the reader has taken the others.
  func wholeSums() async throws(Failure) -> StreamSums {
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiter = continuation }
      wakeIfAllOut()
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    if let last = state.withLock({ $0.waiting[count] }) { try sum(last) }
    return state.withLock { $0.sums }
  }

  /// Passes on what was held back.
  func release() async throws(Failure) {
    if let last = state.withLock({ $0.waiting.removeValue(forKey: count) }) { try await write(last) }
  }

  private func write(_ bytes: [UInt8]) async throws(Failure) {
    switch sink {
    case .feed(let feed):
      guard await feed.put(bytes) else { throw Failure(.interrupted, "the bytes are no longer being read") }
    case .descriptor(let descriptor, _):
      let result: Result<Void, Failure> = await withCheckedContinuation { continuation in
        do throws(Failure) {
          try OwnThread.start {
            continuation.resume(returning: Self.write(bytes, descriptor).map { .failure($0) } ?? .success(()))
          }.detach()
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
      try result.get()
    }
  }

  private static func write(_ bytes: [UInt8], _ descriptor: Int32) -> Failure? {
    let error = WholeWrite.write(bytes, to: descriptor)
    guard error != 0 else { return nil }
    let remedy: Wording? =
      switch error {
      case EPIPE: "the program that reads it has ended before it had the whole object"
      case ENOSPC, EDQUOT: "make room where it is written, or write it elsewhere, then run the same command again"
      default: nil
      }
    return .system(.local, error, "the output cannot be written", remedy: remedy)
  }
}
