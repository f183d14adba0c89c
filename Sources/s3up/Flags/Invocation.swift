import Glibc
import MultipartBasics
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

    var isTyped: Bool {
      if case .commandLine = origin { true } else { false }
    }
  }

  let command: CommandName
  /// The mode of the command; all its options are valid in it.
  private(set) var mode: Mode
  var positionals: [Argument] = []
  private(set) var given: [FlagName: [Given]] = [:]
  private var count = 0
  /// The option that each argument directly follows on the command line, with whether that has a value of its own.
  var optionBefore: [Argument: (flag: Flag, hasValue: Bool)] = [:]

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
          .usage, "\(name) is not for \(mode.title)",
          remedy: remedyOfOne(flag) ?? mode.remedy(flag.modes.intersection(command.modes)))
      }
      given[flag.name] = nil
    }
  }

  /// What to do about an option for a single file, if only another option makes this a batch.
  private func remedyOfOne(_ flag: Flag) -> String? {
    guard positionals.count <= 2, !flag.modes.isDisjoint(with: mode.ofOne), !has(.recursive), !has(.filesFrom),
      !has(.batch), !positionals.contains(where: { FilePath(bytes: $0.bytes).isFolder })
    else { return nil }
    return optionOfMany.map { "Leave it out, or leave out \($0.long), which is for runs of many files." }
  }

  /// The first option that makes this a batch.
  var optionOfMany: Flag? {
    options.first { other, given in
      given.contains(where: \.isTyped) && other.modes.contains(mode) && other.modes.isDisjoint(with: mode.ofOne)
    }?.0
  }

  /// Whether an option asks for a batch: it is valid in the `many` modes but not in the `one` modes. Of the options that
  /// a variable sets, those that only say how a batch runs ask for none.
  private func asks(for many: ModeSet, not one: ModeSet) -> Bool {
    options.contains { flag, given in
      let counts = given.contains(where: \.isTyped) || Self.asking.contains(flag.name)
      return counts && flag.modes.contains(many) && flag.modes.isDisjoint(with: one) && !isOff(flag)
    }
  }

  /// Whether the arguments or options ask for a batch. A batch may also find just one file.
  func isOfMany(_ many: ModeSet, _ one: ModeSet) -> Bool {
    positionals.count - (command == .ticket ? 1 : 0) > 2 || asks(for: many, not: one)
  }

  /// Options that ask for a batch also as variables: they name files or outputs, or forbid to send anything.
  private static let asking: Set<FlagName> = [
    .recursive, .filesFrom, .batch, .manifest, .failedTo, .shard, .dryRun,
  ]

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

  /// The command line that tries again what `list` names, with the options that were typed; nil if a shell or a log must
  /// not have one of them. What chose the sources, and what the first run has written, is left out: the list has only
  /// what failed.
  func retry(from list: Argument, by option: FlagName = .filesFrom, _ places: [String]) -> String? {
    // A variable would have to be unset for the second run.
    let isTyped = [FlagName.failedTo, .manifest].allSatisfy { last($0)?.isTyped ?? true }
    guard isTyped, list.utf8Text != nil, !FilePath(bytes: list.bytes).namesDescriptor,
      let typed = typed({ !Self.ofFirstRun.contains($0.name) })
    else { return nil }
    let words = ["s3up", command.rawValue] + Self.option(option.long, option, list.text) + typed
    let safe = places.map { ShellWord.visible($0.begins(with: "-") ? "./" + $0 : $0) }
    return (words + safe).joined(separator: " ")
  }

  /// An option with its value, for a shell.
  private static func option(_ spelling: String, _ name: FlagName, _ value: String) -> [String] {
    value.begins(with: "-") ? ["\(name.long)=\(ShellWord.visible(value))"] : [spelling, ShellWord.visible(value)]
  }

  /// The options that were typed to reach this store, with the credentials for it, for a shell.
  var reach: String {
    let words = typed { flag in
      flag.section == .connection
        || flag.section == .credentials && ![.waitForCredentials, .access].contains(flag.name)
    }
    return (words ?? []).map { " " + $0 }.joined()
  }

  /// The typed options that are wanted, in order, for a shell; nil if a shell or a log must not have one of them.
  private func typed(_ isWanted: (Flag) -> Bool) -> [String]? {
    let given = options.filter { isWanted($0.0) }.flatMap { flag, values in
      values.filter(\.isTyped).map { (flag, $0) }
    }.sorted { $0.1.place < $1.1.place }
    var words: [String] = []
    for (flag, given) in given {
      guard let text = given.value.utf8Text, Redaction.text(text).utf8.elementsEqual(text.utf8),
        !Self.mayBeSecret(flag.name, text)
      else { return nil }
      switch flag.kind {
      case .toggle, .count: words.append(given.origin.text)
      case .value, .list:
        words += Self.option(given.origin.text, flag.name, text)
      case .optional: words.append(flag.long + (text.isEmpty ? "" : "=" + ShellWord.visible(text)))
      }
    }
    return words
  }

  /// Whether a log must not have the value: what a header or metadata means is not known.
  private static func mayBeSecret(_ name: FlagName, _ value: String) -> Bool {
    guard name == .header || name == .metadata else { return false }
    let title = value.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "=") }
    return Redaction.mayBeSecret(field: String(decoding: title, as: UTF8.self))
  }

  /// Options that choose sources, name outputs, have an address that only its owner may know, or have already changed
  /// the destination.
  private static let ofFirstRun: Set<FlagName> = [
    .recursive, .filesFrom, .batch, .include, .exclude, .shard, .manifest, .failedTo, .allowEmpty, .dryRun, .trace,
    .report, .notify, .notifyOn, .notifySecretFile, .access,
  ]

  func isFile(_ word: Argument) -> Bool { FilePath(bytes: word.bytes).exists }

  var isOneFolder: Bool { positionals.count == 1 && FilePath(bytes: positionals[0].bytes).isFolder }

  /// The command, with the action of a ticket.
  var title: String {
    command == .ticket ? "ticket \((ticketAction ?? .issue).rawValue)" : command.rawValue
  }

  /// The action of a ticket, if it is the first argument.
  private var ticketAction: TicketCommand.Action? {
    command == .ticket ? positionals.first.flatMap { TicketCommand.Action(rawValue: $0.text) } : nil
  }

  /// Refuses an object where the file belongs, and an address of the web where only `put` could take it; the words are
  /// both arguments.
  func checkOrder(_ words: [Argument]) throws(Failure) {
    if command != .put, S3URL.isWeb(words[0]), !isFile(words[0]) {
      throw Failure(
        .sourceMissing, "there is no file \(words[0].text)",
        remedy: "It is an address, not a file: download it first, and name the file.")
    }
    guard S3URL.looksLike(words[0]) else { return }
    let shown: (Argument) -> String = { ShellWord.quoted($0.text) }
    let remedy: String
    if !S3URL.looksLike(words[1]) {
      let line = "s3up \(title)\(toggle(.recursive) == true ? " -r" : "") \(shown(words[1])) \(shown(words[0]))"
      remedy = "The file comes first: " + line + (command == .part ? ", and the same options" : "")
    } else if command == .verify {
      remedy = "s3up verify compares a file with an object; s3up head shows the checksums of each object."
    } else {
      remedy = "s3up works between this machine and S3; \(OtherTools.insideStore)."
    }
    throw Failure(.usage, "'\(words[0].text)' is not a file", remedy: remedy)
  }

  /// What to do about an argument too many, if it shows how it came about; nil else.
  func reason(forExtra word: Argument) -> String? {
    // The shell leaves several files where one pattern was.
    if has(.include) || has(.exclude), isFile(word) {
      return "A pattern belongs in quotes: the shell replaces *.tmp by the names of files."
    }
    guard !isFile(word), let (flag, hasValue) = optionBefore[word] else { return nil }
    if hasValue {
      return "If it belongs to the value of \(flag.long), put the whole value in quotes; else leave it out."
    }
    guard case .optional = flag.kind else {
      return flag.takesNextWord ? nil : "\(flag.long) takes no value: leave the word out."
    }
    let form = "\(flag.long)=\(flag.metavar ?? "VALUE")"
    return "\(flag.long) takes a value only as \(form): write it so, or leave the word out."
  }

  /// The failure if words are missing. An option may have taken the URL as its value, and of a URL alone the file is
  /// missing.
  private func missing(_ names: [String], _ usage: String) -> Failure {
    var missing = names[positionals.count...].joined(separator: " and ")
    var remedy = usage
    if let last = positionals.last, S3URL.looksLike(last), names.suffix(2) == ["FILE", "s3://BUCKET/KEY"] {
      missing = "FILE"
      let line = command.form(of: ShellWord.quoted(last.text))
      let readsInput = command == .put || command == .verify
      remedy = "Write \(line)\(readsInput ? "; - instead of FILE reads standard input" : "")."
    } else if let taker = options.first(where: { flag, given in
      flag.takesNextWord && given.contains { $0.isTyped && S3URL.looksLike($0.value) }
    })?.0 {
      remedy = "\(taker.long) has taken the URL as its value: write its own value after it, or leave it out."
    }
    let verb = missing.holds(" and ") ? "are" : "is"
    return Failure(.usage, "\(title): \(missing) \(verb) missing", remedy: remedy)
  }

  /// The arguments, if there is exactly one for each name.
  func arguments(_ names: String...) throws(Failure) -> [Argument] {
    let usage = "Usage: \(CommandPage.of(command).only(ticketAction).synopses.first ?? "s3up \(command.rawValue)")"
    guard positionals.count >= names.count else {
      throw missing(names, usage)
    }
    guard positionals.count == names.count else {
      let extra = positionals[names.count].text
      throw Failure(
        .usage, "\(title): '\(extra)' is one argument too many",
        remedy: reason(forExtra: positionals[names.count]) ?? usage)
    }
    return positionals
  }

  /// Fails if standard input is named twice: the first reader would leave nothing, and an empty object could be published.
  func requireOneReaderOfInput() throws(Failure) {
    func isInput(_ path: FilePath, takesDash: Bool = true) -> Bool {
      takesDash && path.bytes.elementsEqual("-".utf8) || path.openDescriptor == STDIN_FILENO
    }
    var readers = inputs.filter { isInput($0.path, takesDash: $0.flag.takesDash) }.map {
      "\($0.given.origin.text) \($0.given.value.text)"
    }
    // The words of a command are its own, and the target of a download is written.
    if command != .get, toggle(.fromCommand) != true {
      readers += positionals.filter { isInput(FilePath(bytes: $0.bytes)) }.map { "'\($0.text)'" }
    }
    guard readers.count > 1 else { return }
    throw Failure(
      .usage, "standard input can be read only once, and \(readers[0]) and \(readers[1]) both read it",
      remedy: "Name a file for one of them.")
  }

  /// The files that options read, such as lists, tickets and keys.
  var inputs: [(flag: Flag, given: Given, path: FilePath)] {
    FlagList.of(command).flatMap { flag in
      all(flag.name).compactMap { given in flag.input(in: given.value.bytes).map { (flag, given, $0) } }
    }
  }

  /// The bucket or prefix of a command that takes at most one.
  func place() throws(Failure) -> S3URL? {
    positionals.isEmpty ? nil : try S3URL(arguments("s3://BUCKET[/PREFIX]")[0], for: command)
  }
}
