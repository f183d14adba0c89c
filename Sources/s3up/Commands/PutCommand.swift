import Glibc
import MultipartCore

/// `s3up put FILE s3://BUCKET/KEY`
struct PutCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let start = session.world.uptime()
    let (source, target) = try names()
    let place = Place(file: source.text, bucket: target.bucket, key: target.key)
    do throws(Failure) {
      let file = try MappedFile(FilePath(bytes: source.bytes))
      let access = try StoreAccess(session, bucket: target.bucket)
      let plan = try PutPlan(session, file: file, target: target, access: access)
      try plan.checkExpectations()
      try await upload(plan, access, subject: Event.Subject(place), start: start)
    } catch {
      throw error.at(place)
    }
  }

  private func names() throws(Failure) -> (source: Argument, target: S3URL) {
    let words = try session.invocation.arguments("FILE", "s3://BUCKET/KEY")
    guard !S3URL.looksLike(words[0]) else {
      throw Failure(
        .usage, "'\(words[0].text)' is not a file", hint: "The file comes first: s3up put FILE s3://BUCKET/KEY")
    }
    guard words[0].bytes != [UInt8(ascii: "-")] else {
      throw Failure(.usage, "standard input cannot be uploaded", hint: "Write it to a file, or name the file ./-")
    }
    return (words[0], try S3URL(words[1]).destination(for: words[0]))
  }

  private func upload(
    _ plan: PutPlan, _ access: StoreAccess, subject: Event.Subject, start: Duration
  ) async throws(Failure) {
    let reporter = Reporter(session, subject: subject, name: plan.job.file.path.name)
    let uploader = try Uploader(
      job: plan.job, client: access.client, world: session.world, memory: plan.memory, tell: reporter.hear)
    if session.output.explain {
      for line in try await plan.explanation(uploader.plan) { session.console.line(line) }
    }
    session.signals.listen { uploader.interrupt() }
    reporter.start(uploader)
    do throws(Failure) {
      let result = try await uploader.run()
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
