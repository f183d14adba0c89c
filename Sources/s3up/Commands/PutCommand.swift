import Glibc
import MultipartCore

/// `s3up put FILE|- s3://BUCKET/KEY`, and with `--from-command` the output of a command.
struct PutCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let start = session.world.uptime()
    let (source, target) = try PutSource.read(session.invocation)
    let place = Place(file: source.name.text, bucket: target.bucket, key: target.key)
    let limit = try ResumeOptions(session.invocation).deadline
    do throws(Failure) {
      try await RunAlarm.run(limit, session.world) { (alarm) async throws(Failure) in
        try await put(source, target, Run(subject: Event.Subject(place), start: start, alarm: alarm))
      }
    } catch {
      var error = error.at(place)
      // Programs get the same name of the source for successes and failures.
      if session.output.json != nil { error.place.file = place.file }
      throw error
    }
  }

  private struct Run: Sendable {
    var subject: Event.Subject
    var start: Duration
    var alarm: RunAlarm
  }

  private func put(_ source: PutSource, _ target: S3URL, _ run: Run) async throws(Failure) {
    var options = try UploadOptions(session.invocation)
    // The time limit is for the whole command, and part of it has passed.
    options.deadline = options.deadline.map { $0 - (session.world.uptime() - run.start) }
    // The store is resolved before a command is started.
    let store = try await session.store(target.bucket)
    if store.endpoint.kind == .directory { try DirectoryBucket.check(session.invocation) }
    let words = Reporter.style(session) == .bar ? ProducerWords(session.console) : nil
    defer { words?.end() }
    let errors = source.isCommand ? words?.begin() : nil
    let reporter = Reporter(session, subject: run.subject)
    let upload: UploadTask
    do {
      defer { errors.map { _ = close($0) } }
      upload = try store.uploadTask(
        source.input(errors: errors), to: target.key ?? "", options, onEvent: reporter.hear)
    }
    session.signals.atEnd { upload.uploader.job.source.kill() }
    if session.output.explain {
      for line in try await PutPlan(upload, store, options).lines { session.console.line(line) }
    }
    try await send(upload, reporter, store, run)
  }

  private func send(_ upload: UploadTask, _ reporter: Reporter, _ store: Store, _ run: Run) async throws(Failure) {
    session.signals.listen { upload.cancel() }
    session.signals.onReport { reporter.report() }
    session.signals.onPause { reporter.pause() }
    reporter.start(upload)
    let watch = CredentialWatch(session, store.signer, upload).start()
    defer { watch?.cancel() }
    do throws(Failure) {
      let object = try await upload.run()
      // The object is proven, so the record is deleted even if the line cannot be written. If the process is killed before the
      // line is written, the next run finds in the record that the object is complete, and sends nothing.
      defer { upload.forget() }
      guard run.alarm.disarm() else { throw Failure(.deadline, "the time given by --deadline is over") }
      reporter.finish()
      let summary = object.summary(duration: session.world.uptime() - run.start)
      let (subject, job) = (run.subject, upload.uploader.job)
      let line = summary.line(source: subject.source ?? "", bucket: job.bucket, key: job.key)
      try session.say(
        session.paint(STDOUT_FILENO).result(line), json: Event.completed(subject, summary).json)
    } catch {
      reporter.finish()
      throw error
    }
  }
}

extension Event.Subject {
  init(_ place: Place) {
    self.init(source: place.file, bucket: place.bucket, key: place.key)
  }
}
