import MultipartCore

/// The failures of a command that continues with the next object. Each is reported when it occurs. A result that cannot
/// be printed is no failure of its object.
struct ToldFailures {
  private(set) var count = 0
  private let session: Session
  private var statuses: Set<ExitStatus> = []
  private var unsaid: Failure?

  init(_ session: Session) {
    self.session = session
  }

  mutating func add(_ failure: Failure) {
    count += 1
    statuses.insert(session.status(of: failure))
    session.tell(failure)
  }

  /// Prints a result.
  mutating func say(_ answer: () throws(Failure) -> Void) {
    do throws(Failure) {
      try answer()
    } catch {
      unsaid.map(session.show)
      unsaid = error
    }
  }

  /// The exit status of the command, by its failures. Without any, a result that could not be printed is one.
  func status() throws(Failure) -> ExitStatus {
    if let unsaid {
      guard count > 0 else { throw unsaid }
      session.show(unsaid)
    }
    return ExitStatus(of: statuses)
  }
}
