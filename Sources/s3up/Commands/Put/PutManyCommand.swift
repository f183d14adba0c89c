import Glibc
import MultipartCore

/// `s3up put` of many files: `A B C s3://B/PREFIX/`, `-r DIR`, `--files-from`, `--batch`.
struct PutManyCommand {
  private let session: Session
  private let sources: ManySources

  init(_ session: Session) throws(Failure) {
    self.session = session
    sources = try ManySources(session.invocation)
  }

  func run() async throws(Failure) -> ExitStatus {
    var run = try ManyRun(session)
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
        try await store.explain(options.upload, sources: sources.title, target: sources.targetTitle)
      }
      return (try store.batch(list, options, onEvent: reporter.hear), store)
    }
  }
}
