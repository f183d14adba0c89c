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
    world = World(
      now: { Timestamp(seconds: Int64(time(nil))) },
      uptime: { .sinceBoot() },
      sleep: { try await TaskThreads.shared.sleep(for: $0) },
      random: { Double.random(in: 0..<1) },
      environment: environment,
      log: { level, message in
        if level <= verbosity { console.line((level == 0 ? "s3up: " : "") + SafeText.lines(message())) }
      })
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

  /// A line for people on standard output; `--json` says it in its own way, `-q` not at all.
  func say(_ line: @autoclosure () -> String, json: @autoclosure () -> String) throws(Failure) {
    if output.json != nil {
      try StandardOutput.line(json())
    } else if !output.quiet {
      try StandardOutput.line(line())
    }
  }

  /// What a script reads from a single step: with `-q` too.
  func answer(_ line: @autoclosure () -> String, json: @autoclosure () -> String) throws(Failure) {
    try StandardOutput.line(output.json != nil ? json() : line())
  }
}
