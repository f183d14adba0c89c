import Glibc

extension Duration {
  package var seconds: Double {
    let (whole, atto) = components
    return Double(whole) + Double(atto) * 1e-18
  }

  package var milliseconds: Int64 {
    let (whole, atto) = components
    return whole * 1000 + atto / 1_000_000_000_000_000
  }

  /// `clock_gettime(CLOCK_BOOTTIME)`: also counts while the machine is suspended, and never goes back.
  package static func sinceBoot() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}
