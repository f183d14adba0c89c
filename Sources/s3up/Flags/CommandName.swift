/// The commands, in help's order.
enum CommandName: String, Sendable, CaseIterable {
  case put, create, part, parts, complete, abort, uploads, presign, ticket, doctor, help, completions
}

/// A set of commands, one bit each: about a hundred options have one, and all are created at each start.
struct CommandSet: Sendable, Equatable, ExpressibleByArrayLiteral {
  private var bits: UInt32 = 0

  init(_ commands: some Sequence<CommandName>) {
    for command in commands { bits |= Self.bit(command) }
  }

  init(arrayLiteral commands: CommandName...) { self.init(commands) }

  func contains(_ command: CommandName) -> Bool { bits & Self.bit(command) != 0 }

  func subtracting(_ other: CommandSet) -> CommandSet {
    var rest = self
    rest.bits &= ~other.bits
    return rest
  }

  private static func bit(_ command: CommandName) -> UInt32 {
    switch command {
    case .put: 1 << 0
    case .create: 1 << 1
    case .part: 1 << 2
    case .parts: 1 << 3
    case .complete: 1 << 4
    case .abort: 1 << 5
    case .uploads: 1 << 6
    case .presign: 1 << 7
    case .doctor: 1 << 8
    case .help: 1 << 9
    case .completions: 1 << 10
    case .ticket: 1 << 11
    }
  }

  static let all = CommandSet(CommandName.allCases)
  /// Commands that may send requests to a store.
  static let store: CommandSet = [
    .put, .create, .part, .parts, .complete, .abort, .uploads, .presign, .ticket, .doctor,
  ]
  /// Commands that accept a bucket or prefix instead of a key.
  static let ofPrefix: CommandSet = [.uploads, .doctor]
  /// Commands that retry and wait. `doctor` does not: it reports what is wrong now.
  static let patient = store.subtracting([.doctor])
  /// Commands that create an object, or the upload that becomes one.
  static let making: CommandSet = [.put, .create, .ticket]
}
