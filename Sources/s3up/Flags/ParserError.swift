import MultipartCore

/// Messages for words that the parser does not know.
enum ParserError {
  /// Commands of other tools.
  private static let otherTools = [
    "cp": "put", "copy": "put", "upload": "put", "send": "put", "ls": "uploads", "mpu": "create",
  ]

  static func unknownCommand(_ word: String) -> Failure {
    let near = Nearest.match(word, in: CommandName.words) ?? otherTools[word]
    let message = "unknown command '\(word)'" + (near.map { "; did you mean '\($0)'?" } ?? "")
    return Failure(.usage, message, remedy: "'s3up help' lists the commands.")
  }

  static func unknownOption(_ name: String, _ command: CommandName?) -> Failure {
    if let ours = OtherTools.long(name) {
      return Failure(.usage, "unknown option --\(name): \(ours.text)", remedy: helpHint(command))
    }
    let own = command.map { FlagList.of($0) } ?? []
    let near =
      Nearest.match(name, in: own.map(\.name.rawValue)) ?? Nearest.match(name, in: FlagList.all.map(\.name.rawValue))
    let message = "unknown option --\(name)" + (near.map { "; did you mean --\($0)?" } ?? "")
    return Failure(.usage, message, remedy: helpHint(command))
  }

  static func unknownShort(_ letter: Character, of letters: String, _ command: CommandName?) -> Failure {
    // `-region` is a long option with one dash too few.
    if letters.count > 1, let name = letters.words(between: "=").first.map(String.init),
      FlagName(rawValue: name) != nil
    {
      return Failure(.usage, "unknown option -\(letters); did you mean --\(name)?", remedy: helpHint(command))
    }
    let ours = OtherTools.short(letter).map { ": \($0.text)" } ?? ""
    return Failure(.usage, "unknown option -\(letter)\(ours)", remedy: helpHint(command))
  }

  static func notFor(_ command: CommandName, _ name: FlagName) -> Failure {
    let others = FlagList.commands(with: name).map { "'\($0.rawValue)'" }.joined(separator: ", ")
    return Failure(
      .usage, "--\(name.rawValue) is not an option of '\(command.rawValue)'; it belongs to \(others)",
      remedy: helpHint(command))
  }

  private static func helpHint(_ command: CommandName?) -> String {
    command.map { "'s3up help \($0.rawValue)' lists its options." } ?? "'s3up help' lists the commands."
  }
}
