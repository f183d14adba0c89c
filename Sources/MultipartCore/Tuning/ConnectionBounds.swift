import Glibc

/// How many connections a run may come to whose number nobody has fixed.
package enum ConnectionBounds {
  /// Of 0.75 MiB each, so that the whole stays within 64 MiB.
  package static let most = 48
  /// Of the process's file descriptors the rest of it needs so many.
  private static let others = 32

  /// A stream's parts are in memory, so that it gets no more than those that it is planned with. Of the line to this
  /// store nothing may be known.
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
