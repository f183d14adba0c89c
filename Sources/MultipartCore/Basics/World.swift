import Glibc
import MultipartBasics

/// Everything that the core takes from outside: time, random numbers, environment and the log. The core never asks the
/// process for them itself, so that a test can provide its own.
public struct World: Sendable {
  /// Seconds since 1970, from the wall clock.
  public var now: @Sendable () -> Timestamp
  /// A clock that never goes back.
  public var uptime: @Sendable () -> Duration
  /// Waits; throws as soon as the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// A random number in 0..<1.
  var random: @Sendable () -> Double
  var environment: [String: String]
  /// Level 0 is rare and for all users, 1 has more detail, 2 is each request. Secrets are masked.
  public var log: @Sendable (_ level: Int, _ message: @autoclosure () -> Wording) -> Void
  /// The secrets of this run, which no output may contain.
  let secrets: SecretsInUse
  /// Collects what happens, if somebody wants that.
  var timeline: Timeline?

  init(
    now: @escaping @Sendable () -> Timestamp,
    uptime: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void,
    random: @escaping @Sendable () -> Double,
    environment: [String: String], secrets: SecretsInUse = SecretsInUse(),
    log: @escaping @Sendable (_ level: Int, _ message: @autoclosure () -> Wording) -> Void = { _, _ in }
  ) {
    self.now = now
    self.uptime = uptime
    self.sleep = sleep
    self.random = random
    self.environment = environment
    self.secrets = secrets
    self.log = { level, message in log(level, secrets.masked(message())) }
  }
}

extension World {
  /// Sleeps by the clock that also runs while the machine is suspended; throws as soon as the task is cancelled.
  public static func sleep(_ time: Duration) async throws {
    try await Task.sleep(for: time.bounded, clock: .continuous)
  }

  /// The clocks, random numbers and variables of this process. Messages above `level` are not even created: formatting
  /// a request and its answer would take as much CPU as all other work for a part.
  public static func ofProcess(
    _ environment: [String: String], upTo level: Int = 2,
    log: @escaping @Sendable (_ level: Int, _ message: Wording) -> Void
  ) -> World {
    World(
      now: { Timestamp(seconds: Int64(time(nil))) }, uptime: { .sinceBoot() },
      sleep: { try await sleep($0) }, random: { Double.random(in: 0..<1) },
      environment: environment, log: { at, message in if at <= level { log(at, message()) } })
  }
}

extension World {
  /// Runs `work`, which must respond to cancellation, with a time limit. `waits` is called when the time is over: as
  /// long as it returns true, for example while a question to the user is open, there is no limit.
  func within<Value: Sendable>(
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
      return .failure(.interrupted)
    }
  }
}
