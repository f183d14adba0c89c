import MultipartBasics
import MultipartCore

/// What `ls` shows, and how.
struct ListOptions: Sendable, Equatable {
  var isRecursive = false
  var isLong = false
  var isHuman = false
  var versions = false
  var endsWithZero = false

  init(_ invocation: Invocation) throws(Failure) {
    isRecursive = invocation.toggle(.recursive) ?? false
    isLong = invocation.toggle(.long) ?? false
    isHuman = invocation.toggle(.humanReadable) ?? false
    versions = invocation.toggle(.versions) ?? false
    endsWithZero = invocation.toggle(.null) ?? false
    if endsWithZero, invocation.has(.json) {
      throw Failure(.usage, "-0 and --json exclude each other", remedy: "In JSON a key cannot contain a line break.")
    }
  }
}
