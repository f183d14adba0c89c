import MultipartBasics
import MultipartCore

/// Ends a run at its `--deadline`, whatever it is doing: checksumming a file, looking for credentials, waiting for a
/// source. An upload in progress stops by itself before that, so that it has time to end in an orderly way.
final class RunAlarm: Sendable {
  private enum State: Sendable {
    case armed
    /// The run has its result and is about to report it.
    case over
    case rung
  }

  private let state = Locked(State.armed)

  /// Throws if the deadline was already reported: then the result must not be.
  func disarm() throws(Failure) {
    guard isInTime() else { throw .timeIsOver }
  }

  private func isInTime() -> Bool {
    state.withLock { state in
      if case .rung = state { return false }
      state = .over
      return true
    }
  }

  private func ring() -> Bool {
    state.withLock { state in
      guard case .armed = state else { return false }
      state = .rung
      return true
    }
  }

  /// Runs `work` until it returns or the deadline passes; unfinished work ends with the process. `grace` is for work that
  /// has the same deadline, and stops by itself.
  static func run<Value: Sendable>(
    _ limit: Duration?, _ world: World, grace: Duration = .milliseconds(650),
    _ work: @escaping @Sendable (RunAlarm) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let alarm = RunAlarm()
    guard let limit else { return try await work(alarm) }
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      Task {
        do throws(Failure) {
          let value = try await work(alarm)
          if alarm.isInTime() { continuation.resume(returning: .success(value)) }
        } catch {
          if alarm.isInTime() { continuation.resume(returning: .failure(error)) }
        }
      }
      Task {
        guard (try? await world.sleep(limit + grace)) != nil, alarm.ring() else { return }
        continuation.resume(returning: .failure(.timeIsOver))
      }
    }
    return try result.get()
  }
}
