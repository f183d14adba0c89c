import Glibc
import MultipartBasics
import MultipartCore

/// Standard output. Scripts read it, so a failed write is an error.
///
/// After a line that could not be written completely, nothing else is written: a reader would take it for the end of
/// that line.
enum StandardOutput {
  /// The `errno` of the first failed write.
  private static let broken = Locked<Int32>(0)

  static func line(_ text: String) throws(Failure) { try write(text + "\n") }

  static func write(_ text: String) throws(Failure) { try write(Array(text.utf8)) }

  static func write(_ bytes: [UInt8]) throws(Failure) {
    let error = broken.withLock { broken in
      if broken == 0 { broken = WholeWrite.write(bytes, to: STDOUT_FILENO) }
      return broken
    }
    if error != 0 { throw failure(error) }
  }

  /// Reports errors that were delayed; call it after the last line. A network file system accepts bytes before it knows
  /// that there is space for them, and reports an error when a descriptor is closed. An error that was already reported
  /// is not reported again.
  static func settle() throws(Failure) {
    let error = broken.withLock { broken -> Int32 in
      guard broken == 0 else { return 0 }
      broken = Descriptor.closeCopy(of: STDOUT_FILENO)
      return broken
    }
    if error != 0 { throw failure(error) }
  }

  /// The reader of a pipe has closed it, such as `head`, once it has all that it wants.
  static var hasNoReader: Bool { broken.withLock { $0 == EPIPE } }

  private static func failure(_ error: Int32) -> Failure {
    Failure(
      .local, "cannot write to standard output: \(String(cString: strerror(error)))",
      remedy: "Check that the reader of the output still runs and that its disk is not full.")
  }
}
