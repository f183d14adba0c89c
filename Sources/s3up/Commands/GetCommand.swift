import Glibc
import MultipartCore

/// `s3up get s3://BUCKET/KEY [FILE|DIR/|-]`
struct GetCommand {
  private let session: Session
  private let start: Duration

  init(_ session: Session) {
    self.session = session
    start = session.world.uptime()
  }

  func run() async throws(Failure) {
    let words = session.invocation.positionals
    guard (1...2).contains(words.count) else {
      throw Failure(.usage, "get takes an object and a target", remedy: "s3up get s3://BUCKET/KEY [FILE|DIR/|-]")
    }
    let url = try S3URL.object(words[0])
    let target = try Self.target(words.count > 1 ? words[1] : nil, key: url.key ?? "")
    let options = try DownloadOptions(session.invocation, shared: session.options.upload)
    let subject = Event.Subject(source: nil, bucket: url.bucket, key: url.key)
    do throws(Failure) {
      try await RunAlarm.run(options.deadline, session.world) { (alarm) async throws(Failure) in
        try await get(url, target, options, subject, alarm)
      }
    } catch {
      throw error.at(Place(file: target?.text ?? "-", bucket: url.bucket, key: url.key))
    }
  }

  /// Nil: standard output.
  private static func target(_ word: Argument?, key: String) throws(Failure) -> FilePath? {
    guard word?.bytes != Array("-".utf8) else { return nil }
    let folder: [UInt8]
    if let word {
      let path = FilePath(bytes: word.bytes)
      guard word.bytes.last == UInt8(ascii: "/") || BatchSources.isFolder(path) else { return path }
      folder = word.bytes.last == UInt8(ascii: "/") ? word.bytes : word.bytes + [UInt8(ascii: "/")]
    } else {
      folder = []
    }
    let name = Argument(key).lastComponent.bytes
    guard !name.isEmpty, name != Array(".".utf8), name != Array("..".utf8) else {
      throw Failure(.usage, "the key has no last name that a file can have", remedy: "Name the file.")
    }
    return FilePath(bytes: folder + name)
  }

  private func get(
    _ url: S3URL, _ target: FilePath?, _ options: DownloadOptions, _ subject: Event.Subject, _ alarm: RunAlarm
  ) async throws(Failure) {
    var options = options
    options.deadline = options.deadline.map { $0 - (session.world.uptime() - start) }
    if target == nil, session.output.json != nil {
      throw Failure(
        .usage, "--json and an object on standard output exclude each other",
        remedy: "Name a file, or leave --json out.")
    }
    let store = try await session.store(url.bucket)
    let reporter = GetReporter(session, subject, name: target?.name ?? url.key ?? "")
    let output: DownloadOutput = target.map { .file($0) } ?? .descriptor(STDOUT_FILENO, name: "standard output")
    let download = try store.downloadTask(url.key ?? "", to: output, options, onEvent: reporter.hear)
    session.signals.listen { download.cancel() }
    session.signals.onReport { reporter.report() }
    session.signals.onPause { reporter.pause() }
    reporter.start(download)
    let result: DownloadedObject
    do throws(Failure) {
      result = try await download.run()
      reporter.finish()
    } catch {
      reporter.finish()
      throw error
    }
    guard alarm.disarm() else { throw Failure(.deadline, "the time given by --deadline is over") }
    try say(result, url, target, subject)
  }

  private func say(
    _ result: DownloadedObject, _ url: S3URL, _ target: FilePath?, _ subject: Event.Subject
  ) throws(Failure) {
    let summary = DownloadSummary(
      result: result, destination: target?.text ?? "-", bucket: url.bucket, key: url.key ?? "",
      duration: session.world.uptime() - start)
    guard target != nil else {
      session.notification?.note(Event.got(subject, summary).json)
      // Standard output has the object.
      if !session.output.quiet, Descriptor.isTerminal(STDERR_FILENO) { session.console.line(summary.line) }
      return
    }
    try session.say(session.paint(STDOUT_FILENO).result(summary.line), json: Event.got(subject, summary).json)
  }
}
