import Glibc

/// `write(2)`, repeated until everything is written.
public enum WholeWrite {
  /// Writes all bytes, waiting if the descriptor is non-blocking and full. Returns 0, or the `errno` of the failed
  /// write.
  public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { raw in
        Glibc.write(descriptor, raw.baseAddress.map { $0 + sent }, bytes.count - sent)
      }
      if count > 0 {
        sent += count
      } else if count < 0, errno == EAGAIN {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = Glibc.poll(&poll, 1, -1)
      } else if count < 0, errno != EINTR {
        return errno
      }
    }
    return 0
  }
}
