import Glibc
import MultipartBasics
import MultipartCore

/// `s3up get s3://BUCKET/KEY|URL [FILE|DIR/|-]`, and with `--to-command` to a command.
struct GetCommand {
  private let session: Session
  private let start: Duration

  init(_ session: Session) {
    self.session = session
    start = session.world.uptime()
  }

  /// Where the object is.
  private enum Source {
    case object(S3URL)
    case url(PresignedObject)

    init(_ word: Argument, _ session: Session) throws(Failure) {
      self =
        S3URL.isWeb(word)
        ? .url(try PresignedObject(word.text, session.storeOptions)) : .object(try S3URL.object(word, for: .get))
    }

    /// The file name of the object in a folder.
    var lastName: Argument {
      switch self {
      case .object(let url): Argument(url.key ?? "").lastComponent
      case .url(let object): Argument(object.name ?? "").lastComponent
      }
    }

    /// The object in messages and events.
    var subject: Event.Subject {
      switch self {
      case .object(let url): Event.Subject(source: nil, bucket: url.bucket, key: url.key)
      case .url(let object): Event.Subject(source: object.address, bucket: nil, key: nil)
      }
    }

    var text: String {
      switch self {
      case .object(let url): "s3://\(url.bucket)/\(url.key ?? "")"
      case .url(let object): object.address
      }
    }
  }

  /// Where the object goes.
  private enum Target {
    case file(FilePath)
    case standardOutput
    case command([Argument])

    /// The name shown next to the progress.
    func label(_ key: String) -> String { if case .file(let path) = self { path.name } else { key } }

    var name: String {
      switch self {
      case .file(let path): path.text
      case .standardOutput: "-"
      case .command(let words): words.first?.text ?? ""
      }
    }
  }

  func run() async throws(Failure) {
    let (source, target) = try read()
    let options = try DownloadOptions(session.invocation, shared: session.options.upload)
    do throws(Failure) {
      try await RunAlarm.run(options.deadline, session.world) { (alarm) async throws(Failure) in
        try await get(source, target, options, alarm)
      }
    } catch {
      var error = error.at(Place(file: target.name))
      switch source {
      case .object(let url): error = error.at(Place(bucket: url.bucket, key: url.key))
      // An object behind a URL is named by the URL.
      case .url(let object): (error.place.file, error.place.bucket, error.place.key) = (object.address, nil, nil)
      }
      throw error
    }
  }

  private func read() throws(Failure) -> (source: Source, target: Target) {
    let words = session.invocation.positionals
    if session.invocation.toggle(.toCommand) == true {
      guard words.count > 1, S3URL.looksLike(words[0]) || S3URL.isWeb(words[0]) else {
        throw Failure(
          .usage, "--to-command wants an object and a command",
          remedy: "Write s3up get --to-command s3://BUCKET/KEY -- CMD ARG...")
      }
      return (try Source(words[0], session), .command(Array(words.dropFirst())))
    }
    guard (1...2).contains(words.count) else {
      throw Failure(
        .usage, words.isEmpty ? "get: s3://BUCKET/KEY is missing" : "get: there are too many arguments",
        remedy: "Usage: s3up get s3://BUCKET/KEY|URL [FILE|DIR/|-]")
    }
    let isAddress: (Argument) -> Bool = { S3URL.looksLike($0) || S3URL.isWeb($0) }
    if words.count == 2, !isAddress(words[0]), isAddress(words[1]) {
      throw Self.turned(words[0], words[1], session.invocation)
    }
    if words[0].text.begins(with: "s3://") {
      // The key of an object may end in a slash; then a name for its file is needed.
      let key = try S3URL(words[0], for: .get).key ?? ""
      if key.isEmpty || (words.count == 1 && key.utf8.last == UInt8(ascii: "/")) { throw GetSources.prefix(words[0]) }
    }
    let source = try Source(words[0], session)
    let file = try Self.target(words.count > 1 ? words[1] : nil, of: words[0], name: source.lastName.bytes)
    return (source, file.map { .file($0) } ?? .standardOutput)
  }

  /// The failure for a file before its object.
  static func turned(_ file: Argument, _ object: Argument, _ invocation: Invocation) -> Failure {
    let (name, url) = (ShellWord.quoted(file.text), ShellWord.quoted(object.text))
    let isRecursive = invocation.toggle(.recursive) == true
    let get = "s3up get \(isRecursive ? "-r " : "")\(url)"
    // A file that exists would not be replaced.
    let isFile = invocation.isFile(file) && !FilePath(bytes: file.bytes).isFolder
    let remedy =
      !isFile || S3URL.isWeb(object)
      ? "The object comes first: \(get) \(isFile ? "FILE" : name); s3up put uploads a file."
      : "It is a file here: s3up put \(name) \(url) uploads it; \(get) \(isRecursive ? "DIR/" : "FILE") downloads."
    return Failure(.usage, "\(name) is not an object", remedy: remedy)
  }

  /// A variable of a script that is not set must not be taken for a target.
  static func requireName(_ target: Argument) throws(Failure) {
    guard target.bytes.isEmpty else { return }
    throw Failure(
      .usage, "the target has an empty name", remedy: "Name a file or a folder. Is a shell variable not set?")
  }

