import Glibc

/// A pipe of one thread's own, in which a byte from any other thread ends its `poll`. Owns both ends.
///
/// Sendable, because the ends never change and live as long as whoever can call.
final class StreamBell: Sendable {
  let reading: Int32
  private let writing: Int32

  init() throws(Failure) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw Failure.system(.local, errno, "no pipe could be made")
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// A full pipe refuses the byte, and rings all the same.
  func ring() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }

  func silence() {
    var bytes: UInt64 = 0
    while read(reading, &bytes, 8) > 0 {}
  }
}
