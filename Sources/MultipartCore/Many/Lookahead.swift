import MultipartBasics

/// Candidates that were found but have not started: at most a thousand, so that large files among them can start early
/// and a walk is never far ahead of what is sent.
final class Lookahead<Found: Findable>: Sendable {
  private struct State: Sendable {
    /// Files that need several connections, sorted by size; the largest is the last.
    var large: [Found] = []
    var small: ArraySlice<Found> = []
    var isClosed = false
    /// At most one of each: one task finds candidates, one takes them.
    var taker: CheckedContinuation<Found?, Never>?
    var giver: CheckedContinuation<Bool, Never>?
    var finder: Task<Void, Never>?

    var count: Int { large.count + small.count }

    mutating func take() -> Found? { large.popLast() ?? small.popFirst() }
  }

  private let state = Locked(State())
  private let most: Int
  private let large: Int64
  /// Whether something else limits it already, such as the number of open folders.
  private let isFull: @Sendable () -> Bool

  /// `large`: files of at least this size are taken before the others.
  init(
    most: Int = 1000, large: Int64, isFull: (@Sendable () -> Bool)? = nil
  ) {
    let folders = ConnectionBounds.mostFolders(descriptors: ConnectionBounds.descriptors)
    // A folder stays open until each file that was found in it has started.
    let isFull = isFull ?? { Folder.openCount > folders }
    (self.most, self.large, self.isFull) = (most, large, isFull)
  }

  /// Runs the finder in its own task. `ended` receives the failure, if the finder could not finish.
  func fill(
    by find: @escaping Finder<Found>, _ take: @escaping @Sendable (CandidateStep<Found>) async -> Bool,
    ended: @escaping @Sendable (Failure?) -> Void
  ) -> Task<Void, Never> {
    let finder = Task {
      do {
        try await find(take)
        ended(nil)
      } catch {
        ended(error as? Failure ?? Failure(.sourceMissing, "the sources could not be read: \(error)"))
      }
      close()
    }
    let isClosed = state.withLock { state in
      state.finder = finder
      return state.isClosed
    }
    if isClosed { finder.cancel() }
    return finder
  }

  /// Waits for room for another candidate; false if no more are wanted.
  func put(_ candidate: Found) async -> Bool {
    let taker: CheckedContinuation<Found?, Never>? = state.withLock { state in
      guard !state.isClosed else { return nil }
      if let taker = state.taker {
        state.taker = nil
        return taker
      }
      if let size = candidate.size, size >= large {
        let place = state.large.firstIndex { ($0.size ?? 0) >= size } ?? state.large.endIndex
        state.large.insert(candidate, at: place)
      } else {
        state.small.append(candidate)
      }
      return nil
    }
    taker?.resume(returning: candidate)
    return await withCheckedContinuation { continuation in
      let answer: Bool? = state.withLock { state in
        if state.isClosed { return false }
        if state.count == 0 || (state.count < most && !isFull()) { return true }
        state.giver = continuation
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  /// The next candidate; nil once it is closed and empty.
  func take() async -> Found? {
    await withCheckedContinuation { continuation in
      let (next, isOver, giver) = state.withLock { state in
        let next = state.take()
        if next == nil, !state.isClosed { state.taker = continuation }
        let hasRoom = state.count < most && (state.count == 0 || !isFull())
        defer { if hasRoom { state.giver = nil } }
        return (next, next == nil && state.isClosed, hasRoom ? state.giver : nil)
      }
      giver?.resume(returning: true)
      if next != nil || isOver { continuation.resume(returning: next) }
    }
  }

  /// Accepts no more candidates; with `dropping` none are returned any more either, and the finder is cancelled, which
  /// may be waiting for a store's answer or for the next try.
  func close(dropping: Bool = false) {
    let (taker, giver, finder) = state.withLock { state in
      state.isClosed = true
      if dropping { (state.large, state.small) = ([], []) }
      defer { (state.taker, state.giver) = (nil, nil) }
      return (state.taker, state.giver, dropping ? state.finder : nil)
    }
    finder?.cancel()
    taker?.resume(returning: nil)
    giver?.resume(returning: false)
  }
}
