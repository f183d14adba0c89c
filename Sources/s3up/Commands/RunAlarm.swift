import MultipartCore

/// Ends a run at its `--deadline` whatever it is at: a file that is summed, credentials that are looked for, a source that
/// does not answer. An upload that is under way ends by itself before, and this is the time that it has for that.
final class RunAlarm: Sendable {
  private static let grace = Duration.milliseconds(400)

  private enum State: Sendable {
    case armed
    /// The run has its result, and is to tell it.
    case over
    case rung
  }

  private let state = Locked(State.armed)

  /// False when the time is over and that was told: whatever the result is, nobody hears it.
  func disarm() -> Bool {
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

  /// Runs `work` until it has ended or the time is over; work that is left behind ends with the process.
  static func run(
    _ limit: Duration?, _ world: World, _ work: @escaping @Sendable (RunAlarm) async throws(Failure) -> Void
  ) async throws(Failure) {
    let alarm = RunAlarm()
    guard let limit else { return try await work(alarm) }
    let result: Result<Void, Failure> = await withCheckedContinuation { continuation in
      Task.begin {
        do throws(Failure) {
          try await work(alarm)
          if alarm.disarm() { continuation.resume(returning: .success(())) }
        } catch {
          if alarm.disarm() { continuation.resume(returning: .failure(error)) }
        }
      }
      Task.begin {
        guard (try? await world.sleep(limit + grace)) != nil, alarm.ring() else { return }
        continuation.resume(returning: .failure(Failure(.deadline, "the time that --deadline gives is over")))
      }
    }
    try result.get()
  }
}
