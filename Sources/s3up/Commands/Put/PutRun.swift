import Glibc
import MultipartCore

/// One upload of the command, up to the line that reports its result.
struct PutRun: Sendable {
  let session: Session
  let subject: Event.Subject
  let start: Duration
  let alarm: RunAlarm

  init(_ session: Session, _ subject: Event.Subject, start: Duration, _ alarm: RunAlarm) {
    (self.session, self.subject, self.start, self.alarm) = (session, subject, start, alarm)
  }

  /// Opens the source or starts the command, and uploads its bytes. `store` is nil for a ticket, whose requests are
  /// already signed.
  func upload(
    _ source: PutSource, _ store: Store?,
    begin: (UploadInput, @escaping @Sendable (UploadEvent) -> Void) throws(Failure) -> UploadTask,
    explain: (UploadTask) async throws(Failure) -> [PlanLine]
  ) async throws(Failure) {
    let words = session.progressStyle == .bar ? ProducerWords(session.console) : nil
    defer { words?.end() }
    let errors = source.isCommand ? words?.begin() : nil
    let reporter = Reporter(session)
    let upload: UploadTask
    do {
      defer { errors.map { _ = close($0) } }
      upload = try begin(source.input(errors: errors)) { [subject] in reporter.hear($0, of: subject) }
    }
    session.signals.atEnd { upload.kill() }
    try await session.tellPlan { () async throws(Failure) in try await explain(upload) }
    try await send(upload, store, shown: (source.isCommand ? "the output of " : "") + (subject.source ?? ""))
  }

  private func send(_ upload: UploadTask, _ store: Store?, shown: String) async throws(Failure) {
    let progress = ProgressTicker(session, subject) { ProgressState(upload.name, upload.progress) }
    session.signals.listen { upload.cancel() }
    session.signals.onReport { progress.report() }
    session.signals.onPause { progress.pause() }
    progress.tick()
    progress.start()
    let watch = store.flatMap { store in
      CredentialWatch(session, store) {
        let state = upload.progress
        return (state.transferred, state.total.map { $0 - state.bytes })
      }.start()
    }
    defer { watch?.cancel() }
    do throws(Failure) {
      let object = try await upload.run(keepsRecord: true)
      // The object is proven, so the record is deleted even if the line cannot be written. It is deleted after the
      // line: if the process is killed in between, the next run sees from the record that the object is complete, and
      // sends nothing.
      defer { upload.forget() }
      try alarm.disarm()
      progress.finish(isWhole: object.outcome == .completed || object.outcome == .unchanged)
      try say(object, upload, shown)
    } catch {
      progress.finish()
      throw error
    }
  }

  private func say(_ object: UploadedObject, _ upload: UploadTask, _ shown: String) throws(Failure) {
    let took = session.world.uptime() - start
    let (bucket, key) = (upload.bucket, upload.key)
    session.report?.add(JobReport.Row(source: shown, bucket: bucket, key: key, object: object))
    try session.say(
      session.paint(STDOUT_FILENO).result(object.line(source: shown, bucket: bucket, key: key, took: took)),
      json: Event.ended(subject, object, took: took).json)
  }
}
