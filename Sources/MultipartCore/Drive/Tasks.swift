import MultipartBasics

/// The running tasks. A task is removed when its work has ended, so that only those that can still be cancelled are
/// kept.
final class Tasks: Sendable {
  enum Role: Sendable {
    case part(TransferProgress.Transfer)
    /// Stopped together with the parts, because nothing depends on its result then: reading the source, putting all of
    /// it, asking for an object or for its proof.
    case step
    /// Stopped only when the run ends.
    case other
  }

  private struct State: Sendable {
    var begun = 0
    var held: [Int: (role: Role, task: Task<Void, Never>)] = [:]
  }

  private let state = Locked(State())

  var count: Int { state.withLock { $0.held.count } }

  func begin(_ role: Role = .other, _ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      let number = state.begun
      state.begun += 1
      // A task that ends at once waits for this lock, so that it is removed only after it was added.
      let task = Task { [self] in
        await work()
        self.state.withLock { $0.held[number] = nil }
      }
      state.held[number] = (role, task)
    }
  }

  /// Cancels both transfers of a part that is sent twice, except one whose bytes are all sent: it may still arrive.
  func cancel(_ part: Int, unless isSent: (TransferProgress.Transfer) -> Bool) {
    cancel { role in
      guard case .part(let transfer) = role, transfer.part == part else { return false }
      return !isSent(transfer)
    }
  }

  func cancelTransfers() {
    cancel { role in
      if case .other = role { false } else { true }
    }
  }

  func cancelParts() {
    cancel { role in
      if case .part = role { true } else { false }
    }
  }

  func cancelAll() {
    cancel { _ in true }
  }

  private func cancel(where isMeant: (Role) -> Bool) {
    for (role, task) in state.withLock({ Array($0.held.values) }) where isMeant(role) { task.cancel() }
  }
}
