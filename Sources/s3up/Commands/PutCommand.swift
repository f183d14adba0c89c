import Glibc
import MultipartCore

/// `s3up put FILE|- s3://BUCKET/KEY`, and what a command prints
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
      // For programs a source has one name, in what succeeds and in what fails.
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
    // The way to the store is known before a command is started.
    let access = try await StoreAccess.open(session, bucket: target.bucket)
    let state = try StateOptions(session.invocation, environment: session.environment).directory
    let memory = state.map { StoreMemory(folder: $0.text) }
    var transfer = access.transfer
    let lessons = memory?.lessons(of: access.signer.origin, now: session.world.now())
    if let refusal = lessons?.refusal {
      session.world.log(
        0,
        "what was learnt of stores is not used: \(refusal.place.file ?? ""): \(refusal.message); "
          + (refusal.remedy ?? ""))
    }
    if lessons?.contain(.equalParts) == true { transfer.equalParts = true }
    let words = Reporter.style(session) == .bar ? ProducerWords(session.console) : nil
    defer { words?.end() }
    let opened = try source.open(transfer, try IntegrityOptions(session.invocation), words: words)
    session.signals.atEnd { opened.kill() }
    let plan = try PutPlan(session, source: opened, target: target, access: access, memory: memory, lessons: lessons)
    try plan.checkExpectations()
    try await upload(plan, access, run)
  }

  private func upload(_ plan: PutPlan, _ access: StoreAccess, _ run: Run) async throws(Failure) {
    let (subject, start) = (run.subject, run.start)
    let reporter = Reporter(session, subject: subject, name: plan.job.source.path.name)
    let uploader = try Uploader(
      job: plan.job, client: access.client, world: session.world, memory: plan.memory, book: plan.book,
      tell: reporter.hear)
    if session.output.explain {
      for line in try await plan.explanation(uploader.plan) { session.console.line(line) }
    }
    session.signals.listen { uploader.interrupt() }
    if let deadline = plan.deadline { uploader.interrupt(after: deadline, since: start) }
    session.signals.onReport { reporter.report(uploader) }
    session.signals.onPause { reporter.pause(uploader) }
    reporter.start(uploader)
    let watch = CredentialWatch(session, access.signer, uploader.progress).start()
    defer { watch?.cancel() }
    do throws(Failure) {
      let result = try await uploader.run()
      // The object is proven, so the record goes, whatever becomes of the line. Killed before it is written, the next run
      // finds by the record that the object is complete, and sends nothing.
      defer { uploader.close() }
      guard run.alarm.disarm() else { throw Failure(.deadline, "the time that --deadline gives is over") }
      reporter.finish()
      let summary = result.summary(duration: session.world.uptime() - start)
      let line = summary.line(source: subject.source ?? "", bucket: plan.job.bucket, key: plan.job.key)
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
