/// All options of all commands, in the order of help.
enum FlagList {
  /// Accessed by index, here and in the parser: copying each of a hundred flags would cost more than the rest of the
  /// parsing.
  static let groups: [[Flag]] = [
    upload, target, list, selection, selectionOfGet, presign, ticket, transfer, resume, integrity, object, conditions,
    connection,
    credentials, state,
    output,
  ]

  static var all: [Flag] { groups.flatMap { $0 } }

  static func of(_ command: CommandName, _ action: TicketCommand.Action? = nil) -> [Flag] {
    all.filter { !$0.modes.isDisjoint(with: command.modes(action)) }
  }

  /// The option as the command defines it; without a command, the first with this name.
  static func find(_ name: FlagName, for command: CommandName?) -> Flag? {
    for group in groups {
      for index in group.indices where group[index].name == name {
        guard let command, !group[index].isOf(command) else { return group[index] }
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

  /// The commands that have an option of this name.
  static func commands(with name: FlagName) -> [CommandName] {
    CommandName.allCases.filter { find(name, for: $0) != nil }
  }
}
