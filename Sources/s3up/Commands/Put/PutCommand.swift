import Glibc
import MultipartBasics
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
    do throws(Failure) {
      try await RunAlarm.run(session.options.upload.deadline, session.world) { (alarm) async throws(Failure) in
        try await put(source, target, PutRun(session, Event.Subject(place), start: start, alarm))
      }
    } catch {
      var error = error.at(place)
      // The source has the same name in successes and failures, for programs.
      if session.output.json != nil { error.place.file = place.file }
      throw error
    }
  }

  /// The name that attribute globs are matched against: that of the file, or for a stream that of the object.
  private static func name(of source: PutSource, _ target: S3URL) -> [UInt8] {
    if case .file(let path) = source { return Array(FilePath(bytes: path.bytes).lastName) }
    return Array(FilePath(target.key ?? "").lastName)
  }

  private func put(_ source: PutSource, _ target: S3URL, _ run: PutRun) async throws(Failure) {
    var options = session.options.upload
    options.deadline = session.left(of: options.deadline, since: run.start)
    session.attributes?.set(&options.object, of: Self.name(of: source, target))
    // The store is resolved before a command is started.
    let store = try await session.store(target.bucket)
    try store.check(options)
    try await run.upload(source, store) { [options] (input, hear) throws(Failure) in
      try store.uploadTask(input, to: target.key ?? "", options, onEvent: hear)
    } explain: { (upload) async throws(Failure) in
      try await store.explain(upload)
    }
    if let attributes = session.attributes, !attributes.hasMatched {
      session.world.log(0, "no line of \(SafeText.oneLine(attributes.file)) matches the file")
    }
  }
}

extension Event.Subject {
  init(_ place: Place) {
    self.init(source: place.file, bucket: place.bucket, key: place.key)
  }
}
