import Glibc
import MultipartCore

/// `s3up put` of many files: `A B C s3://B/PREFIX/`, `-r DIR`, `--files-from`, `--batch`.
struct PutManyCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) -> ExitStatus {
    var run = try ManyRun(session)
    // A batch may be a pipe, whose writer is waited for until the deadline.
    let sources = try await RunAlarm.run(session.options.upload.deadline, session.world) {
      [session] _ throws(Failure) in try ManySources(session.invocation)
    }
    let selection = run.selection
    run.commandForFailed = sources.commandForFailed(selection, session.invocation)
    var list = try sources.inputs(selection)
    list.allowsNothing = selection.allowsNothing
    list.attributes = session.attributes
    run.options.manifestPrefix = list.prefix
    let manifest = run.reports.manifest
    return try await run.alarmed { [list] (options, reporter) async throws(Failure) in
      guard let bucket = sources.target?.bucket else {
        guard list.allowsNothing else { throw BatchSources.emptyList }
        return nil
      }
      let store = try await session.store(bucket)
      try store.check(options.upload)
      if !selection.isDryRun { try await manifest?.check(session, besides: bucket) }
      try await session.tellPlan { () async throws(Failure) in
        if selection.isDryRun, session.attributes == nil, let (path, key) = try sources.oneFile(selection) {
          return try await store.explain(store.uploadTask(.file(path), to: key, options.upload))
        }
        return try await store.explain(options.upload, sources: sources.title, target: sources.targetTitle)
      }
      return (try store.batch(list, options, onEvent: reporter.hear), store)
    }
  }
}
