import MultipartCore

/// Commands that need no store: `help`, `--help`, `--version`, `completions`.
enum HelpText {
  /// For an invocation whose command is `help`.
  static func answer(_ invocation: Invocation, width: Int, version: String, paint: Paint = .off) throws(Failure)
    -> String
  {
    if invocation.has(.version) { return "s3up \(version)\n" }
    if invocation.has(.man) { return ManPage.draw(.manual, version: version) }
    guard let topic = invocation.positionals.first else { return TextPage.draw(.overview, width: width, paint: paint) }
    _ = try invocation.arguments("COMMAND")
    guard let command = CommandName(rawValue: topic.text) else { throw ParserError.unknownCommand(topic.text) }
    return TextPage.draw(.of(command), width: width, paint: paint)
  }

  /// For an invocation whose command is `completions`.
  static func completions(_ invocation: Invocation) throws(Failure) -> String {
    let shell = try invocation.arguments("SHELL")[0].text
    guard let choice = ShellChoice(rawValue: shell) else {
      throw Failure(
        .usage, "no completions for '\(shell)'",
        remedy: "There are some for \(ShellChoice.words.joined(separator: ", ")).")
    }
    return Completions.script(for: choice)
  }
}
