import MultipartBasics
import MultipartCore

/// What is printed, where and how.
struct OutputOptions: Sendable, Equatable {
  var progress = ProgressChoice.auto
  var title = TitleChoice.auto
  var quiet = false
  /// 0, 1 (`-v`) or 2 (`-vv`).
  var verbosity = 0
  /// The events to print as JSON; nil: text for people.
  var json: JSONChoice?
  var color = ColorChoice.auto
  var explain = false

  init() {}

  init(_ invocation: Invocation, environment: [String: String]) throws(Failure) {
    progress = try invocation.choice(.progress) ?? .auto
    title = try invocation.choice(.title) ?? .auto
    quiet = invocation.toggle(.quiet) ?? false
    verbosity = min(2, invocation.all(.verbose).count)
    explain = invocation.toggle(.explain) ?? false
    color = try invocation.choice(.color) ?? .auto
    // Any non-empty value counts, as no-color.org says.
    if color == .auto, let word = environment["NO_COLOR"], !word.isEmpty { color = .never }
    if let given = invocation.last(.json) {
      switch given.value.text {
      case "": json = .result
      case "all": json = .all
      default: throw invocation.wrong(given, "is not one of its values", remedy: "Write --json or --json=all.")
      }
    }
    if quiet {
      // On the command line the two contradict each other; a value from the environment is overridden.
      if case .commandLine? = invocation.last(.progress)?.origin, progress == .bar || progress == .plain {
        throw Failure(
          .usage, "--quiet and --progress \(progress.rawValue) exclude each other", remedy: "Leave one of them out.")
      }
      progress = .none
    }
  }

  /// Whether a failure must be printed as JSON, for arguments that could not be parsed.
  static func askForJSON(_ words: [Argument], environment: [String: String]) -> Bool {
    if let text = environment["S3UP_JSON"]?.lowercased(), !["", "0", "false", "no"].contains(text) { return true }
    return words.prefix { $0.text != "--" }.contains { $0.text == "--json" || $0.text.begins(with: "--json=") }
  }

  /// Whether output is colored.
  func isColored(terminal: Bool, environment: [String: String]) -> Bool {
    switch color {
    case .always: true
    case .never: false
    case .auto: terminal && !Descriptor.isDumb(environment)
    }
  }
}
