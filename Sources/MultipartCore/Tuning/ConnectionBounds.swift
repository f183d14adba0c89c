import Glibc

/// How many connections a run may use if their number is not fixed.
enum ConnectionBounds {
  /// The most connections, of 0.75 MiB each, so that all of them stay within 64 MiB.
  static let most = 48
  /// The most if losses limit each of them.
  static let mostWhenLossy = 64
  /// The first number if losses limited them in the last run.
  private static let startWhenLossy = 32
  /// The most while objects are small, and a run spends its time waiting for answers.
  static let mostForSmall = 256
  /// File descriptors that the rest of the process needs.
  private static let others = 32
  /// File descriptors for the open folders on the path of a walk that is not deep.
  private static let walk = 8

  /// The bounds for a run. A stream's parts are in memory, so it gets no more connections than it was planned with.
  /// `line` is nil if nothing is known about the line to this store.
  static func pace(
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

  /// The most for small objects. Each needs a socket, its file, and perhaps the file of one that is about to begin.
  static func mostSmall(descriptors: Int) -> Int {
    max(1, min(mostForSmall, (descriptors - others - walk - mostFolders(descriptors: descriptors)) / 3))
  }

  /// How many folders may be open with files that were found in them and have not started. Beyond that only those on
  /// the path of the walk are opened.
  static func mostFolders(descriptors: Int) -> Int {
    max(1, min(200, (descriptors - others - walk) / 6))
  }

  /// How many objects of a run may be open at once. Each needs its file, a socket, and its record with the lock.
  static func ahead(_ transfer: TransferSettings, descriptors: Int) -> Int {
    max(1, min(2 * max(transfer.concurrency, 8), (descriptors - others - walk) / 4))
  }

  /// The limit of open files (`getrlimit`).
  static var descriptors: Int { limit.map { Int(clamping: $0.rlim_cur) } ?? 256 }

  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

  private static var limit: rlimit? {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? limit : nil
  }

  /// With fewer descriptors, what a run needs at the start may fail, and libdispatch ends the process if it runs out.
  private static let fewest = 48

  /// Throws unless the process may have as many files open as a small run needs (`setrlimit`, where the limit is a soft
  /// one).
  static func proveDescriptors() throws(Failure) {
    guard var limit, descriptors < fewest else { return }
    limit.rlim_cur = min(limit.rlim_max, rlim_t(fewest))
    guard limit.rlim_cur < rlim_t(fewest) || setrlimit(resource, &limit) != 0 else { return }
    throw Failure(
      .local, "this process may have \(descriptors) files open, and needs \(fewest)",
      remedy: "raise the limit: ulimit -n \(fewest) or more")
  }
}
