import MultipartCore

/// What was typed: the command, its arguments, and each option with the origin of its value. `StoreOptions` and similar
/// types interpret it.
struct Invocation: Sendable {
  enum Origin: Sendable, Equatable {
    /// The option as it was typed: `--part-size`, `-q`.
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
    /// The position among all options; those of the environment come last.
    let place: Int
  }

  let command: CommandName
  /// The mode of the command; all its options are valid in it.
  private(set) var mode: Mode
  var positionals: [Argument] = []
  private(set) var given: [FlagName: [Given]] = [:]
  private var count = 0

  /// A command whose `mode` is determined once all options are known.
  init(_ command: CommandName, _ mode: Mode) { (self.command, self.mode) = (command, mode) }

  mutating func add(_ name: FlagName, _ value: Argument, _ origin: Origin) {
    given[name, default: []].append(Given(value: value, origin: origin, place: count))
    count += 1
  }

  /// Determines the mode, and refuses options that are not valid in it. Variables that are not valid in it are ignored.
  mutating func settle() throws(Failure) {
    mode = try command.mode(of: self)
    for (flag, values) in options where !flag.modes.contains(mode) {
      let isIgnored =
        if case .environment? = values.first?.origin { flag.modes.isDisjoint(with: mode.ofOne) } else { false }
      if !isIgnored, !isOff(flag), let name = values.first?.origin.text {
        throw Failure(
          .usage, "\(name) is not for \(mode.title)", remedy: mode.remedy(flag.modes.intersection(command.modes)))
      }
      given[flag.name] = nil
    }
  }

  /// Whether an option was given that is valid in the `wanted` modes but not in the `other` ones.
  func asks(for wanted: ModeSet, not other: ModeSet) -> Bool {
    options.contains { flag, _ in flag.modes.contains(wanted) && flag.modes.isDisjoint(with: other) && !isOff(flag)
    }
  }

  /// Whether the arguments or options ask for a batch. A batch may also find just one file.
  func isOfMany(_ many: ModeSet, _ one: ModeSet) -> Bool { positionals.count > 2 || asks(for: many, not: one) }

  /// The definitions of the given options, in the order of definition.
  private var options: [(Flag, [Given])] {
    given.compactMap { name, values in FlagList.find(name, for: command).map { ($0, values) } }
      .sorted { $0.1[0].place < $1.1[0].place }
  }

  /// Whether a switch was switched off, so that it asks for nothing.
  private func isOff(_ flag: Flag) -> Bool { flag.kind == .toggle && toggle(flag.name) == false }

  func has(_ name: FlagName) -> Bool { given[name] != nil }

  /// The last value given, which takes precedence.
  func last(_ name: FlagName) -> Given? { given[name]?.last }

  func all(_ name: FlagName) -> [Given] { given[name] ?? [] }

  /// The value of a switch; nil if it was not given.
  func toggle(_ name: FlagName) -> Bool? { last(name).map { $0.value.text == "true" } }

  func isFile(_ word: Argument) -> Bool { FilePath(bytes: word.bytes).exists }

  var isOneFolder: Bool { positionals.count == 1 && BatchSources.isFolder(FilePath(bytes: positionals[0].bytes)) }

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
