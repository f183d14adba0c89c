/// All options of all commands, in the order in which help shows them.
enum FlagList {
  /// Looked through by place, here and by the parser: to copy each of a hundred costs more than all else that it does.
  static let groups: [[Flag]] = [
    upload, presign, transfer, resume, integrity, object, conditions, connection, credentials, state, output,
  ]

  static var all: [Flag] { groups.flatMap { $0 } }

  static func of(_ command: CommandName) -> [Flag] {
    all.filter { $0.commands.contains(command) }
  }

  /// The option as the command knows it; without a command as the first does that has it.
  static func find(_ name: FlagName, for command: CommandName?) -> Flag? {
    for group in groups {
      for index in group.indices where group[index].name == name {
        guard let command, !group[index].commands.contains(command) else { return group[index] }
      }
    }
    return nil
  }

  static func find(short letter: Character) -> Flag? {
    for group in groups {
      for index in group.indices where group[index].short == letter { return group[index] }
    }
    return nil
  }

  /// The options by which a machine's way to a store is named; they hold for every command that speaks to one.
  static func commands(with name: FlagName) -> [CommandName] {
    CommandName.allCases.filter { find(name, for: $0) != nil }
  }
}
