/// Sizes, rates and durations for people.
public enum Human {
  private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// A size with at most three digits before the unit changes, and one decimal below ten: `0 B`, `1023 B`, `1.5 GiB`,
  /// `83 MiB`.
  public static func size(_ bytes: Int64) -> String {
    guard bytes >= 1024 else { return "\(max(0, bytes)) B" }
    var value = Double(bytes)
    var unit = 0
    // 999.5 would round to 1000.
    while value >= 999.5, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return "\(rounded(value)) \(units[unit])"
  }

  /// A speed: `0 B/s`, `1.5 MiB/s`.
  public static func rate(_ bytesPerSecond: Double) -> String {
    guard bytesPerSecond.isFinite, bytesPerSecond > 0 else { return "0 B/s" }
    return size(Int64(min(bytesPerSecond, 1e18))) + "/s"
  }

  /// A duration: `0.4 s`, `12.3 s`, `1m05s`, `2h03m`, `3d04h`.
  public static func duration(_ duration: Duration) -> String {
    let tenths = max(0, Int64((duration / .seconds(1) * 10).rounded()))
    if tenths < 600 { return "\(tenths / 10).\(tenths % 10) s" }
    return clock(duration)
  }

  /// A duration without tenths: `59s`, `1m05s`, `2h03m`, `3d04h`.
  public static func clock(_ duration: Duration) -> String {
    let seconds = max(0, Int64((duration / .seconds(1)).rounded()))
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400)
    if minutes == 0 { return "\(seconds)s" }
    if hours == 0 { return "\(minutes)m\(two(seconds % 60))s" }
    if days == 0 { return "\(hours)h\(two(minutes % 60))m" }
    return "\(days)d\(two(hours % 24))h"
  }

  /// A number of things: `1 part`, `5 parts`.
  public static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)" + (number == 1 ? "" : "s") }

  private static func rounded(_ value: Double) -> String {
    guard value < 9.95 else { return String(Int64(value.rounded())) }
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// A number with two digits: `07`, `12`.
  public static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
