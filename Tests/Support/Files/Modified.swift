import Foundation

/// Sets the time of the last change, so that a following change is later, whatever the clock's resolution.
package func setModified(_ path: String, seconds: Int, nanoseconds: Int = 5) throws {
  var times = [timespec(tv_sec: seconds, tv_nsec: nanoseconds), timespec(tv_sec: seconds, tv_nsec: nanoseconds)]
  guard utimensat(AT_FDCWD, path, &times, 0) == 0 else { throw SystemError("utimensat") }
}
