import MultipartCore

/// `s3up get` of many objects: `-r s3://B/PREFIX/ DIR/`, `s3://B/A s3://B/B DIR/`, `--files-from`, `--manifest`.
struct GetManyCommand {
  private let session: Session
  private let sources: GetSources

  init(_ session: Session) throws(Failure) {
    self.session = session
    sources = try GetSources(session.invocation)
  }

  func run() async throws(Failure) -> ExitStatus {
    var run = try ManyRun(session)
    let selection = run.selection
    run.commandForFailed = sources.commandForFailed(selection, session.invocation)
    let download = try DownloadOptions(session.invocation, shared: session.options.upload)
    return try await run.alarmed { (batch, reporter) async throws(Failure) in
      var options = BatchDownloadOptions()
      options.download = download
      options.download.deadline = batch.upload.deadline
      (options.stopsAtFirstFailure, options.onlyLooks) = (batch.stopsAtFirstFailure, batch.onlyLooks)
      options.outputs = batch.outputs
      let found = try await sources.sources(session, selection)
      let store = try await session.store(sources.bucket)
      try await session.tellPlan { () async throws(Failure) in
        try await store.explain(
          options.download, source: "the objects that are named", target: sources.folder.text)
      }
      let run = try store.downloads(
        found, into: FilePath(bytes: sources.folder.bytes), options, onEvent: reporter.hear)
      return (run, store)
    }
  }
}
