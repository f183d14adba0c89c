/// What help and the man page say about one command, apart from its options.
struct CommandPage: Sendable {
  struct Example: Sendable {
    let what: String
    let line: String
  }

  struct Item: Sendable {
    let term: String
    let doc: String
  }

  let name: CommandName
  /// One line, for the overview.
  let summary: String
  let synopses: [String]
  let examples: [Example]
  let about: [String]
  let arguments: [Item]

  static func of(_ name: CommandName) -> CommandPage {
    switch name {
    case .put: put
    case .get: get
    case .create: create
    case .part: part
    case .parts: parts
    case .complete: complete
    case .abort: abort
    case .uploads: uploads
    case .presign: presign
    case .ticket: ticket
    case .doctor: doctor
    case .help: help
    case .completions: completions
    }
  }

  static let object = Item(
    term: "s3://BUCKET/KEY", doc: "The object. The key is used as it is, without escapes or normalisation.")
}
