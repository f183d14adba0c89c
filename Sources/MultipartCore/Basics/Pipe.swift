internal import CKernels
import Glibc

/// The two ends of a pipe, which the caller closes.
struct Pipe {
  let reading: Int32
  let writing: Int32

  /// Creates a pipe (`pipe2`) whose ends are not inherited by commands that are started: they would hold the pipe open.
  init(isNonblocking: Bool = false) throws(Failure) {
    var ends: [Int32] = [-1, -1]
    let error = ck_pipe(&ends, isNonblocking ? 1 : 0)
    guard error == 0 else { throw Failure.system(.local, error, "no pipe could be created") }
    (reading, writing) = (ends[0], ends[1])
  }
}

/// A pipe that wakes one thread: a byte written by any other thread ends its `poll`. Owns both ends.
///
/// Sendable, because the descriptors never change and stay open as long as the object lives.
final class StreamBell: Sendable {
  let reading: Int32
  private let writing: Int32

  init() throws(Failure) {
    let pipe = try Pipe(isNonblocking: true)
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
