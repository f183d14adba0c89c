import Glibc

/// How many connections a run may use if nobody has fixed their number.
package enum ConnectionBounds {
  /// Of 0.75 MiB each, so that all of them stay within 64 MiB.
  package static let most = 48
  /// If losses limit each of them.
  package static let mostWhenLossy = 64
  /// If they did in the last run.
  private static let startWhenLossy = 32
  /// While objects are small, and the wait for answers is what holds a run up.
  package static let mostForSmall = 256
  /// File descriptors that the rest of the process needs.
  private static let others = 32

  /// A stream's parts are in memory, so it gets no more connections than it was planned with. `line` is nil if nothing
  /// is known about the line to this store.
  package static func pace(
    _ transfer: TransferSettings, isStream: Bool, line: LineClass? = nil, descriptors: Int
  ) -> Pace.Bounds? {
    guard transfer.connections == .adaptive else { return nil }
    let room = max(1, descriptors - others)
    let usual = line == .lossy && !isStream ? max(transfer.concurrency, startWhenLossy) : transfer.concurrency
    let start = min(usual, room)
    return Pace.Bounds(
      start: start, most: isStream ? start : min(most, room),
      mostWhenLossy: isStream ? start : min(mostWhenLossy, room), opening: line?.opening ?? .max)
  }

  /// Each needs a socket, its file, and perhaps one that is about to begin; a walk keeps some 200 folders open.
  package static func mostSmall(descriptors: Int) -> Int {
    max(1, min(mostForSmall, (descriptors - others - 200) / 3))
  }

  /// `getrlimit`.
  package static var descriptors: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
    return Int(clamping: limit.rlim_cur)
  }
}
