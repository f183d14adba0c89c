import Glibc
import MultipartBasics
import MultipartCore

/// The files that a batch writes: the manifest, and the list of what has failed. Whether they can be written is checked
/// before anything is sent.
struct ManyReports: Sendable {
  let manifest: ManifestTarget?
  let failures: FailedNames
  /// For the run, which must not upload them.
  let outputs: RunOutputs
  private let isWritten = Locked(false)

  init(_ session: Session, _ selection: SelectionOptions) throws(Failure) {
    let folder = session.temporaryFolder
    manifest = session.invocation.command == .put ? try ManifestTarget(selection, folder: folder) : nil
    // A slash, because a name that only begins with the same letters is not below the source.
    let sources = session.invocation.positionals.filter { !S3URL.looksLike($0) }.map { source in
      source.bytes.last == UInt8(ascii: "/") ? source.bytes : source.bytes + [UInt8(ascii: "/")]
    }
    let list = try selection.failedTo.map { (path) throws(Failure) in
      // An earlier list of the same sources may be replaced.
      try ReportFile(FilePath(bytes: path.bytes), of: .failedNames, onlyLooks: selection.isDryRun) { line in
        sources.contains { line.starts(with: $0) || line.elementsEqual($0.dropLast()) }
      }
    }
    failures = FailedNames(
      list, endWithNUL: selection.endsWithNUL && !session.invocation.has(.batch), folder: folder)
    var outputs = RunOutputs()
    outputs.files = [manifest?.file, list].compactMap { $0 } + (session.timeline?.files ?? [])
    outputs.object = manifest?.object
    try outputs.refuseTwins()
    self.outputs = outputs
    for input in session.invocation.inputs {
      try outputs.refuse("the file of \(input.flag.long)", input.path)
    }
  }

  /// Removes an earlier list of failures, if the run ended before it could write its own: nobody must take it for this
  /// run's. An earlier manifest stays, because it still tells what was uploaded then.
  func withdraw(_ session: Session) {
    guard !isWritten.withLock({ $0 }) else { return }
    if let note = failures.withdraw() { session.console.line("s3up: " + note) }
    if let stale { session.console.line("s3up: no manifest was written; " + stale) }
  }

  private var stale: String? {
    guard let file = manifest?.file, file.isStale else { return nil }
    return SafeText.oneLine(file.path.text) + " is that of an earlier run"
  }

  /// Writes the files after the summary. Returns the first failure, which does not affect the uploaded files.
  /// A manifest that is uploaded is given up at `end`, by the uptime.
  /// `hasTriedAll` says that every file was tried.
  func write(
    _ session: Session, _ summary: BatchSummary, isComplete: Bool, hasTriedAll: Bool, command: String?,
    until end: Duration?
  ) async -> Failure? {
    isWritten.withLock { $0 = true }
    var trouble: Failure?
    do throws(Failure) {
      for note in try failures.finish(isComplete: hasTriedAll) { session.console.line("s3up: " + note) }
      if hasTriedAll, failures.isListing, let command {
        session.console.line("Only these again:")
        session.console.line(command)
      }
    } catch {
      trouble = error
    }
    guard let manifest else { return trouble }
    guard isComplete else {
      let missing = "no manifest was written, because some objects are missing"
      session.console.line("s3up: " + [missing, stale].compactMap { $0 }.joined(separator: "; "))
      return trouble
    }
    do throws(Failure) {
      try await manifest.write(session, until: end)
      if summary.existing > 0 {
        session.console.line(
          "s3up: the manifest leaves out \(Human.count(summary.existing, "object")) that already existed: "
            + "--skip-existing does not check their contents")
      }
      return trouble
    } catch {
      if let trouble { session.showBeside(trouble) }
      return error
    }
  }
}
