import Glibc
import MultipartCore

/// `s3up doctor [s3://BUCKET[/PREFIX]]`: checks everything that an upload needs, and reports it.
struct DoctorCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  /// The exit status is that of the first check that failed.
  func run() async throws(Failure) -> ExitStatus {
    let words = session.invocation.positionals
    guard words.count <= 1 else {
      _ = try session.invocation.arguments("s3://BUCKET[/PREFIX]")
      return .usage
    }
    let url = try words.first.map { (word) throws(Failure) in try S3URL(word, for: .doctor) }
    let findings = try await DoctorRounds(session, url).examine().findings
    let paint = session.paint(STDOUT_FILENO)
    let secrets = session.world.secrets
    for finding in findings.map({ $0.masked(by: secrets) }) where !session.output.quiet || finding.mark != .ok {
      try session.row(FindingText.lines(finding, paint).joined(separator: "\n"), json: FindingText.json(finding))
    }
    if session.signals.received != nil { throw Failure(.interrupted, "interrupted") }
    return findings.first { $0.mark == .fail }.map(FindingText.status(of:)) ?? .success
  }
}
