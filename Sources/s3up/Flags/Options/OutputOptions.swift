import MultipartCore

/// What is said, where and how.
struct OutputOptions: Sendable, Equatable {
  var progress = ProgressChoice.auto
  var quiet = false
  /// 0, 1 (`-v`) or 2 (`-vv`).
  var verbosity = 0
  /// Nil: lines for humans.
  var json: JSONChoice?
  var color = ColorChoice.auto
  var explain = false

  init() {}

  init(_ invocation: Invocation, environment: [String: String]) throws(Failure) {
    progress = try invocation.choice(.progress) ?? .auto
    quiet = invocation.toggle(.quiet) ?? false
    verbosity = min(2, invocation.all(.verbose).count)
    explain = invocation.toggle(.explain) ?? false
    color = try invocation.choice(.color) ?? .auto
    // no-color.org: set to anything but nothing.
    if color == .auto, let word = environment["NO_COLOR"], !word.isEmpty { color = .never }
    if let given = invocation.last(.json) {
      switch given.value.text {
      case "": json = .result
      case "all": json = .all
      default: throw invocation.wrong(given, "is not one of its values", remedy: "Write --json or --json=all.")
      }
    }
    if quiet {
      // What the environment says of the bar gives way; two words on one line contradict each other.
      if case .commandLine? = invocation.last(.progress)?.origin, progress == .bar || progress == .plain {
        throw Failure(
          .usage, "--quiet and --progress \(progress.rawValue) exclude each other", remedy: "Leave one of them out.")
      }
      progress = .none
    }
  }

  /// Of a line that could not be read: whether a program is to read what becomes of it.
  static func askForJSON(_ words: [Argument], environment: [String: String]) -> Bool {
    if let text = environment["S3UP_JSON"]?.lowercased(), !["", "0", "false", "no"].contains(text) { return true }
    return words.prefix { $0.text != "--" }.contains { $0.text == "--json" || $0.text.hasPrefix("--json=") }
  }

  /// Whether to color what goes to a terminal or not.
  func isColored(terminal: Bool, environment: [String: String]) -> Bool {
    switch color {
    case .always: true
    case .never: false
    case .auto: terminal && environment["TERM"] != "dumb"
    }
  }
}
