import Glibc
import MultipartBasics
import MultipartCore

/// What every command gets: the invocation, the output, and the environment.
struct Session: Sendable {
  var invocation: Invocation
  /// The options for the store and for the upload.
  private(set) var options: (store: StoreOptions, upload: UploadOptions) = (StoreOptions(), UploadOptions())
  /// What objects are created with, depending on the names of their files.
  private(set) var attributes: AttributeRules?
  /// Posts how the run ended to the URL of `--notify`.
  private(set) var notification: Notification?
  private(set) var report: JobReport?
  /// Set if `--trace` or `--report` asks for it.
  private(set) var timeline: RunTimeline?
  let environment: [String: String]
  let output: OutputOptions
  let console: Console
  var world: World
  let signals: Signals
  /// Set if the credentials are those of a Cognito identity pool.
  var cognito: CognitoIdentity?

  init(invocation: Invocation, environment: [String: String], output: OutputOptions, console: Console, signals: Signals)
  {
    self.invocation = invocation
    self.environment = environment
    self.output = output
    self.console = console
    self.signals = signals
    RemedyAction.reach.withLock { $0 = invocation.reach }
    let verbosity = output.quiet && output.verbosity == 0 ? -1 : output.verbosity
    world = .ofProcess(environment, upTo: verbosity) { level, message in
      console.line((level == 0 ? "s3up: " : "") + SafeText.lines(message.commandText))
    }
  }

  /// Call it once, because an option may name a pipe.
  mutating func readOptions() throws(Failure) {
    try invocation.requireOneReaderOfInput()
    notification = try Notification(invocation, environment, since: world.uptime())
    let dotenv = try invocation.path(.dotenv).map { (file) throws(Failure) in
      let report = try ReportFile(
        FilePath(bytes: file.bytes), of: .variables, onlyLooks: false, isLine: JobReport.isVariable)
      try report.requireOwn(invocation.positionals.map { FilePath(bytes: $0.bytes) })
      return report
    }
    report = JobReport(JobRunner(environment), dotenv: dotenv)
    timeline = try RunTimeline(invocation, world, folder: temporaryFolder)
    var outputs = RunOutputs()
    outputs.files = (timeline?.files ?? []) + [dotenv].compactMap { $0 }
    try outputs.refuseTwins()
    options = (try StoreOptions(invocation), try UploadOptions(invocation))
    if let given = invocation.last(.limitRate), let rate = options.store.limitRate?.least, rate < 1024, !output.quiet {
      let meant = "\(rate)M is \(rate) MiB a second"
      console.line("s3up: \(given.origin.text) \(rate) is \(Human.count(Int(rate), "byte")) a second; \(meant)")
    }
    attributes = try invocation.path(.attributes).map { (file) throws(Failure) in
      try AttributeRules(FilePath(bytes: file.bytes))
    }
  }

  /// How to reach any bucket, from the options, the environment and the terminal.
  var storeOptions: StoreOptions {
    var options = options.store
    options.environment = environment
    options.world = world
    options.timeline = timeline?.timeline
    options.userAgent = "s3up/\(Version.text)"
    if let cognito, case .chain = options.credentials { options.credentials = .cognito(cognito) }
    let question = TerminalQuestion(world: world, signals: signals)
    options.askCode = { (prompt) async throws(Failure) in try await question.ask(prompt) }
    return options
  }

  /// What is left of a limit that applies to the whole command, of which part has passed.
  func left(of limit: Duration?, since start: Duration) -> Duration? {
    limit.map { $0 - (world.uptime() - start) }
  }

  func store(_ bucket: String) async throws(Failure) -> Store {
    try await Store(bucket: bucket, storeOptions)
  }

