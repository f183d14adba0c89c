import MultipartBasics
import MultipartCore

/// When a log gets its next line of progress.
struct LogPace: Sendable {
  private var last: Duration?

  mutating func isDue(_ style: ProgressPrinter.Style, at now: Duration) -> Bool {
    guard let interval = style.interval else { return false }
    guard let before = last else {
      last = now
      return style == .log
    }
    guard now - before >= interval else { return false }
    last = now
    return true
  }
}

/// Shows progress at each tick: on a terminal as a line that is redrawn, in a log as a line now and then, or not at
/// all.
final class ProgressPrinter: Sendable {
  enum Style: Sendable, Equatable {
    case bar, plain
    /// For a CI job, whose runner may end it if it is silent for long.
    case log
    case none

    /// The time between two lines of a log.
    var interval: Duration? {
      switch self {
      case .plain: .seconds(10)
      case .log: .seconds(30)
      case .bar, .none: nil
      }
    }
  }

  private struct State {
    var meter = ProgressMeter()
    var log = LogPace()
    var isFinished = false
  }

  /// Columns that stay empty, so that an echoed `^C` does not wrap the line.
  static let free = 2

  let style: Style
  private let title: TerminalTitle?
  private let console: Console
  private let width: @Sendable () -> Int
  private let state = Locked(State())

  init(style: Style, console: Console, title: TerminalTitle? = nil, width: @escaping @Sendable () -> Int) {
    self.style = style
    self.title = title
    self.console = console
    self.width = width
  }

  /// The style. `auto` is a bar if the terminal supports it, and a log in a CI job; a bar is never drawn into a file or
  /// pipe.
  static func style(_ choice: ProgressChoice, terminal: Bool, environment: [String: String]) -> Style {
    switch choice {
    case .auto where terminal: Descriptor.isDumb(environment) ? .none : .bar
    case .auto: JobRunner(environment) != nil ? .log : .none
    case .bar: terminal ? .bar : .none
    case .plain: .plain
    case .none: .none
    }
  }

  /// Draws, and returns the state with its rate and time left; thread-safe. `now` is an uptime.
  @discardableResult
  func tick(_ progress: ProgressState, now: Duration) -> ProgressState {
    state.withLock { state in
      let measured = state.meter.measure(progress, at: now)
      guard !state.isFinished else { return measured }
      switch style {
      case .bar:
        console.live(ProgressLine.draw(measured, width: width() - ProgressPrinter.free))
        title?.show(TerminalSigns.title(measured), measured.fraction)
      case .plain, .log: if state.log.isDue(style, at: now) { console.line(ProgressLine.plain(measured)) }
      case .none: break
      }
      return measured
    }
  }

  /// The state with its rate and time left, without drawing.
  func measure(_ progress: ProgressState, now: Duration) -> ProgressState {
    state.withLock { $0.meter.measure(progress, at: now) }
  }

  /// Draws that the process is about to be suspended; the line stays until it continues.
  func pause(_ progress: ProgressState, now: Duration) {
    state.withLock { state in
      guard style == .bar, !state.isFinished else { return }
      title?.pause()
      var measured = state.meter.measure(progress, at: now)
      (measured.rate, measured.eta, measured.words) = (nil, nil, "paused")
      console.finishLive(ProgressLine.draw(measured, width: width() - ProgressPrinter.free))
    }
  }

  /// Draws the last frame, once, however the run ended; later ticks draw nothing.
  func finish(_ progress: ProgressState, now: Duration) {
    state.withLock { state in
      guard !state.isFinished else { return }
      state.isFinished = true
      title?.finish()
      var measured = state.meter.measure(progress, at: now)
      (measured.rate, measured.eta, measured.words) = (nil, nil, nil)
      measured.connections = 0
      switch style {
      case .bar: console.finishLive(ProgressLine.draw(measured, width: width() - ProgressPrinter.free))
      case .plain: console.line(ProgressLine.plain(measured))
      case .log, .none: break
      }
    }
  }
}
