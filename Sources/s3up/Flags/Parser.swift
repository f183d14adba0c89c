import MultipartBasics
import MultipartCore

/// Parses words and variables into an `Invocation`: `--name value`, `--name=value`, `-q`, `-qv`, `--` (only arguments
/// follow), `-` (an argument). Options may come before and after the command and between its arguments.
struct Parser {
  private let words: [Argument]
  private let environment: [String: String]
  private var next = 0
  private var command: CommandName?
  private var positionals: [Argument] = []
  private var optionBefore: [Argument: (flag: Flag, hasValue: Bool)] = [:]
  /// The option before the next word, with whether it has a value of its own.
  private var lastOption: (flag: Flag, hasValue: Bool)?
  private var typed: [(name: FlagName, value: Argument, spelling: String)] = []

  /// Parses the command line. `-h` or `--help` anywhere asks for the command's help, and an empty command line is `-h`:
  /// the command is then `help` with the topic as its argument. For `--version`, `Invocation.has(.version)` is true.
  static func parse(_ words: [Argument], environment: [String: String]) throws(Failure) -> Invocation {
    var parser = Parser(words: words, environment: environment)
    return try parser.run()
  }

  private init(words: [Argument], environment: [String: String]) {
    self.words = words
    self.environment = environment
  }

  private mutating func run() throws(Failure) -> Invocation {
    while next < words.count {
      let word = words[next]
      next += 1
      let bytes = word.bytes
      if bytes == Array("--".utf8) {
        for word in words[next...] { try takeArgument(word, isFree: true) }
        next = words.count
      } else if bytes.starts(with: "--".utf8) {
        try takeLong(bytes.dropFirst(2))
      } else if bytes.first == UInt8(ascii: "-"), bytes.count > 1 {
        try takeShort(word.text.dropFirst())
      } else {
        try takeArgument(word)
      }
    }
    return try invocation()
  }

  /// `isFree`: the word follows `--`, so that it is an argument whatever it begins with.
  private mutating func takeArgument(_ word: Argument, isFree: Bool = false) throws(Failure) {
    if !isFree { try ParserError.checkDash(word) }
    defer { lastOption = nil }
    if let lastOption { optionBefore[word] = lastOption }
    guard command == nil else { return positionals.append(word) }
    guard let name = CommandName(rawValue: word.text) else {
      throw ParserError.noCommand(word, words[next...], switches: typed.filter { $0.value == "true" }.map(\.spelling))
    }
    command = name
  }

  private mutating func takeLong(_ body: ArraySlice<UInt8>) throws(Failure) {
    let parts = body.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(decoding: parts.first ?? [], as: UTF8.self)
    let value = parts.count == 2 ? Argument(bytes: Array(parts[1])) : nil
    // The word may be an option that help is asked about.
    if command == .help, FlagName(rawValue: name).map({ FlagList.find($0, for: .help)?.isOf(.help) != true }) ?? true {
      return positionals.append(Argument(name))
    }
    guard let flag = Self.flag(named: name, for: command) else {
      if name.begins(with: "no-"), value == nil, let flag = Self.flag(named: String(name.dropFirst(3)), for: command),
        flag.negatable
      {
        return typed.append((flag.name, "false", "--" + name))
      }
      throw ParserError.unknownOption(name, command)
    }
    try take(flag, value, spelling: flag.long)
  }

  private mutating func takeShort(_ letters: Substring) throws(Failure) {
    var rest = letters
    while let letter = rest.popFirst() {
      if command == .help, letter != "h" { return positionals.append(Argument("-" + letters)) }
      // As in `ls -lh`: alone it asks for help.
      let isOfSizes = letter == "h" && command == .ls && letters.utf8.count > 1
      guard let flag = isOfSizes ? FlagList.find(.humanReadable, for: command) : FlagList.find(short: letter) else {
        throw ParserError.unknownShort(letter, of: String(letters), command)
      }
      if flag.takesNextWord, !rest.isEmpty {
        return try take(flag, Argument(String(rest)), spelling: "-\(letter)")
      }
      try take(flag, nil, spelling: "-\(letter)")
    }
  }

