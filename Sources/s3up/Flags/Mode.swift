import MultipartCore

/// What a command does. An option is defined for modes; in another mode of its command it is refused.
enum Mode: UInt32, Sendable, CaseIterable {
  case putOne, putMany, putByTicket, putByTickets
  case create, partSigned, partByURL, parts, complete, abort, uploads, presign
  case issueOne, issueMany, showTicket, renewTicket, finishTicket, revokeTicket
  case getOne, getMany, getURL, ls, head, verifyOne, verifyMany
  case doctor, help, completions

  /// The mode in an error message, such as `--recursive is not for `…
  var title: String {
    switch self {
    case .putOne: "an upload of one file or stream"
    case .putMany: "a run of many files"
    case .putByTicket: "an upload by the ticket of one file"
    case .putByTickets: "a folder that is uploaded by its tickets"
    case .create: "create"
    case .partSigned: "a part that is sent with credentials"
    case .partByURL: "a part that is sent to a presigned URL"
    case .parts: "parts"
    case .complete: "complete"
    case .abort: "abort"
    case .uploads: "uploads"
    case .presign: "presign"
    case .issueOne: "the ticket of one file"
    case .issueMany: "the tickets of many files"
    case .showTicket: "ticket show"
    case .renewTicket: "ticket renew"
    case .finishTicket: "ticket finish"
    case .revokeTicket: "ticket revoke"
    case .getOne: "a download of one object"
    case .getMany: "a run of many objects"
    case .getURL: "a download from a URL"
    case .verifyOne: "the comparison of one file"
    case .verifyMany: "the comparison of many files"
    case .ls: "ls"
    case .head: "head"
    case .doctor: "doctor"
    case .help: "help"
    case .completions: "completions"
    }
  }

  /// What to do instead of giving an option that is valid only in `others`.
  func remedy(_ others: ModeSet) -> String {
    switch self {
    case .putOne where others.contains(.byTicket): "Leave it out, or name a ticket with --ticket."
    case .putMany where others.contains(.one): "Leave it out, or upload the file by itself."
    case .getMany where others.contains(.getOne): "Leave it out, or get the object by itself."
    case .verifyMany where others.contains(.verifyOne): "Leave it out, or verify the file by itself."
    case .putByTickets where others.contains(.byTicket): "Leave it out: it is for the ticket of one file."
    case .putByTicket where others.contains(.byTickets) && !others.contains(.one):
      "Leave it out, or name the folder instead of the file."
    case .putByTicket where others.contains(.one), .putByTickets where others.contains(.one):
      "What the object is like, and how it is reached, was settled when the ticket was issued."
    case .getURL: "A URL says itself where its object is."
    case .partByURL: "A presigned URL names its upload and part."
    case .issueMany where others.contains(.issueOne): "Leave it out, or issue the tickets one by one."
    default: "Leave it out: it is for " + others.titles.joined(separator: ", ") + "."
    }
  }

  /// In a batch: the mode for a single file. Options that state what the single file must be are refused even if a
  /// variable sets them, because nothing would check them. All other variables that are not for the mode are ignored.
  var ofOne: ModeSet {
    switch self {
    case .putMany: .one
    case .getMany: .getOne
    case .verifyMany: .verifyOne
    case .putByTickets: .byTicket
    case .issueMany: .issueOne
    default: []
    }
  }
}

