import MultipartBasics
import MultipartCore

extension TicketCommand {
  enum Action: String, CaseIterable {
    case issue, show, renew, finish, revoke

    var modes: ModeSet {
      switch self {
      case .issue: .issue
      case .show: ModeSet(.showTicket)
      case .renew: .renew
      case .finish: .finish
      case .revoke: ModeSet(.revokeTicket)
      }
    }

    /// How the action is written, with the words that were typed.
    func advice(_ words: [Argument]) -> String {
      guard self == .issue else {
        return "Write s3up ticket \(rawValue) TICKET, with the file that s3up ticket issue wrote."
      }
      let url = words.first(where: S3URL.looksLike).map { ShellWord.quoted($0.text) }
      return "Write \(url.map(CommandName.ticket.form(of:)) ?? CommandName.ticket.form)."
    }

    /// Reads the action, which is the first argument.
    init(_ invocation: Invocation) throws(Failure) {
      let usage = "Write s3up ticket \(Self.words.joined(separator: "|"))."
      guard let word = invocation.positionals.first else {
        throw Failure(.usage, "ticket: the action is missing", remedy: usage)
      }
      guard let action = Action(rawValue: word.text) else {
        // Nearest knows spellings, and the table other tools' words.
        let near = OtherTools.ticketAction(word.text) ?? Nearest.match(word.text, in: Self.words)
        let isSource = S3URL.looksLike(word) || invocation.isFile(word)
        throw Failure(
          .usage,
          "ticket: '\(word.text)' is not one of its actions"
            + (near.map { "; did you mean \($0)?" } ?? ""),
          remedy: near.flatMap { Action(rawValue: $0) }?.advice(invocation.positionals)
            ?? (isSource ? "To make a ticket, w" + Action.issue.advice([word]).dropFirst() : usage))
      }
      self = action
    }
  }
}