  private mutating func take(_ flag: Flag, _ value: Argument?, spelling: String) throws(Failure) {
    lastOption = (flag, flag.takesNextWord || value != nil)
    if flag.takesNextWord {
      let value = if let value { value } else { try nextWord(for: flag, spelling) }
      typed.append((flag.name, value, spelling))
    } else if case .optional = flag.kind {
      typed.append((flag.name, value ?? "", spelling))
    } else if value != nil {
      let off = flag.negatable ? " To switch it off write --no-\(flag.name.rawValue)." : ""
      throw Failure(.usage, "\(spelling) takes no value", remedy: "Write \(spelling) alone.\(off)")
    } else {
      typed.append((flag.name, "true", spelling))
    }
  }

  /// The option's value. A word that begins with two dashes is the next option, and must not be swallowed as a value.
  private mutating func nextWord(for flag: Flag, _ spelling: String) throws(Failure) -> Argument {
    guard next < words.count, !words[next].bytes.starts(with: "--".utf8) else {
      let values = flag.choices.isEmpty || flag.open ? flag.metavar ?? "" : flag.choices.joined(separator: ", ")
      let swallowed = next < words.count ? "; one that begins with -- as \(flag.long)=VALUE" : ""
      throw Failure(
        .usage, "\(spelling) needs a value: \(values)",
        remedy: "Write the value after \(spelling)\(swallowed), or leave the option out.")
    }
    next += 1
    return words[next - 1]
  }

  static func flag(named name: String, for command: CommandName?) -> Flag? {
    guard let name = FlagName(rawValue: name) else { return nil }
    return FlagList.find(name, for: command) ?? FlagList.find(name, for: nil)
  }

  private func invocation() throws(Failure) -> Invocation {
    if words.isEmpty || typed.contains(where: { $0.name == .help || $0.name == .version }) { return helpInvocation() }
    guard let command else {
      throw Failure(.usage, "no command", remedy: "'s3up help' lists the commands; 's3up help put' explains one.")
    }
    var result = Invocation(command, .help)
    result.positionals = positionals
    result.optionBefore = optionBefore
    for (name, value, spelling) in typed {
      guard let flag = FlagList.find(name, for: command) else { throw ParserError.notFor(command, name) }
      if value.bytes.isEmpty, flag.takesNextWord {
        throw Failure(
          .usage, "\(spelling) has an empty value",
          remedy:
            "Write \(spelling) \(flag.metavar ?? "VALUE"), or leave the option out. Is a shell variable not set?")
      }
      result.add(name, value, .commandLine(spelling))
    }
    let isNamed = FlagEnvironment.isNamed(in: environment)
    for group in FlagList.groups {
      for index in group.indices {
        guard isNamed || !group[index].aws.isEmpty, group[index].isOf(command),
          !result.has(group[index].name)
        else { continue }
        try FlagEnvironment.add(group[index], from: environment, to: &result)
      }
    }
    try result.settle()
    return result
  }

  private func helpInvocation() -> Invocation {
    var result = Invocation(.help, .help)
    if command == .help {
      let isAsked = typed.contains { $0.name == .help }
      result.positionals = positionals.isEmpty && isAsked ? [Argument(CommandName.help.rawValue)] : positionals
    } else if let command {
      let action = positionals.prefix(command == .ticket ? 1 : 0).filter {
        TicketCommand.Action(rawValue: $0.text) != nil
      }
      result.positionals = [Argument(command.rawValue)] + action
    }
    for (name, value, spelling) in typed where name == .help || name == .version || name == .color || name == .man {
      result.add(name, value, .commandLine(spelling))
    }
    if words.isEmpty { result.add(.help, "true", .commandLine("-h")) }
    return result
  }
}