  var temporaryFolder: String {
    environment["TMPDIR"].flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil } ?? "/tmp"
  }

  /// Where s3up keeps its state; nil if no folder is set.
  var stateFolder: String? { storeOptions.stateFolder(environment) }

  var progressStyle: ProgressPrinter.Style {
    ProgressPrinter.style(
      output.progress, terminal: Descriptor.isTerminal(STDERR_FILENO), environment: environment)
  }

  /// What shows the progress outside the terminal's text; nil if nothing does. Whichever way the process ends, the signs
  /// are taken back.
  func terminalTitle() -> TerminalTitle? {
    let signs = TerminalSigns(output.title, environment: environment)
    guard progressStyle == .bar, signs != .none else { return nil }
    let title = TerminalTitle(signs, console) { Descriptor.isInFront(STDERR_FILENO) }
    signals.beforeLeaving { title.leave() }
    return title
  }

  func paint(_ descriptor: Int32) -> Paint {
    Paint(isOn: output.isColored(terminal: Descriptor.isTerminal(descriptor), environment: environment))
  }

  func tell(_ skipped: SkippedSource) {
    console.line("s3up: skipped \(SafeText.oneLine(skipped.path)): \(skipped.reason.words)")
  }

  /// Reports a failure to people and, with `--json`, to programs. If the reader of standard output is gone, only the
  /// exit status shows it.
  func tell(_ failure: Failure) {
    let event = Event.failed(failure, status(of: failure)).json
    notification?.note(event)
    if output.json != nil { try? StandardOutput.line(event) }
    show(failure)
  }

  /// Does work that begins uploads. A signal cancels it; whatever the store has not confirmed by then is told.
  func beginning<Value: Sendable>(
    in bucket: String, key: String? = nil, _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let failure = Failure(
      .interrupted, "interrupted before the store has answered; uploads without parts may be left",
      remedy: "\(run: .listUploads(bucket: bucket, key: key)) lists them"
    ).at(Place(bucket: bucket, key: key))
    return try await signals.run(grace: Self.grace, late: { tell(failure) }, work)
  }

  /// Does work that leaves nothing behind, wherever a signal stops it.
  func stoppable<Value: Sendable>(
    _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await signals.run(grace: Self.grace, late: { tell(.interrupted) }, work)
  }

  /// How long a cancelled request may take to end, of the five seconds that a run has after a signal.
  private static let grace = Duration.seconds(4)

  /// Shows what went wrong beside the failure that the run ends with.
  func showBeside(_ failure: Failure) {
    var failure = failure
    // The general remedy would be not to run it again.
    if failure.code == .output, failure.remedy == nil { failure.remedy = "Check that there is room for the file." }
    show(failure)
  }

  func show(_ failure: Failure) {
    let lines = ErrorText.lines(for: failure)
    let mark = report?.mark(failure, lines).map { [$0] } ?? []
    // At once: another failure must not come between the lines.
    console.line((mark + paint(STDERR_FILENO).error(lines)).joined(separator: "\n"))
  }

  /// Shows what the run is going to do, and why, if that is requested.
  func tellPlan(_ plan: () async throws(Failure) -> [PlanLine]) async throws(Failure) {
    guard output.explain || timeline != nil else { return }
    let lines = try await plan().map { line in
      line.topic + String(repeating: " ", count: max(1, 13 - line.topic.utf8.count)) + line.text.commandText
    }
    timeline?.plan(lines)
    if output.explain { for line in lines { console.line(line) } }
  }

  /// The exit status of a failure; for a run that a signal stopped, that of the signal.
  func status(of failure: Failure) -> ExitStatus {
    guard failure.code == .interrupted else { return ExitStatus(failure.code) }
    return Signals.status(of: signals.received ?? SIGINT)
  }

  /// Prints the result: for people as a line, with `--json` as an object, with `-q` not at all. If it cannot be
  /// written, the operation has still succeeded: that is a warning, and a failure only if a program asked for JSON.
  func say(_ line: @autoclosure () -> String, json: @autoclosure () -> String) throws(Failure) {
    notification?.note(json())
    guard output.json != nil || !output.quiet else { return }
    do throws(Failure) {
      try StandardOutput.line(output.json != nil ? json() : line())
      try StandardOutput.settle()
    } catch {
      try unsaid(error, line())
    }
  }

  /// `error` prevented `line` from being printed. A run in which something failed ends with that.
  func unsaid(_ error: Failure, _ line: String, isSuccess: Bool = true) throws(Failure) {
    guard output.json == nil || !isSuccess else {
      throw Failure(
        .output, "\(error.message), but the operation itself succeeded", remedy: "Do not run it again: \(line)")
    }
    let result = isSuccess ? "the operation itself succeeded" : "the result is"
    console.line("s3up: \(SafeText.oneLine(error.message.commandText)); \(result): \(SafeText.oneLine(line))")
  }

  /// Prints what a script reads from a single step, also with `-q`. If it cannot be written, the step is useless and fails.
  func answer(_ line: @autoclosure () -> String, json: @autoclosure () -> String) throws(Failure) {
    try row(line(), json: json())
    try StandardOutput.settle()
  }

  /// Prints one of many rows; errors are reported at the end of the run.
  func row(_ line: @autoclosure () -> String, json: @autoclosure () -> String) throws(Failure) {
    try StandardOutput.line(output.json != nil ? json() : line())
  }
}
