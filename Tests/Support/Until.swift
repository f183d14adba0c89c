import MultipartBasics

/// An event that a test waited for did not occur in time.
package struct NotInTime: Error, CustomStringConvertible {
  package let description: String
}

/// Waits for a condition; throws if it does not hold within `limit`, not counting the time that the machine fell behind.
///
///     try await until("the reader has three bytes") { source.bytesRead == 3 }
package func until(
  _ what: @autoclosure () -> String, within limit: Duration = .seconds(240), _ condition: () throws -> Bool
) async throws {
  let (began, lag) = (ContinuousClock.now, Lag())
  while try !condition() {
    guard ContinuousClock.now - began - lag.sofar < limit else {
      throw NotInTime(description: "waited \(limit) in vain until \(what())")
    }
    try await Task.sleep(for: .milliseconds(1))
  }
}

/// The result of `body`; throws if there is none within `limit`, not counting the time that the machine fell behind.
/// Work that cannot be stopped is left running, so that a test that hangs is reported within minutes.
package func finishes<Value: Sendable>(
  _ what: String, within limit: Duration = .seconds(240), _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let (began, lag) = (ContinuousClock.now, Lag())
  let outcome = Guarded<Result<Value, any Error>?>(nil)
  let task = Task {
    do {
      let value = try await body()
      outcome.with { $0 = .success(value) }
    } catch {
      outcome.with { $0 = .failure(error) }
    }
  }
  while true {
    if let outcome = outcome.with({ $0 }) { return try outcome.get() }
    guard ContinuousClock.now - began - lag.sofar < limit else {
      task.cancel()
      throw NotInTime(description: "\(what) did not end within \(limit)")
    }
    try await Task.sleep(for: .milliseconds(1))
  }
}
