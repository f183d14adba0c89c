/// How many bytes per second all connections of a store may send together: one rate, or rates by the time of day.
///
///     options.limitRate = .bytesPerSecond(10 << 20)
///     options.limitRate = .timetable([.init(hour: 8, bytesPerSecond: 2 << 20), .init(hour: 19, bytesPerSecond: nil)])
public struct RateLimit: Sendable, Hashable {
  /// A rate that applies from a time of day on, by the local clock of the process.
  public struct Change: Sendable, Hashable {
    /// Minutes since midnight.
    public let minute: Int
    /// The rate; nil: no limit.
    public let bytesPerSecond: Int64?

    /// Changes the rate at this time of day.
    public init(hour: Int, minute: Int = 0, bytesPerSecond: Int64?) {
      let (hour, minute) = (min(max(-24, hour), 24), min(max(-Self.minutesOfDay, minute), Self.minutesOfDay))
      self.minute = min(max(0, hour * 60 + minute), Self.minutesOfDay - 1)
      self.bytesPerSecond = bytesPerSecond.map { max(1, $0) }
    }

    static let minutesOfDay = 24 * 60
  }

  /// The changes, in the order of the day; never empty.
  let changes: [Change]

  /// The same rate all day.
  public static func bytesPerSecond(_ rate: Int64) -> RateLimit {
    RateLimit(changes: [Change(hour: 0, bytesPerSecond: rate)])
  }

  /// Rates by time of day. Before the first change of a day, the last change of the day before applies. Without changes
  /// there is no limit.
  public static func timetable(_ changes: [Change]) -> RateLimit {
    let changes = changes.isEmpty ? [Change(hour: 0, bytesPerSecond: nil)] : changes
    return RateLimit(changes: changes.sorted { $0.minute < $1.minute })
  }

  var isConstant: Bool { changes.allSatisfy { $0.bytesPerSecond == changes[0].bytesPerSecond } }

  /// The lowest rate; nil if there is never a limit.
  public var least: Int64? { changes.compactMap(\.bytesPerSecond).min() }

  /// The rate at this minute of the day; nil: no limit.
  func rate(at minute: Int) -> Int64? {
    (changes.last { $0.minute <= minute } ?? changes.last)?.bytesPerSecond
  }

  func rate(at now: Timestamp) -> Int64? { rate(at: now.localMinute) }

  /// The first change after this minute, perhaps on the next day; nil if there is none.
  func next(after minute: Int) -> Change? {
    guard !isConstant else { return nil }
    let current = rate(at: minute)
    let coming = changes.filter { $0.minute > minute } + changes
    return coming.first { $0.bytesPerSecond != current }
  }
}
