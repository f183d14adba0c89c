extension World {
  /// Runs `work`, which must respond to cancellation, with a time limit. `waits` is asked when the time is over: as long as
  /// it returns true, for example while a person is being asked something, there is no limit.
  package func within<Value: Sendable>(
    _ limit: Duration, _ what: String, remedy: Wording? = nil, unless waits: @escaping @Sendable () -> Bool = { false },
    _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    await withTaskGroup(of: Result<Value, Failure>?.self) { group in
      group.addTask {
        do throws(Failure) {
          return .success(try await work())
        } catch {
          return .failure(error)
        }
      }
      group.addTask {
        repeat {
          guard (try? await sleep(limit)) != nil else { return nil }
        } while waits()
        return .failure(Failure(.stalled, "\(what) within \(limit.components.seconds) s", remedy: remedy))
      }
      defer { group.cancelAll() }
      for await result in group { if let result { return result } }
      return .failure(Failure(.interrupted, "interrupted"))
    }
  }
}
