import Glibc

/// How many connections a run may use if nobody has fixed their number.
package enum ConnectionBounds {
  /// Of 0.75 MiB each, so that all of them stay within 64 MiB.
  package static let most = 48
  /// File descriptors that the rest of the process needs.
  private static let others = 32

  /// A stream's parts are in memory, so it gets no more connections than it was planned with. `line` is nil if nothing
  /// is known about the line to this store.
  package static func pace(
    _ transfer: TransferSettings, isStream: Bool, line: LineClass? = nil, descriptors: Int
  ) -> Pace.Bounds? {
    guard transfer.connections == .adaptive else { return nil }
    let room = max(1, descriptors - others)
    let start = min(transfer.concurrency, room)
    return Pace.Bounds(
      start: start, most: isStream ? start : min(most, room), opening: line?.opening ?? LineClass.unknownOpening)
  }

  /// `getrlimit`.
  package static var descriptors: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
    return Int(clamping: limit.rlim_cur)
  }
}
