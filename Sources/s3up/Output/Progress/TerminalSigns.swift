import Glibc
import MultipartBasics
import MultipartCore

/// What a terminal shows outside its text: the title of its window or tab, and the progress at a tab, a taskbar or a
/// dock. Both are sequences that a terminal must know: one that does not know the first keeps the title after the end,
/// and some that do not know the second show it as a notification, each time. So each is sent only to those that are
/// known to take it back.
struct TerminalSigns: Sendable, Equatable {
  /// OSC 0 of xterm, and the stack of titles of its XTWINOPS (22 and 23).
  var title: Bool
  /// OSC 9;4, which is ConEmu's.
  var progress: Bool

  static let none = TerminalSigns(title: false, progress: false)

  init(title: Bool, progress: Bool) { (self.title, self.progress) = (title, progress) }

  /// `environment` describes the terminal; with `always` any that is not dumb gets the title.
  init(_ choice: TitleChoice, environment: [String: String]) {
    let kind = environment["TERM"] ?? ""
    guard choice != .never, !Descriptor.isDumb(environment) else {
      self = .none
      return
    }
    let isDivided = Self.isSet("TMUX", environment) || Self.isSet("STY", environment)
    title = choice == .always || Self.keepsTitles(kind, environment)
    // A multiplexer keeps the sequence for itself, while the variables of the terminal around it are inherited.
    progress = !isDivided && !Self.multiplexers.contains(where: kind.begins) && Self.showsProgress(environment)
  }

  private static let multiplexers = ["screen", "tmux"]

  private static func isSet(_ name: String, _ environment: [String: String]) -> Bool {
    environment[name]?.isEmpty == false
  }

  /// Whether the terminal has a stack of titles. Its kind says so, except for those that call themselves an xterm but are
  /// none: Windows Terminal, those of macOS, VS Code, Emacs and Vim.
  private static func keepsTitles(_ kind: String, _ environment: [String: String]) -> Bool {
    let family = kind.upTo("-")
    if family == "tmux" || (family == "screen" && isSet("TMUX", environment)) { return true }
    guard families.contains(String(family)) else { return false }
    return !["WT_SESSION", "INSIDE_EMACS", "NVIM", "VIM_TERMINAL"].contains { isSet($0, environment) }
      && !["Apple_Terminal", "vscode"].contains(environment["TERM_PROGRAM"])
  }

  private static let families: Set<String> = [
    "xterm", "rxvt", "vte", "gnome", "konsole", "kitty", "foot", "alacritty", "wezterm", "ghostty", "contour", "mlterm",
    "putty",
  ]

  /// Whether the terminal shows progress. WezTerm and iTerm2 do since a version, and before it show a notification.
  private static func showsProgress(_ environment: [String: String]) -> Bool {
    if isSet("WT_SESSION", environment) || environment["ConEmuANSI"] == "ON" { return true }
    // VTE's version 0.80.0 is written 8000.
    if let version = environment["VTE_VERSION"].flatMap({ Int($0, in: 0...1_000_000) }) { return version >= 8000 }
    let version = (environment["TERM_PROGRAM_VERSION"] ?? "").words(between: ".-").prefix(3)
      .map { Int($0, in: 0...100_000_000) ?? 0 }
    switch environment["TERM_PROGRAM"] {
    case "ghostty": return true
    case "WezTerm": return !version.lexicographicallyPrecedes([20_250_209])
    case "iTerm.app": return !version.lexicographicallyPrecedes([3, 6, 6])
    default: return false
    }
  }

  // MARK: - Sequences

  /// Shows the text and the progress, 0...1 or nil if it is not known. The first time, the terminal keeps its own title.
  func show(_ text: String, _ fraction: Double?, isFirst: Bool) -> String {
    var out = ""
    if title {
      // The text must not end the sequence, or be one.
      out += (isFirst ? "\u{1b}[22;0t" : "") + "\u{1b}]0;" + SafeText.oneLine(text, limit: 120) + Self.end
    }
    if progress {
      // State 1 has a percentage, state 3 has none.
      let state = fraction.map { "1;\(Int(min(1, max(0, $0)) * 100))" } ?? "3;0"
      out += "\u{1b}]9;4;" + state + Self.end
    }
    return out
  }

  /// Gives the terminal its title back, and ends the progress.
  var takeBack: String { (title ? "\u{1b}[23;0t" : "") + (progress ? "\u{1b}]9;4;0;0" + Self.end : "") }

  /// The string terminator of ECMA-48.
  private static let end = "\u{1b}\\"

  // MARK: - Texts

  /// The title of one object.
  static func title(_ state: ProgressState) -> String {
    let done = state.fraction.map { ProgressLine.percent($0) } ?? Human.size(state.done)
    return "\(done) \(TextWidth.end(SafeText.oneLine(state.name), to: 60)) — s3up"
  }
}

/// Shows a run's signs, and takes them back whichever way it ends. Thread-safe.
final class TerminalTitle: Sendable {
  private enum State: Sendable, Equatable {
    /// No frame was drawn yet: a run that ends with its first would only make the title flicker.
    case new
    case hidden
    case shown(String)
    case over
  }

  private let signs: TerminalSigns
  private let console: Console
  private let isInFront: @Sendable () -> Bool
  private let state = Locked(State.new)

  /// `isInFront`: whether the terminal is this job's. A job in the background leaves the title to the shell.
  init(_ signs: TerminalSigns, _ console: Console, isInFront: @escaping @Sendable () -> Bool) {
    (self.signs, self.console, self.isInFront) = (signs, console, isInFront)
  }

  /// Called at each frame of the progress; sends something only if it differs from what is shown.
  func show(_ text: @autoclosure () -> String, _ fraction: Double?) {
    guard signs != .none, isInFront() else { return }
    state.withLock { state in
      guard state != .over else { return }
      guard state != .new else {
        state = .hidden
        return
      }
      let sequence = signs.show(text(), fraction, isFirst: false)
      guard state != .shown(sequence) else { return }
      console.sign(state == .hidden ? signs.show(text(), fraction, isFirst: true) : sequence)
      state = .shown(sequence)
    }
  }

  /// Before the process is suspended; the next frame shows the signs again.
  func pause() { takeBack(.hidden) }

  /// At the end: later frames show nothing.
  func finish() { takeBack(.over) }

  /// Before the process ends at once. A terminal that is held (Ctrl-S) takes no output, and may hold up another thread
  /// within a frame: that must not keep the process from ending.
  func leave() {
    let isBack = Locked(false)
    Task.detached { [self] in
      finish()
      isBack.withLock { $0 = true }
    }
    for _ in 0..<Self.patience {
      if isBack.withLock({ $0 }) { return }
      usleep(1000)
    }
  }

  /// In milliseconds.
  private static let patience = 200

  private func takeBack(_ next: State) {
    state.withLock { state in
      if case .shown = state { console.sign(signs.takeBack) }
      if state != .over { state = next }
    }
  }
}
