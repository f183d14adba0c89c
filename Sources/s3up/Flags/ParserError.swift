import MultipartBasics
import MultipartCore

/// Messages for words that the parser does not know.
enum ParserError {
  static func unknownCommand(_ word: String, _ rest: ArraySlice<Argument> = []) -> Failure {
    if let way = OtherTools.command(word, rest) {
      return Failure(.usage, "there is no command '\(word)'", remedy: way + ".")
    }
    let near = Nearest.match(word, in: CommandName.words)
    let message = "unknown command '\(word)'" + (near.map { "; did you mean '\($0)'?" } ?? "")
    return Failure(.usage, message, remedy: "'s3up help' lists the commands.")
  }

  /// The failure for a first word that is not a command, together with the switches before it and the words that follow:
  /// `s3up FILE s3://BUCKET/KEY`.
  static func noCommand(_ word: Argument, _ rest: ArraySlice<Argument>, switches: [String]) -> Failure {
    let isURL: (Argument) -> Bool = { $0.text.lowercased().begins(with: "s3://") }
    let shown: (Argument) -> String = { ShellWord.quoted($0.text) }
    if isURL(word) {
      return Failure(
        .usage, "there is no command before \(shown(word))",
        remedy: "s3up get \(shown(word)) downloads it; s3up put FILE \(shown(word)) uploads a file to it.")
    }
    let isFile = word.bytes.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "/") } || word.text == "-"
    guard let target = rest.firstIndex(where: isURL), OtherTools.command(word.text) == nil,
      isFile || Nearest.match(word.text, in: CommandName.words) == nil
    else { return unknownCommand(word.text, rest) }
    // Values of options may be secret, so that a line with any of them is not repeated.
    let between = rest[..<target]
    let files = between.contains { $0.text.begins(with: "-") } ? ["…"] : between.map(shown)
    let line = ["s3up", "put"] + switches + [shown(word)] + files + [shown(rest[target])]
    return Failure(
      .usage, "there is no command before \(shown(word))", remedy: line.joined(separator: " "))
  }

  /// Refuses an option whose hyphens a text editor or a web page has replaced by a dash.
  static func checkDash(_ word: Argument) throws(Failure) {
    let dashes = ["\u{2014}", "\u{2013}", "\u{2012}", "\u{2010}", "\u{2011}", "\u{2212}"]
    guard let dash = dashes.first(where: word.text.begins) else { return }
    var name = word.text[...]
    while let rest = (dashes + ["-"]).lazy.compactMap({ name.rest(after: $0) }).first { name = rest }
    guard FlagName(rawValue: String(name.upTo("="))) != nil else { return }
    throw Failure(
      .usage, "unknown option \(word.text.upTo("=")): it begins with a dash (\(dash)), not with two hyphens",
      remedy: "Write --\(name.upTo("=")).")
  }

  /// The failure for `s3up help WORD` without any match.
  static func unknownTopic(_ words: String) -> Failure {
    let near = Nearest.match(words, in: CommandName.words + HelpTopic.words + FlagName.allCases.map(\.rawValue))
    let message = "no command, topic or option mentions '\(words)'" + (near.map { "; did you mean '\($0)'?" } ?? "")
    return Failure(
      .usage, message,
      remedy: "'s3up help' lists the commands; the topics are \(HelpTopic.words.joined(separator: ", ")).")
  }

  static func unknownOption(_ name: String, _ command: CommandName?) -> Failure {
    if let ours = OtherTools.long(name, for: command) {
      return Failure(.usage, "unknown option --\(name): \(ours.text(for: command))", remedy: helpHint(command))
    }
    if command == nil, CommandName(rawValue: name) != nil {
      return Failure(
        .usage, "unknown option --\(name): it is a command", remedy: "Write s3up \(name), without hyphens.")
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
    // `-big.iso` is a file.
    if letters.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "/") }) {
      return Failure(
        .usage, "unknown option -\(letter)",
        remedy: "A file whose name begins with a hyphen is written \(ShellWord.quoted("./-" + letters)).")
    }
    let ours = OtherTools.short(letter).map { ": \($0.text(for: command))" } ?? ""
    return Failure(.usage, "unknown option -\(letter)\(ours)", remedy: helpHint(command))
  }

  static func notFor(_ command: CommandName, _ name: FlagName) -> Failure {
    let movesFiles = command == .get || ModeSet.files.commands.contains(command)
    if movesFiles, let ours = OtherTools.long(name.rawValue, for: command) {
      let message = "\(name.long) is not an option of '\(command.rawValue)': \(ours.text(for: command))"
      return Failure(.usage, message, remedy: helpHint(command))
    }
    let others = FlagList.commands(with: name).map { "'\($0.rawValue)'" }.joined(separator: ", ")
    return Failure(
      .usage, "\(name.long) is not an option of '\(command.rawValue)'; it belongs to \(others)",
      remedy: helpHint(command))
  }

  private static func helpHint(_ command: CommandName?) -> String {
    command.map { "'s3up help \($0.rawValue)' lists its options." } ?? "'s3up help' lists the commands."
  }
}
