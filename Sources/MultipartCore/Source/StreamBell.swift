import Glibc

/// A pipe that wakes one thread: a byte written by any other thread ends its `poll`. Owns both ends.
///
/// Sendable, because the descriptors never change and stay open as long as the object lives.
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

  /// If the pipe is full, the write fails, but the thread is woken all the same.
  func ring() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }

  func silence() {
    var bytes: UInt64 = 0
    while read(reading, &bytes, 8) > 0 {}
  }
}
