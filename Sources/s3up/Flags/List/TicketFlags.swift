import MultipartCore

extension FlagList {
  static let ticket: [Flag] = [
    Flag(
      .ticket, .value("FILE|-|URL"), .ticket, [.byTicket, .byTickets], "Upload by this ticket, without credentials.",
      more: """
        A file that s3up ticket issue wrote, - for standard input, or an https:// URL of one. Nothing is read of AWS's \
        files and variables for credentials. The same command resumes the upload: the store's list of parts tells what is \
        missing. A ticket is a secret while it is valid; S3UP_TICKET keeps a URL of one out of the process list.
        """, completes: .files),
    Flag(
      .parts, .value("A-B"), .ticket, .byTicket, "With --ticket: send only these parts.",
      more: """
        Whichever run finds all parts at the store completes the upload; --shard gives equal shares. Not for a ticket with \
        --max-size: nobody would know which part is the last.
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
      "Where the ticket is written, readable by you alone.",
      more: "With issue it must not exist. With renew the ticket itself is replaced unless another name is given.",
      completes: .files, common: [.issue, .renew]),
    Flag(
      .format, .value("FORM"), .ticket, [.issue, .renew], "What is written: json, sh or html.",
      more: """
        json is for s3up put --ticket. sh is a script that uploads the file with sh, dd and curl alone; html is a page with \
        which a person uploads it in a browser. Each contains the ticket: show, renew, finish and revoke read all of them. \
        renew keeps the form unless another one and -o are given.
        """, standard: "json", choices: TicketForm.words, common: [.issue, .renew]),
    Flag(
      .setCORS, .toggle, .ticket, [.issue, .renew], "With --format html: let pages upload to this bucket.",
      more: "Adds one rule to the bucket's CORS rules, after showing it. Requests still need the ticket's signatures."),
    Flag(
      .all, .toggle, .ticket, .renew, "With renew: sign all parts, not only those that are missing.",
      negatable: true),
    Flag(
      .trustEdited, .toggle, .ticket, .renew, "With renew: sign what the ticket says, whoever may have edited it.",
      more: """
        Only for a ticket that this machine did not issue: nothing here shows that its holder has not given it more rights. \
        All that is signed is printed before. Read it. A ticket that was issued here and edited since is refused in any case.
        """),
    Flag(
      .asItIs, .toggle, .ticket, .finish, "With finish: publish what is there of a ticket with --max-size.",
      more: """
        Only the run that has read a stream to its end knows that it is whole, and completes it. This makes an object of the \
        parts that are at the store, however many they are, but never of more than --max-size.
        """),
  ]
}
