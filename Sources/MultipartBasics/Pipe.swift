internal import CKernels
import Glibc

/// The two ends of a pipe, which the caller closes.
public struct Pipe {
  /// The end to read from.
  public let reading: Int32
  /// The end to write to.
  public let writing: Int32

  /// Creates a pipe (`pipe2`) whose ends are not inherited by commands that are started: they would hold the pipe open.
  /// Nil if that fails, and `errno` says why.
  public init?(isNonblocking: Bool = false) {
    var ends: [Int32] = [-1, -1]
    let error = ck_pipe(&ends, isNonblocking ? 1 : 0)
    guard error == 0 else {
      errno = error
      return nil
    }
    (reading, writing) = (ends[0], ends[1])
  }
}
