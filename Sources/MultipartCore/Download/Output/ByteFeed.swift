import MultipartBasics

/// Passes pieces from one task to another, one at a time: the giving task waits until the previous piece was taken.
final class ByteFeed: Sendable {
  private struct State: Sendable {
    var piece: [UInt8]?
    var isStopped = false
    var taker: CheckedContinuation<[UInt8]?, Never>?
    var giver: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  /// Passes a piece; false if it will not be taken.
  func put(_ piece: [UInt8]) async -> Bool {
    guard !piece.isEmpty else { return true }
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.piece == nil || state.isStopped { return true }
        state.giver = continuation
        return false
      }
      if isFree { continuation.resume() }
    }
    let (taker, isTaken) = state.withLock { state in
      guard !state.isStopped else { return (nil as CheckedContinuation<[UInt8]?, Never>?, false) }
      defer { state.taker = nil }
      if state.taker == nil { state.piece = piece }
      return (state.taker, true)
    }
    taker?.resume(returning: piece)
    return isTaken
  }

  /// The next piece; nil after the last one.
  func next() async -> [UInt8]? {
    await withCheckedContinuation { continuation in
      let (answer, giver): ([UInt8]??, CheckedContinuation<Void, Never>?) = state.withLock { state in
        if let piece = state.piece {
          defer { (state.piece, state.giver) = (nil, nil) }
          return (.some(piece), state.giver)
        }
        if state.isStopped { return (.some(nil), nil) }
        state.taker = continuation
        return (nil, nil)
      }
      giver?.resume()
      if let answer { continuation.resume(returning: answer) }
    }
  }

  /// Ends the feed: no piece follows those that were given.
  func stop() {
    let (taker, giver) = state.withLock { state in
      state.isStopped = true
      defer { (state.taker, state.giver) = (nil, nil) }
      return (state.taker, state.giver)
    }
    taker?.resume(returning: nil)
    giver?.resume()
  }
}
