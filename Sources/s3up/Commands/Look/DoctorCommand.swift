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
    let findings = try await findings()
    let paint = session.paint(STDOUT_FILENO)
    var unsaid: Failure?
    for finding in findings where !session.output.quiet || finding.mark != .ok {
      do throws(Failure) {
        try session.row(FindingText.lines(finding, paint).joined(separator: "\n"), json: FindingText.json(finding))
      } catch {
        unsaid = error
        if finding.mark == .fail { FindingText.lines(finding, Paint(isOn: false)).forEach(session.console.line) }
      }
    }
    if session.signals.received != nil { throw Failure.interrupted }
    let status = findings.first { $0.mark == .fail }.map(FindingText.status(of:)) ?? .success
    if let unsaid {
      guard status != .success else { throw unsaid }
      session.showBeside(unsaid)
    }
    return status
  }

  private func findings() async throws(Failure) -> [StoreFinding] {
    let url = try session.invocation.place()
    let session = try IdentityKeys.identified(session)
    var findings = try await session.stoppable { () async throws(Failure) in
      try await Store.examine(session.storeOptions, bucket: url?.bucket) { () async throws(Failure) in
        let resolved = try await IdentityKeys.resolved(session)
        return try resolved.invocation.positionals.first.map { (word) throws(Failure) in try S3URL(word).key ?? "" }
          ?? ""
      }
    }
    for index in findings.indices where findings[index].check == .version {
      findings[index].text = "s3up \(Version.text), " + findings[index].text
    }
    return findings
  }
}