/// A set of modes, one bit each, because about a hundred options have one and all are created at each start.
struct ModeSet: OptionSet, Sendable {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }
  init(_ mode: Mode) { rawValue = 1 << mode.rawValue }

  func contains(_ mode: Mode) -> Bool { contains(ModeSet(mode)) }

  var titles: [String] { Mode.allCases.filter(contains).map(\.title) }
  var commands: [CommandName] { CommandName.allCases.filter { !isDisjoint(with: $0.modes) } }

  static let one = ModeSet(.putOne)
  static let many = ModeSet(.putMany)
  static let byTicket = ModeSet(.putByTicket)
  static let byTickets = ModeSet(.putByTickets)
  /// `put` with credentials, to destinations that the user names.
  static let files: ModeSet = [.one, .many]
  static let put: ModeSet = [.files, .byTicket, .byTickets]
  static let create = ModeSet(.create)
  static let partSigned = ModeSet(.partSigned)
  static let part: ModeSet = [.partSigned, ModeSet(.partByURL)]
  static let parts = ModeSet(.parts)
  static let complete = ModeSet(.complete)
  static let abort = ModeSet(.abort)
  static let uploads = ModeSet(.uploads)
  static let presign = ModeSet(.presign)
  static let issueOne = ModeSet(.issueOne)
  static let issueMany = ModeSet(.issueMany)
  static let issue: ModeSet = [.issueOne, .issueMany]
  static let renew = ModeSet(.renewTicket)
  static let finish = ModeSet(.finishTicket)
  static let revoke = ModeSet(.revokeTicket)
  static let ticket: ModeSet = [.issue, ModeSet(.showTicket), .renew, .finish, .revoke]
  /// A download by bucket and key.
  static let getObject = ModeSet(.getOne)
  static let getURL = ModeSet(.getURL)
  static let getOne: ModeSet = [.getObject, .getURL]
  static let getMany = ModeSet(.getMany)
  static let get: ModeSet = [.getOne, .getMany]
  static let verifyOne = ModeSet(.verifyOne)
  static let verifyMany = ModeSet(.verifyMany)
  static let verify: ModeSet = [.verifyOne, .verifyMany]
  static let ls = ModeSet(.ls)
  static let head = ModeSet(.head)
  static let doctor = ModeSet(.doctor)
  static let help = ModeSet(.help)
  static let completions = ModeSet(.completions)

  /// Modes that may send requests to a store.
  static let store: ModeSet = [
    .put, .create, .part, .parts, .complete, .abort, .uploads, .presign, .ticket, .get, .verify, .ls, .head, .doctor,
  ]
  static let all: ModeSet = [.store, .help, .completions]
  /// Modes that need the store's address and credentials; a ticket or a URL contains the address, and its requests are
  /// signed.
  static let signed = store.subtracting([.byTicket, .byTickets, .getURL])
  /// Modes that retry and wait. `doctor` does not: it reports what is wrong now.
  static let patient = store.subtracting(.doctor)
  /// Modes in which the object's properties can be given: they create it, or its upload, or check it at the end.
  static let stating: ModeSet = [.files, .create, .issue, .complete]
  /// Modes that accept a bucket or prefix instead of a key.
  static let ofPrefix: ModeSet = [.ls, .uploads, .doctor, .many, .issueMany, .getMany, .verifyMany]
}

extension CommandName {
  /// The mode of the command, determined by its arguments and options.
  func mode(of invocation: Invocation) throws(Failure) -> Mode {
    switch self {
    case .put:
      if invocation.has(.ticket) {
        let isFolder = invocation.isOneFolder && invocation.toggle(.fromCommand) != true
        return isFolder ? .putByTickets : .putByTicket
      }
      if invocation.toggle(.fromCommand) == true { return .putOne }
      return invocation.isOfMany(.many, .one) ? .putMany : .putOne
    case .create: return .create
    case .part: return invocation.has(.url) ? .partByURL : .partSigned
    case .parts: return .parts
    case .complete: return .complete
    case .abort: return .abort
    case .uploads: return .uploads
    case .presign: return .presign
    case .ticket:
      switch try TicketCommand.Action(invocation) {
      case .issue: return invocation.isOfMany(.issueMany, .issueOne) ? .issueMany : .issueOne
      case .show: return .showTicket
      case .renew: return .renewTicket
      case .finish: return .finishTicket
      case .revoke: return .revokeTicket
      }
    case .get where invocation.positionals.first.map(S3URL.isWeb) == true: return .getURL
    case .get:
      // The words after the object are the command.
      guard invocation.toggle(.toCommand) != true else { return .getOne }
      let isOfMany = invocation.isOfMany(.getMany, .getOne) || invocation.positionals.count(where: S3URL.looksLike) > 1
      return isOfMany ? .getMany : .getOne
    case .verify: return invocation.isOfMany(.verifyMany, .verifyOne) ? .verifyMany : .verifyOne
    case .ls: return .ls
    case .head: return .head
    case .doctor: return .doctor
    case .help: return .help
    case .completions: return .completions
    }
  }
}
