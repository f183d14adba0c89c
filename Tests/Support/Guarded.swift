import Foundation

/// A value that several threads share.
///
/// Sendable because `state` is accessed only inside `with`, which holds the lock.
package final class Guarded<State: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var state: State

  package init(_ state: State) {
    self.state = state
  }

  package func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }
}