  /// The target file; nil: standard output.
  private static func target(_ word: Argument?, of object: Argument, name: [UInt8]) throws(Failure) -> FilePath? {
    guard word?.bytes != Array("-".utf8) else { return nil }
    let folder: [UInt8]
    if let word {
      // The word may be a presigned URL, which no message may repeat.
      guard !S3URL.isWeb(word), !S3URL.looksLike(word) else {
        throw Failure(
          .usage, "the target is an address, not a file",
          remedy: "The object comes first: s3up get OBJECT [FILE|DIR/|-]")
      }
      try requireName(word)
      let path = FilePath(bytes: word.bytes)
      guard path.openDescriptor != STDOUT_FILENO else { return nil }
      guard word.bytes.last == UInt8(ascii: "/") || path.isFolder else { return path }
      folder = word.bytes.last == UInt8(ascii: "/") ? word.bytes : word.bytes + [UInt8(ascii: "/")]
    } else {
      folder = []
    }
    if let why = FilePathOfKey.refusal(of: name) {
      throw Failure(
        .usage, "the key's last part, '\(String(decoding: name, as: UTF8.self))', cannot be the name of a file: " + why,
        remedy: "Name the file: s3up get s3://BUCKET/KEY FILE")
    }
    let path = FilePath(bytes: folder + name)
    guard !path.isFolder else {
      let folder = { (text: String) in ShellWord.quoted(text.utf8.last == UInt8(ascii: "/") ? text : text + "/") }
      throw Failure(
        .precondition, "the object's file would be '\(path.text)', which is a folder",
        remedy: "Name the file"
          + (S3URL.isWeb(object)
            ? "." : ", or if it is a prefix, not an object: s3up get -r \(folder(object.text)) \(folder(path.text))"))
    }
    return path
  }

  private func get(
    _ source: Source, _ target: Target, _ options: DownloadOptions, _ alarm: RunAlarm
  ) async throws(Failure) {
    var options = options
    options.deadline = session.left(of: options.deadline, since: start)
    if case .standardOutput = target, session.output.json != nil {
      throw Failure(
        .usage, "--json and an object on standard output exclude each other",
        remedy: "Name a file, or leave --json out.")
    }
    var store: Store?
    if case .object(let url) = source { store = try await session.store(url.bucket) }
    if case .file(let path) = target { try session.timeline?.refuse(target: path) }
    if let store {
      try await session.tellPlan { () async throws(Failure) in
        try await store.explain(options, source: source.text, target: target.name)
      }
    }
    let words = session.progressStyle == .bar ? ProducerWords(session.console) : nil
    defer { words?.end() }
    var errors: Int32?
    if case .command = target { errors = words?.begin() }
    defer { errors.map { _ = close($0) } }
    let reporter = Reporter(session)
    let hear = { @Sendable [subject = source.subject] (event: DownloadEvent) in reporter.hear(event, of: subject) }
    let output: DownloadOutput =
      switch target {
      case .file(let path): .file(path)
      case .standardOutput: .descriptor(STDOUT_FILENO, name: "standard output")
      case .command(let command): .command(command.map(\.bytes), errors: errors)
      }
    let download: DownloadTask
    switch (source, store) {
    case (.object(let url), let store?):
      download = try store.downloadTask(url.key ?? "", to: output, options, onEvent: hear)
    case (.url(let object), _): download = try object.downloadTask(to: output, options, onEvent: hear)
    case (.object, nil): throw Failure(.local, "the store is not known")
    }
    session.signals.atEnd { download.kill() }
    session.signals.listen { download.cancel() }
    let name = target.label(source.lastName.text)
    let progress = ProgressTicker(session, source.subject) { ProgressState(name, download.progress) }
    session.signals.onReport { progress.report() }
    session.signals.onPause { progress.pause() }
    progress.start()
    let result: DownloadedObject
    do throws(Failure) {
      result = try await download.run()
      progress.finish(isWhole: result.outcome == .completed || result.outcome == .unchanged)
    } catch {
      progress.finish()
      throw error
    }
    try alarm.disarm()
    try say(result, source, target)
  }

  private func say(
    _ result: DownloadedObject, _ source: Source, _ target: Target
  ) throws(Failure) {
    let took = session.world.uptime() - start
    let line = result.line(source: source.text, destination: target.name, took: took)
    let event = Event.ended(source.subject, at: target.name, result, took: took).json
    switch target {
    case .file: break
    case .command where session.output.json != nil: break
    case .standardOutput, .command:
      session.notification?.note(event)
      // Standard output receives the object, or belongs to the command. That nothing proves the bytes is always said,
      // unless only a piece was asked for.
      let isPiece = session.invocation.has(.range) || session.invocation.has(.part)
      let mustSay = Descriptor.isTerminal(STDERR_FILENO) || !(result.isProven || isPiece)
      if !session.output.quiet, mustSay { session.console.line(line) }
      return
    }
    try session.say(session.paint(STDOUT_FILENO).result(line), json: event)
  }
}
