import MultipartCore

/// The exit status of a run.
enum ExitStatus: Int32, Sendable {
  case success = 0
  /// Several files failed, for different reasons.
  case several = 1
  case usage = 64
  case data = 65
  case sourceMissing = 66
  case unavailable = 69
  case precondition = 73
  case output = 74
  case temporary = 75
  case credentials = 77
  case configuration = 78
  case hungUp = 129
  case interrupted = 130
  case terminated = 143

  init(_ code: Failure.Code) {
    self =
      switch code {
      case .usage: .usage
      case .configuration: .configuration
      case .sourceMissing: .sourceMissing
      case .sourceChanged, .dataMismatch: .data
      case .refused, .uploadGone, .checksumUnsupported, .tls: .unavailable
      case .precondition: .precondition
      case .credentials, .credentialsExpired, .clockSkew: .credentials
      case .output: .output
      // Memory, threads or disk of this machine: the same command may succeed later.
      case .network, .stalled, .throttled, .server, .local, .deadline, .locked: .temporary
      case .interrupted: .interrupted
      }
  }

  /// The status of a run in which these failures occurred: theirs if all have the same one.
  init(of failures: Set<ExitStatus>) {
    self = failures.count > 1 ? .several : failures.first ?? .success
  }

  /// The table that help shows.
  static let table: [(codes: String, meaning: String)] = [
    ("0", "done and proven, or nothing had to be sent"),
    ("1", "several files failed, for different reasons"),
    ("64", "usage"),
    ("65", "the data: the source changed while it was read, or an expectation or checksum was not met"),
    ("66", "the source is missing or unreadable, or the rules left nothing to do"),
    ("69", "the store, bucket or object is not there, or the store refuses for good"),
    ("73", "precondition: the object (of get: the file) exists or is another"),
    ("74", "done and proven, but the line that --json asked for, the ETag of part, or a report could not be written"),
    ("75", "temporary, try again: network, 5xx, throttling, deadline, lock held; what can be resumed is kept"),
    ("77", "credentials missing, refused or expired; access denied"),
    ("78", "configuration"),
    (
      "129 / 130 / 143",
      "SIGHUP / SIGINT / SIGTERM, and 130 for other signals that end a program; what can be resumed is kept"
    ),
  ]
}
