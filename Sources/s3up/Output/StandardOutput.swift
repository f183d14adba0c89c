import Glibc
import MultipartCore

/// Standard output: what a script reads, so that a write which fails is an error.
///
/// After a line that could not be written whole no other is: a reader would take it for the end of that one.
enum StandardOutput {
  /// The `errno` of the first write that failed.
  private static let broken = Locked<Int32>(0)

  static func line(_ text: String) throws(Failure) { try write(text + "\n") }

  static func write(_ text: String) throws(Failure) {
    let error = broken.withLock { broken in
      if broken == 0 { broken = Descriptor.writeAll(Array(text.utf8), to: STDOUT_FILENO) }
      return broken
    }
    if error != 0 { throw failure(error) }
  }

  /// To be called after the last line: a network file system takes bytes before it knows that there is room for them,
  /// and tells of it when a descriptor of the file is closed. What `write` has told already is not told again.
  static func settle() throws(Failure) {
    let error = broken.withLock { broken -> Int32 in
      guard broken == 0 else { return 0 }
      broken = Descriptor.closeCopy(of: STDOUT_FILENO)
      return broken
    }
    if error != 0 { throw failure(error) }
  }

  private static func failure(_ error: Int32) -> Failure {
    Failure(
      .local, "cannot write to standard output: \(String(cString: strerror(error)))",
      remedy: "See that what reads the output is still there and its disk not full.")
  }
}
