import Glibc
import MultipartBasics

extension Failure {
  /// The error of the system or of a library that caused a failure.
  public enum Underlying: Sendable, Equatable {
    /// An `errno` value of `<errno.h>`.
    case system(Int32)
    /// A `CURLcode`, and the `errno` of the connection if there was one.
    case libcurl(Int32, errno: Int32?)
  }

  /// Whether the error is the machine's rather than that of a file's name: memory, space or a disk.
  static func isOfMachine(_ error: Int32) -> Bool { [ENOMEM, ENOSPC, EDQUOT, EIO].contains(error) }

  /// The failure of a system call; `what` says what could not be done. `error` is a parameter because building the text
  /// may change `errno`. `EMFILE` and `ENFILE` say nothing about the file that was to be opened, so they have a text of
  /// their own.
  static func system(_ code: Code, _ error: Int32, _ what: Wording, remedy: Wording? = nil) -> Failure {
    // `strerror` is thread-safe here: glibc 2.32 and later return constant or thread-local memory.
    let reason = strerror(error).map { String(cString: $0) } ?? "error \(error)"
    var failure = Failure(code, "\(what): \(reason)", remedy: remedy)
    failure.underlying = .system(error)
    if [EMFILE, ENFILE].contains(error) {
      failure.code = .local
      failure.remedy =
        error == EMFILE
        ? "this process may have too few files open: raise the limit (ulimit -n)"
        : "all programs together have too many files open: try again when there are fewer"
    }
    return failure
  }
}

extension Failure: CustomStringConvertible {
  /// What happened, where, and what to do about it, in the library's own words.
  public var description: String {
    var text = message.description
    if let part = place.part { text = "part \(part): " + text }
    let object = place.bucket.map { "s3://\($0)" + (place.key.map { "/" + $0 } ?? "") }
    let places = [place.file, object].compactMap { $0 }
    if !places.isEmpty { text += " (\(places.joined(separator: ", ")))" }
    if let remedy { text += "; " + remedy.description }
    return SafeText.oneLine(text, limit: 4000)
  }
}
