/// All options of all commands, in the order in which help shows them.
enum FlagList {
  static let all: [Flag] = [
    upload, presign, transfer, resume, integrity, object, conditions, connection, credentials, state, output,
  ].flatMap { $0 }

  static func of(_ command: CommandName) -> [Flag] {
    all.filter { $0.commands.contains(command) }
  }

  /// The option as the command knows it.
  static func find(_ name: FlagName, for command: CommandName) -> Flag? {
    first { $0.name == name && $0.commands.contains(command) }
  }

  static func first(where isMeant: (borrowing Flag) -> Bool) -> Flag? {
    all.indices.first { isMeant(all[$0]) }.map { all[$0] }
  }

  /// The options by which a machine's way to a store is named; they hold for every command that speaks to one.
  static func commands(with name: FlagName) -> [CommandName] {
    CommandName.allCases.filter { find(name, for: $0) != nil }
  }
}
