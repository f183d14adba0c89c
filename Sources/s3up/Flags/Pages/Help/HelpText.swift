import MultipartCore

/// The output of commands that need no store: `help`, `--help`, `--version`, `completions`.
enum HelpText {
  /// The output of `help`.
  static func answer(_ invocation: Invocation, width: Int, version: String, paint: Paint = .off) throws(Failure)
    -> String
  {
    if invocation.has(.version) { return "s3up \(version)\n" }
    if invocation.has(.man) { return ManPage.draw(.manual, version: version) }
    return TextPage.draw(try page(invocation), width: width, paint: paint)
  }

  /// Whether the full help is asked for, which may be longer than a screen.
  static func isLong(_ invocation: Invocation) -> Bool {
    !invocation.has(.version) && !invocation.has(.man) && !isShort(invocation)
  }

  /// Whether the short help is asked for: `-h` shows the options that most people need, `--help` all of them.
  private static func isShort(_ invocation: Invocation) -> Bool {
    invocation.last(.help)?.origin == .commandLine("-h")
  }

  private static func page(_ invocation: Invocation) throws(Failure) -> Page {
    let words = invocation.positionals.map(\.text)
    guard let first = words.first else { return isShort(invocation) ? .start : .overview }
    if let command = CommandName(rawValue: first) {
      let action = command == .ticket && words.count == 2 ? TicketCommand.Action(rawValue: words[1]) : nil
      if words.count == 1 || action != nil {
        return isShort(invocation) ? .few(command, action) : .of(command, action)
      }
    }
    if words.count == 1, let topic = HelpTopic(rawValue: first) { return .of(topic) }
    guard let found = HelpSearch(words).page else { throw ParserError.unknownTopic(words.joined(separator: " ")) }
    return found
  }

  /// The output of `completions`.
  static func completions(_ invocation: Invocation) throws(Failure) -> String {
    let shell = try invocation.arguments("SHELL")[0].text
    guard let choice = ShellChoice(rawValue: shell) else {
      throw Failure(
        .usage, "no completions for '\(shell)'",
        remedy: "Supported shells: \(ShellChoice.words.joined(separator: ", ")).")
    }
    return Completions.script(for: choice)
  }
}
