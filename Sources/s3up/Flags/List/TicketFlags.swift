import MultipartCore

extension FlagList {
  static let ticket: [Flag] = [
    Flag(
      .ticket, .value("FILE|-|URL"), .ticket, [.byTicket, .byTickets], "Upload by this ticket, without credentials.",
      more: """
        A file that s3up ticket issue wrote, - for standard input, or an https:// URL of one. No credentials are read \
        from AWS's files and variables. The same command resumes the upload: the store's list of parts shows what is \
        missing. A ticket is a secret while it is valid; S3UP_TICKET keeps its URL out of the process list.
        """, names: .input),
    Flag(
      .parts, .value("A-B"), .ticket, .byTicket, "With --ticket: send only these parts.",
      more: """
        Whichever run finds all parts at the store completes the upload; --shard gives equal shares. Not for a ticket \
        with --max-size: no run would know which part is the last.
        """),
    Flag(
      .size, .value("SIZE"), .ticket, .issueOne, "With issue: the size of a file that is not here.",
      common: .issueOne),
    Flag(
      .maxSize, .value("SIZE"), .ticket, .issueOne, "With issue: for a stream or file of at most this size.",
      common: .issueOne),
    Flag(
      .expires, .value("DURATION"), .ticket, [.issue, .renew], "How long the ticket is valid: 1s to 7d.",
      more: "It expires earlier if the credentials that sign it do.", standard: "24h", common: [.issue, .renew]),
    Flag(
      .output, short: "o", .value("FILE|-"), .ticket, [.issue, .renew],
      "File for the ticket, readable only by you.",
      more: "With issue it must not exist. With renew the ticket itself is replaced unless another name is given.",
      names: .output, common: [.issue, .renew]),
    Flag(
      .format, .value("FORM"), .ticket, [.issue, .renew], "Form of the ticket: json, sh or html.",
      more: """
        json is for s3up put --ticket. sh is a script that uploads the file using only sh, dd and curl; html is a \
        page for uploading it in a browser. Each contains the ticket: show, renew, finish and revoke read all of \
        them. Without this option the ending of the name given by -o decides: .sh or .html, else json; renew keeps \
        the form unless that says another.
        """, choices: TicketForm.words, common: [.issue, .renew]),
    Flag(
      .setCORS, .toggle, .ticket, [.issue, .renew], "With --format html: let pages upload to this bucket.",
      more: "Adds one rule to the bucket's CORS rules, after showing it. Requests still need the ticket's signatures."),
    Flag(
      .all, .toggle, .ticket, .renew, "With renew: sign all parts, not only the missing ones.",
      negatable: true),
    Flag(
      .trustEdited, .toggle, .ticket, [.renew, .finish, .revoke],
      "Sign for the ticket although someone may have edited it.",
      more: """
        Only for a ticket that this machine did not issue: nothing here proves that its holder has not added rights \
        to it, or named another upload. renew first prints everything that it will sign: read it. finish and revoke \
        sign only once the ticket has expired. A ticket that was issued here and has been edited is always refused.
        """),
    Flag(
      .asItIs, .toggle, .ticket, .finish, "With finish: publish what has arrived for a ticket with --max-size.",
      more: """
        Only the run that has read a stream to its end knows that it is whole, and completes it. This creates an \
        object from the parts that the store has, however many they are, but never from more than --max-size.
        """),
  ]
}
