import Glibc
import MultipartBasics
import MultipartCore

/// `s3up uploads [s3://BUCKET[/PREFIX]] [--clean]`: lists uploads that were neither completed nor aborted.
struct UploadsCommand {
  private let session: Session
  private let options: CleanOptions

  init(_ session: Session) throws(Failure) {
    self.session = session
    options = try CleanOptions(session.invocation)
  }

  func run() async throws(Failure) -> ExitStatus {
    let url = try session.invocation.place()
    guard url != nil || !options.all else {
      throw Failure(.usage, "--all needs a bucket", remedy: "Write s3up uploads s3://BUCKET --clean --all …")
    }
    var found: [ListedUpload] = []
    var failures = ToldFailures(session)
    let records = try self.records(&failures, ofAll: url == nil)
    var gaps: [Failure] = []
    if let url {
      let store = try await session.store(url.bucket)
      found = try await store.uploads(prefix: url.key ?? "") { gaps.append($0) }.map { upload in
        var entry = ListedUpload(upload, bucket: url.bucket)
        entry.record = records.first { $0.uploadID.utf8.elementsEqual(upload.uploadID.utf8) }
        let address = entry.record?.origin
        entry.otherAddress = address.flatMap { $0.utf8.elementsEqual(store.origin.utf8) ? nil : $0 }
        return entry
      }
    } else {
      found = records.map { ListedUpload($0, session.world.now()) }
      // Of one store alone, each line would repeat it.
      if Set(records.map(\.origin)).count > 1 {
        for index in found.indices { found[index].storeAddress = found[index].record?.origin }
      }
    }
    let old = found.filter { upload in
      guard let least = options.olderThan else { return true }
      return upload.age.map { $0 >= least.components.seconds } ?? false
    }
    let chosen = old.filter { !options.cleans || options.all || $0.record != nil }
    var unsaid: (failure: Failure, ended: Int)?
    if chosen.isEmpty, !session.output.quiet, Descriptor.isTerminal(STDERR_FILENO) {
      let none = url == nil ? "No unfinished upload is recorded." : "There are no unfinished uploads."
      let others =
        " To abort \(Human.count(old.count, "upload")) of other programs or machines, add --all --older-than 7d."
      session.console.line(options.cleans ? "There is nothing to abort." + (old.isEmpty ? "" : others) : none)
    }
    if options.cleans {
      unsaid = try await clean(chosen, &failures)
    } else {
      for upload in chosen { try session.row(upload.line, json: upload.json("unfinished")) }
    }
    for gap in gaps { failures.add(gap) }
    if let unsaid {
      try session.unsaid(
        unsaid.failure, "aborted \(Human.count(unsaid.ended, "upload"))", isSuccess: failures.count == 0)
    }
    return try failures.status()
  }

  /// The records. One that cannot be used is a failure if the uploads of all records should be aborted: a bucket's own
  /// list has its upload.
  private func records(_ failures: inout ToldFailures, ofAll: Bool) throws(Failure) -> [RecordedUpload] {
    guard let folder = session.stateFolder else { return [] }
    let recorded = try RecordedUploads(stateFolder: folder)
    for var failure in recorded.unusable {
      // No later try mends it.
      failure.code = .configuration
      if options.cleans, ofAll { failures.add(failure) } else { session.show(failure) }
    }
    return recorded.uploads
  }

  // MARK: - Cleaning

  /// Aborts the uploads, whatever fails. An output error does not stop it: it is
  /// returned with how many were aborted.
  private func clean(
    _ uploads: [ListedUpload], _ failures: inout ToldFailures
  ) async throws(Failure) -> (failure: Failure, ended: Int)? {
    var unsaid: Failure?
    var ended = 0
    var store: Store?
    for upload in uploads {
      do throws(Failure) {
        guard let outcome = try await clean(upload, in: &store) else { continue }
        if outcome == .aborted { ended += 1 }
        do throws(Failure) {
          try tell(outcome, upload)
        } catch {
          unsaid = error
        }
      } catch {
        guard !error.isInterruption else { throw error.at(upload.place) }
        failures.add(error.at(upload.place))
      }
    }
    return unsaid.map { ($0, ended) }
  }

  /// Prints what happens to an upload, which is no error.
  private func tell(_ outcome: CleanOutcome, _ upload: ListedUpload) throws(Failure) {
    guard session.output.json != nil || !session.output.quiet else { return }
    let words = outcome == .wouldAbort ? "would abort" : outcome.rawValue
    try session.row(words + "  " + upload.line, json: upload.json(outcome.rawValue))
  }

  private enum CleanOutcome: String {
    case aborted, gone, running
    case wouldAbort = "would_abort"
  }

  /// Aborts one upload, or in a dry run asks everything that decides whether it would; nil if it is too young. `store`
  /// is the store opened last: uploads of one bucket share it.
  private func clean(_ upload: ListedUpload, in store: inout Store?) async throws(Failure) -> CleanOutcome? {
    let access: Store
    if let store, store.bucket == upload.bucket {
      access = store
    } else {
      access = try await session.store(upload.bucket)
    }
    store = access
    if let record = upload.record {
      // The age of a record is that of the store's clock by this machine's, which may be wrong by days.
      // A dry run asks in any case: the upload may be at another store.
      if upload.listed == nil, options.dryRun || options.olderThan != nil,
        let age = try await access.age(of: record), age < options.olderThan ?? .zero
      {
        session.world.log(
          0,
          "kept \(SafeText.oneLine(upload.uploadID)) of s3://\(SafeText.oneLine("\(upload.bucket)/\(upload.key)")): "
            + "by the store's clock it was begun \(Human.duration(age)) ago")
        return nil
      }
      guard !options.dryRun else { return upload.isRunning ? .running : .wouldAbort }
      return try await access.abort(record).map { told($0, upload) } ?? .running
    }
    guard !options.dryRun else { return .wouldAbort }
    guard let listed = upload.listed else { return nil }
    return told(try await access.abort(listed), upload)
  }

  private func told(_ outcome: MultipartUpload.AbortOutcome, _ upload: ListedUpload) -> CleanOutcome {
    if outcome == .unlisted {
      session.world.log(
        0, "upload \(SafeText.oneLine(upload.uploadID)) was aborted, but \(MultipartUpload.AbortOutcome.doubt)")
    }
    return outcome == .wasGone ? .gone : .aborted
  }
}
