import MultipartCore

/// The failures of a command that continues with the next object. Each is reported when it occurs.
struct ToldFailures {
  private(set) var count = 0
  private let session: Session
  private var statuses: Set<ExitStatus> = []

  init(_ session: Session) {
    self.session = session
  }

  mutating func add(_ failure: Failure) {
    count += 1
    statuses.insert(session.status(of: failure))
    session.tell(failure)
  }

  /// The exit status of the command, by its failures.
  var status: ExitStatus { ExitStatus(of: statuses) }
}
