/// The commands, in the order of help.
enum CommandName: String, Sendable, CaseIterable {
  case put, get, verify, ls, head, create, part, parts, complete, abort, uploads, presign, ticket, doctor, help
  case completions

  /// The modes of the command.
  var modes: ModeSet {
    switch self {
    case .put: .put
    case .get: .get
    case .verify: .verify
    case .ls: .ls
    case .head: .head
    case .create: .create
    case .part: .part
    case .parts: .parts
    case .complete: .complete
    case .abort: .abort
    case .uploads: .uploads
    case .presign: .presign
    case .ticket: .ticket
    case .doctor: .doctor
    case .help: .help
    case .completions: .completions
    }
  }

  /// How the command is written with its object or bucket.
  var form: String { form(of: "s3://BUCKET/KEY") }

  /// How the command is written with this object.
  func form(of object: String) -> String {
    switch self {
    case .put, .verify, .part: "s3up \(rawValue) FILE \(object)"
    case .ticket: "s3up ticket issue FILE \(object) -o TICKET"
    case .ls, .uploads: "s3up \(rawValue) s3://BUCKET/PREFIX/"
    case .doctor: "s3up doctor s3://BUCKET"
    case .get, .head, .create, .parts, .complete, .abort, .presign: "s3up \(rawValue) \(object)"
    case .help, .completions: "s3up \(rawValue)"
    }
  }

  /// The modes of one action of `ticket`, if it is given.
  func modes(_ action: TicketCommand.Action?) -> ModeSet { action?.modes ?? modes }
}
