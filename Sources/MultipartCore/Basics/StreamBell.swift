import Glibc
import MultipartBasics

/// A pipe that wakes one thread: a byte written by any other thread ends its `poll`. Owns both ends.
///
/// Sendable, because the descriptors never change and stay open as long as the object lives.
final class StreamBell: Sendable {
  let reading: Int32
  private let writing: Int32

  init() throws(Failure) {
    guard let pipe = Pipe(isNonblocking: true) else { throw .noPipe }
    (reading, writing) = (pipe.reading, pipe.writing)
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// Wakes the thread. If the pipe is full, the write fails, but the thread is woken all the same.
  func ring() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }

  func silence() {
    var bytes: UInt64 = 0
    while read(reading, &bytes, 8) > 0 {}
  }
}

extension Failure {
  /// The failure after no `Pipe` could be created.
  static var noPipe: Failure { .system(.local, errno, "no pipe could be created") }
}
