import Glibc

/// When bytes last moved on a transfer, in either direction.
struct Movement {
  private var at: Duration
  private var down: Int64 = 0
  private(set) var up: Int64 = 0
  private var changed = false
  private var queued: Int32 = 0

  init(at now: Duration) {
    at = now
  }

  mutating func touch(_ now: Duration) {
    at = now
  }

  /// Takes libcurl's counters and returns how many body bytes were written to the socket since the last call.
  mutating func record(down: Int64, up: Int64) -> Int64 {
    let sent = up - self.up
    if sent != 0 || down != self.down { changed = true }
    self.up = up
    self.down = down
    return sent
  }

  /// How long nothing has moved. On a slow line the kernel still sends from the socket's buffer long after the last
  /// write, so a shrinking buffer counts as movement.
  mutating func quiet(now: Duration, socket: () -> Int32?) -> Duration {
    if changed {
      changed = false
      at = now
    }
    guard now - at > .seconds(1), let waiting = socket().flatMap(unacknowledged) else { return now - at }
    if waiting != queued {
      queued = waiting
      at = now
    }
    return now - at
  }
}
