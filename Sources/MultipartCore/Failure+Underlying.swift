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

  /// The failure of a system call; `what` says what could not be done. `error` is a parameter because building the text
  /// may change `errno`. Where the caller blames a name that was given (`.usage`), an error of the machine is not its
  /// fault; and that too many files are open says nothing about any file.
  static func system(_ code: Code, _ error: Int32, _ what: Wording, remedy: Wording? = nil) -> Failure {
    // `strerror` is thread-safe here: glibc 2.32 and later return constant or thread-local memory.
    let reason = strerror(error).map { String(cString: $0) } ?? "error \(error)"
    var failure = Failure(code, "\(what): \(reason)", remedy: remedy)
    failure.underlying = .system(error)
    let isLimit = [EMFILE, ENFILE].contains(error)
    if isLimit || code == .usage && [ENOMEM, ENOSPC, EDQUOT, EIO, ESTALE].contains(error) { failure.code = .local }
    switch error {
    case EMFILE: failure.remedy = "this process may have too few files open: raise the limit (ulimit -n)"
    case ENFILE: failure.remedy = "all programs together have too many files open: try again when there are fewer"
    case EIO, ESTALE: failure.remedy = "check the disk, or the connection to the file server that has it"
    default: break
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
