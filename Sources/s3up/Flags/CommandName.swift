/// The commands, in help's order.
enum CommandName: String, Sendable, CaseIterable {
  case put, get, create, part, parts, complete, abort, uploads, presign, ticket, doctor, help, completions

  /// What it can be asked to do.
  var modes: ModeSet {
    switch self {
    case .put: .put
    case .get: .get
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
}
