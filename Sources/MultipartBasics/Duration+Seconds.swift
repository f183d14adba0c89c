import Glibc

extension Duration {
  /// The duration in seconds, with their fraction.
  public var seconds: Double {
    let (whole, atto) = components
    return Double(whole) + Double(atto) * 1e-18
  }

  /// The duration in whole milliseconds.
  public var milliseconds: Int64 {
    let (whole, atto) = bounded.components
    return whole * 1000 + atto / 1_000_000_000_000_000
  }

  /// Ten years: longer waits make no sense, and sums of such durations fit into every clock.
  public static let longest = Duration.seconds(10 * 366 * 86_400)

  /// The nearest duration that is not longer than ten years.
  public var bounded: Duration { min(max(self, .zero - .longest), .longest) }

  /// The time since boot, `clock_gettime(CLOCK_BOOTTIME)`: it also counts while the machine is suspended, and never
  /// goes back.
  public static func sinceBoot() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}
