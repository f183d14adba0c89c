import Glibc
import MultipartCore

/// What every command has: what was asked for, how to say something, and the world the core lives in.
struct Session: Sendable {
  var invocation: Invocation
  let environment: [String: String]
  let output: OutputOptions
  let console: Console
  var world: World
  let signals: Signals
  /// When the credentials are to be those of an identity pool.
  var cognito: CognitoIdentityProvider?

  init(invocation: Invocation, environment: [String: String], output: OutputOptions, console: Console, signals: Signals)
  {
    self.invocation = invocation
    self.environment = environment
    self.output = output
    self.console = console
    self.signals = signals
    let verbosity = output.quiet && output.verbosity == 0 ? -1 : output.verbosity
    world = .ofProcess(environment, upTo: verbosity) { level, message in
      console.line((level == 0 ? "s3up: " : "") + SafeText.lines(message.commandText))
    }
  }

  /// The way to any bucket, as the options, the environment and the terminal say.
  func storeOptions() throws(Failure) -> StoreOptions {
    var options = try StoreOptions(invocation)
    options.environment = environment
    options.hooks.world = world
    options.hooks.userAgent = "s3up/\(Version.text)"
    options.hooks.provider = cognito
    let question = TerminalQuestion(world: world, signals: signals)
    options.hooks.askCode = { (prompt) async throws(Failure) in try await question.ask(prompt) }
    return options
  }

  func store(_ bucket: String) async throws(Failure) -> Store {
    try await Store(bucket: bucket, storeOptions())
  }

  /// Where s3up keeps what it knows; nil where nobody says.
  func stateFolder() throws(Failure) -> String? {
    try storeOptions().stateFolder(environment)
  }

  func paint(_ descriptor: Int32) -> Paint {
    Paint(isOn: output.isColored(terminal: Descriptor.isTerminal(descriptor), environment: environment))
  }

  func show(_ failure: Failure) {
    for line in paint(STDERR_FILENO).error(ErrorText.lines(for: failure)) { console.line(line) }
  }

  /// A run that a signal stopped tells by its status which one.
  func status(of failure: Failure) -> ExitStatus {
    guard failure.code == .interrupted else { return ExitStatus(failure.code) }
    return switch signals.received {
    case SIGTERM: .terminated
    case SIGHUP: .hungUp
    default: .interrupted
    }
  }

  /// The line about something that is done, for people; `--json` says it in its own way, `-q` not at all. What is done
  /// stays done when the line cannot be written: that is a warning, and a failure only where a program asked for it.
  func say(_ line: @autoclosure () -> String, json: @autoclosure () -> String) throws(Failure) {
    guard output.json != nil || !output.quiet else { return }
    do throws(Failure) {
      try StandardOutput.line(output.json != nil ? json() : line())
      try StandardOutput.settle()
    } catch {
      try unsaid(error, line())
    }
  }

  /// `error` kept a program or a person from reading `line`.
  func unsaid(_ error: Failure, _ line: String) throws(Failure) {
    guard output.json == nil else {
      throw Failure(
        .output, "\(error.message), but what it was to say is done", remedy: "It need not be done again: \(line)")
    }
    console.line(
      "s3up: \(SafeText.oneLine(error.message.commandText)); what it was to say is done: \(SafeText.oneLine(line))")
  }

  /// What a script reads from a single step: with `-q` too. Without it the step is of no use and has failed.
  func answer(_ line: @autoclosure () -> String, json: @autoclosure () -> String) throws(Failure) {
    try row(line(), json: json())
    try StandardOutput.settle()
  }

  /// One of many such lines; the run settles them all at its end.
  func row(_ line: @autoclosure () -> String, json: @autoclosure () -> String) throws(Failure) {
    try StandardOutput.line(output.json != nil ? json() : line())
  }
}
