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
    do throws(Failure) {
      // The way to the store is known before a command is started.
      let access = try await StoreAccess.open(session, bucket: target.bucket)
      let state = try StateOptions(session.invocation, environment: session.environment).directory
      let memory = state.map { StoreMemory(folder: $0.text) }
      var transfer = access.transfer
      let lessons = memory?.lessons(of: access.signer.origin, now: session.world.now())
      if lessons?.contain(.equalParts) == true { transfer.equalParts = true }
      let opened = try source.open(transfer, try IntegrityOptions(session.invocation))
      let plan = try PutPlan(session, source: opened, target: target, access: access, memory: memory, lessons: lessons)
      try plan.checkExpectations()
      try await upload(plan, access, subject: Event.Subject(place), start: start)
    } catch {
      var error = error.at(place)
      // For programs a source has one name, in what succeeds and in what fails.
      if session.output.json != nil { error.place.file = place.file }
      throw error
    }
  }

  private func upload(
    _ plan: PutPlan, _ access: StoreAccess, subject: Event.Subject, start: Duration
  ) async throws(Failure) {
    let reporter = Reporter(session, subject: subject, name: plan.job.source.path.name)
    let uploader = try Uploader(
      job: plan.job, client: access.client, world: session.world, memory: plan.memory, book: plan.book,
      tell: reporter.hear)
    if session.output.explain {
      for line in try await plan.explanation(uploader.plan) { session.console.line(line) }
    }
    session.signals.listen { uploader.interrupt() }
    if let deadline = plan.deadline { uploader.interrupt(after: deadline) }
    session.signals.onReport { reporter.report(uploader.progress) }
    reporter.start(uploader)
    let watch = CredentialWatch(session, access.signer, uploader.progress).start()
    defer { watch?.cancel() }
    do throws(Failure) {
      let result = try await uploader.run()
      reporter.finish()
      let summary = result.summary(duration: session.world.uptime() - start)
      let line = summary.line(source: subject.source ?? "", bucket: plan.job.bucket, key: plan.job.key)
      try session.say(
        session.paint(STDOUT_FILENO).result(line), json: Event.completed(subject, summary).json)
      uploader.close()
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
