import MultipartCore

/// `s3up verify -r DIR s3://BUCKET/PREFIX/`, also for several files, lists of files, and manifests.
struct VerifyManyCommand {
  private enum Sources: Sendable {
    case files(ManySources)
    case manifest(Argument, prefix: S3URL)
  }

  private let session: Session
  private let sources: Sources

  init(_ session: Session) throws(Failure) {
    self.session = session
    guard let manifest = try session.invocation.path(.manifest) else {
      sources = .files(try ManySources(session.invocation))
      return
    }
    sources = .manifest(manifest, prefix: try Self.prefix(session.invocation))
  }

  /// The only argument beside a manifest.
  private static func prefix(_ invocation: Invocation) throws(Failure) -> S3URL {
    guard !invocation.has(.filesFrom) else {
      throw Failure(.usage, "--files-from and --manifest both name the objects", remedy: "Leave one of them out.")
    }
    let words = invocation.positionals
    if let other = words.first(where: { !S3URL.looksLike($0) }) ?? words.dropFirst().first {
      throw Failure(
        .usage, "--manifest lists what the objects are compared with; '\(other.text)' is one too many",
        remedy: "Leave it out, or compare files instead: s3up verify -r DIR s3://BUCKET/PREFIX/")
    }
    guard let word = words.first else {
      throw Failure(
        .usage, "verify: the prefix is missing", remedy: "Usage: s3up verify --manifest FILE s3://BUCKET/PREFIX/")
    }
    return GetSources.prefix(try S3URL(word, for: .verify))
  }

  func run() async throws(Failure) -> ExitStatus {
    var run = try ManyRun(session)
    let selection = run.selection
    // An empty share is normal; an empty folder may be an unmounted one.
    run.allowsNothing = selection.allowsNothing || selection.shard != nil
    let options = try VerifyOptions(session)
    switch sources {
    case .files(let sources):
      run.commandForFailed = sources.commandForFailed(selection, session.invocation)
      var list = try sources.inputs(selection)
      list.allowsNothing = selection.allowsNothing
      return try await run.alarmed { [list] (batch, reporter) async throws(Failure) in
        guard let bucket = sources.target?.bucket else { return nil }
        let store = try await session.store(bucket)
        let options = options.ending(as: batch)
        return (try store.verification(list, options, besides: batch.outputs, onEvent: reporter.hear), store)
      }
    case .manifest(let path, let prefix):
      return try await run.alarmed { (batch, reporter) async throws(Failure) in
        var list = DownloadSources(.manifest(try await GetSources.manifest(path, session)), prefix: prefix.key ?? "")
        (list.rules, list.shard) = (try GlobRules(selection.rules), selection.shard)
        list.allowsNothing = selection.allowsNothing
        let store = try await session.store(prefix.bucket)
        return (try store.verification(listed: list, options.ending(as: batch), onEvent: reporter.hear), store)
      }
    }
  }
}

extension VerifyOptions {
  init(_ session: Session) throws(Failure) {
    self.init()
    versionID = try session.invocation.text(.versionID)
    customerKey = session.options.upload.customerKey
    comparesBytes = session.invocation.toggle(.deep) ?? false
    stopsAtFirstFailure = session.invocation.toggle(.failFast) ?? false
  }

  /// These options, with what is left of the time of the whole command.
  fileprivate func ending(as batch: BatchOptions) -> VerifyOptions {
    var copy = self
    copy.deadline = batch.upload.deadline
    return copy
  }
}
