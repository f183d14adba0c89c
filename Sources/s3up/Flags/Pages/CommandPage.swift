import MultipartBasics
import MultipartCore

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
  private(set) var synopses: [String]
  private(set) var examples: [Example]
  let about: [String]
  let arguments: [Item]
  private var action: TicketCommand.Action?

  init(
    name: CommandName, summary: String, synopses: [String], examples: [Example], about: [String], arguments: [Item]
  ) {
    (self.name, self.summary, self.synopses, self.examples) = (name, summary, synopses, examples)
    (self.about, self.arguments) = (about, arguments)
  }

  static func of(_ name: CommandName) -> CommandPage {
    switch name {
    case .put: put
    case .get: get
    case .verify: verify
    case .ls: ls
    case .head: head
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

  /// The title, such as `put` or `ticket issue`.
  var title: String { name.rawValue + (action.map { " " + $0.rawValue } ?? "") }

  /// The page reduced to one action of `ticket`.
  func only(_ action: TicketCommand.Action?) -> CommandPage {
    guard let action else { return self }
    var page = self
    page.action = action
    // `ticket show|finish|revoke` is the synopsis of three actions.
    page.synopses = synopses.filter { $0.pieces(at: " |").contains(Substring(action.rawValue)) }
    page.examples = examples.filter { $0.line.words(between: " ").contains(Substring(action.rawValue)) }
    return page
  }

  static let object = Item(
    term: "s3://BUCKET/KEY", doc: "The object. The key is used as it is, without escapes or normalisation.")
}
