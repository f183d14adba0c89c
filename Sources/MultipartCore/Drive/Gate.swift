import MultipartBasics

/// Lets only a limited number in at once; the others wait in the order in which they arrived.
final class Gate: Sendable {
  private struct State: Sendable {
    var free: Int
    var isClosed = false
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let state: Locked<State>

  init(_ places: Int) {
    state = Locked(State(free: places))
  }

  /// Waits for a place; false once the gate was closed.
  func enter() async -> Bool {
    await withCheckedContinuation { continuation in
      let answer: Bool? = state.withLock { state in
        if state.isClosed { return false }
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  func leave() {
    let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resume(returning: true)
  }

  func close() {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: false) }
  }
}
