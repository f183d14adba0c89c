import MultipartCore

/// `s3up verify -r DIR s3://BUCKET/PREFIX/`, also for several files and lists of files.
struct VerifyManyCommand {
  private let session: Session
  private let sources: ManySources

  init(_ session: Session) throws(Failure) {
    self.session = session
    sources = try ManySources(session.invocation)
  }

  func run() async throws(Failure) -> ExitStatus {
    var run = try ManyRun(session)
    let selection = run.selection
    run.commandForFailed = sources.commandForFailed(selection)
    var list = try sources.inputs(selection)
    list.allowsNothing = selection.allowsNothing
    // An empty share is normal; an empty folder may be an unmounted one.
    run.allowsNothing = selection.allowsNothing || selection.shard != nil
    let options = try VerifyOptions(session)
    return try await run.alarmed { [list] (batch, reporter) async throws(Failure) in
      guard let bucket = sources.target?.bucket else { return nil }
      let store = try await session.store(bucket)
      let run = try store.verification(list, options, besides: batch.outputs, onEvent: reporter.hear)
      return (run, store)
    }
  }
}

extension VerifyOptions {
  init(_ session: Session) throws(Failure) {
    self.init()
    versionID = try session.invocation.text(.versionID)
    customerKey = session.options.upload.customerKey
    stopsAtFirstFailure = session.invocation.toggle(.failFast) ?? false
  }
}
