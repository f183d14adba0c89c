import MultipartCore

/// What was typed: the command, its arguments, and each option with the origin of its value. `ConnectionOptions` and its
/// siblings interpret it.
struct Invocation: Sendable {
  enum Origin: Sendable, Equatable {
    /// As it was typed: `--part-size`, `-q`.
    case commandLine(String)
    case environment(String)

    var text: String {
      switch self {
      case .commandLine(let name), .environment(let name): name
      }
    }
  }

  struct Given: Sendable, Equatable {
    let value: Argument
    let origin: Origin
    /// Among all options; the environment's come last.
    let place: Int
  }

  let command: CommandName
  var positionals: [Argument] = []
  private(set) var given: [FlagName: [Given]] = [:]
  private var count = 0

  init(_ command: CommandName) { self.command = command }

  mutating func add(_ name: FlagName, _ value: Argument, _ origin: Origin) {
    given[name, default: []].append(Given(value: value, origin: origin, place: count))
    count += 1
  }

  func has(_ name: FlagName) -> Bool { given[name] != nil }

  /// The last value given, which wins.
  func last(_ name: FlagName) -> Given? { given[name]?.last }

  func all(_ name: FlagName) -> [Given] { given[name] ?? [] }

  /// A switch: nil if it was not given.
  func toggle(_ name: FlagName) -> Bool? { last(name).map { $0.value.text == "true" } }

  /// The arguments, if there is exactly one for each name.
  func arguments(_ names: String...) throws(Failure) -> [Argument] {
    let usage = "Usage: \(CommandPage.of(command).synopses.first ?? "s3up \(command.rawValue)")"
    guard positionals.count >= names.count else {
      let missing = names[positionals.count...].joined(separator: " and ")
      let verb = names.count - positionals.count > 1 ? "are" : "is"
      throw Failure(.usage, "\(command.rawValue): \(missing) \(verb) missing", remedy: usage)
    }
    guard positionals.count == names.count else {
      let extra = Redaction.url(positionals[names.count].text)
      throw Failure(.usage, "\(command.rawValue): '\(extra)' is one argument too many", remedy: usage)
    }
    return positionals
  }
}
