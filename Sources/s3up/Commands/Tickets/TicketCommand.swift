import MultipartBasics
import MultipartCore

/// `s3up ticket issue|show|renew|finish|revoke`
struct TicketCommand {
  private let session: Session
  private let options: TicketOptions

  init(_ session: Session) throws(Failure) {
    self.session = session
    options = try TicketOptions(session.invocation)
  }

  func run() async throws(Failure) -> ExitStatus {
    switch session.invocation.mode {
    case .issueMany: try await issueMany()
    case .showTicket: return try await each(show)
    case .renewTicket: return try await renew()
    case .finishTicket: return try await each(finish)
    case .revokeTicket: return try await each(revoke)
    default: try await issue()
    }
    return .success
  }

  // MARK: - With the issuer's credentials

  private func issue() async throws(Failure) {
    if options.length != nil, session.invocation.positionals.count == 3 {
      throw Failure(
        .usage, "ticket issue: --size and --max-size are for a file that is not here",
        remedy: "Leave the option out, or leave out '\(session.invocation.positionals[1].text)'.")
    }
    let words =
      options.length == nil
      ? try session.invocation.arguments("issue", "FILE", "s3://BUCKET/KEY")
      : try session.invocation.arguments("issue", "s3://BUCKET/KEY")
    let file = options.length == nil ? words[1] : nil
    if file != nil { try session.invocation.checkOrder(Array(words.dropFirst())) }
    var url = try S3URL(words[words.count - 1], for: .ticket)
    if let file, FilePath(bytes: file.bytes).isFolder { throw ManySources.folder(file, "ticket issue", url) }
    url = if let file { try url.destination(for: file, session.invocation.oddNames) } else { try url.unnamed("a size") }
    let sheet = try TicketSheet(try output(), replaces: false, options.form ?? .json)
    let uploadOptions = session.options.upload
    // Checked before an upload is begun.
    if options.form == .sh, let size = uploadOptions.partSize { _ = try TicketScript.block(size) }
    let store = try await session.store(url.bucket)
    if options.form == .html { try await allowPages(store) }
    let key = url.key ?? ""
    // As for `create`.
    let ticket = try await session.beginning(in: url.bucket, key: key) { [options] () async throws(Failure) in
      if let length = options.length {
        try await store.issueTicket(of: length, to: key, for: options.lifetime, uploadOptions)
      } else {
        try await store.issueTicket(
          .file(FilePath(bytes: file?.bytes ?? [])), to: key, for: options.lifetime, uploadOptions)
      }
    }
    let upload = try store.multipartUpload(key, uploadID: ticket.uploadID)
    do throws(Failure) {
      if session.signals.received != nil { throw .interrupted }
      try sheet.append(ticket)
      try sheet.publish()
    } catch {
      throw await upload.takenBack(error)
    }
    warn(ticket.expires, store)
    try tell("issued", ticket, sheet)
  }

  /// Checks the bucket's CORS rules: a browser asks the bucket whether the page may use it.
  private func allowPages(_ store: Store) async throws(Failure) {
    let access: BrowserAccess
    do throws(Failure) {
      access = try await BrowserAccess(store, onlyLooks: !options.setsCORS)
    } catch {
      guard !options.setsCORS else { throw error }
      session.world.log(
        0,
        "the bucket's CORS rules cannot be read (\(error.message)): pages can upload to it if they have this rule: \(BrowserAccess.text)"
      )
      return
    }
    guard !access.isGiven else { return }
    guard options.setsCORS else {
      return session.world.log(
        0,
        "the bucket's CORS rules do not let a page upload to it: --set-cors adds this rule: \(BrowserAccess.text)")
    }
    session.world.log(0, "adding a CORS rule to the bucket: \(BrowserAccess.text)")
    try await access.give()
  }

  /// Issues tickets for many files, one on each line.
  private func issueMany() async throws(Failure) {
    var invocation = session.invocation
    invocation.positionals.removeFirst()
    if let format = options.format, format != .json {
      throw Failure(
        .usage, "--format \(format.rawValue) is for the ticket of one file",
        remedy: "Leave it out, or issue them one by one.")
    }
    let sources = try ManySources(invocation)
    guard let bucket = sources.target?.bucket else {
      throw Failure(.usage, "the batch is empty: there is nothing to issue")
    }
    let sheet = try TicketSheet(try output(), replaces: false, .json)
    let list = try sources.inputs(try SelectionOptions(invocation, environment: session.environment))
    let store = try await session.store(bucket)
    let made = try await session.beginning(in: bucket) { [session, options] () async throws(Failure) in
      try await store.issueTickets(
        list, for: options.lifetime, session.options.upload, onSkip: { skipped in session.tell(skipped) },
        write: { (ticket) throws(Failure) in try sheet.append(ticket) }, publish: sheet.publish)
    }
    guard let expires = made.expires else { throw Failure(.sourceMissing, "there are no files to issue tickets for") }
    warn(expires, store)
    guard !sheet.isStandardOutput else { return }
    try session.say(
      "issued \(SafeText.oneLine(sheet.name)) for \(Human.count(made.count, "file")) in s3://\(bucket) "
        + "(\(Human.size(made.bytes)), until \(expires.iso8601))",
      json: JSON.object([
        ("event", .string("issued")), ("ticket", .string(sheet.name)), ("bucket", .string(bucket)),
        ("files", .int(Int64(made.count))), ("bytes", .int(made.bytes)), ("expires", .string(expires.iso8601)),
      ]).encoded)
  }

  private func output() throws(Failure) -> Argument {
    guard let output = options.output else {
      throw Failure(
        .usage, "ticket issue: -o is missing", remedy: "Name the file that the ticket is written to: -o ticket.json")
    }
    return output
  }

  /// The argument that names the ticket's file.
  private func paper() throws(Failure) -> Argument {
    let invocation = session.invocation
    let word = try invocation.arguments("ACTION", "TICKET")[1]
    guard S3URL.looksLike(word) else { return word }
    throw Failure(
      .usage, "'\(word.text)' is an object, not the file of a ticket",
      remedy: try Action(invocation).advice(invocation.positionals))
  }

  /// Renews every ticket of the file. One of several that cannot be renewed stays in it as it is.
  private func renew() async throws(Failure) -> ExitStatus {
    let word = try paper()
    let tickets = try TicketLines(TicketPaper.path(word))
    let format = options.form ?? tickets.form
    if format != tickets.form, options.output == nil {
      throw Failure(
        .usage, "ticket renew: -o is missing", remedy: "Name the file to write: the ticket itself stays as it is.")
    }
    let sheet = try TicketSheet(options.output ?? word, replaces: options.output == nil, format)
    var (store, count) = (try await session.store(tickets.first.bucket), 0)
    var (renewed, failures) = ([Timestamp](), ToldFailures(session))
    var last = tickets.first
    if format == .html { try await allowPages(store) }
    while let ticket = try tickets.next() {
      if count > 0, format != .json {
        throw Failure(
          .usage, "--format \(format.rawValue) is for one ticket, and \(word.text) holds several",
          remedy: "Leave it out, or renew them one by one.")
      }
      count += 1
      do throws(Failure) {
        if ticket.bucket != store.bucket { store = try await session.store(ticket.bucket) }
        if try store.standing(of: ticket) == .unknown {
          session.console.line("renewing this ticket gives its holder these rights:")
          let end = Timestamp(seconds: session.world.now().seconds + options.lifetime.components.seconds)
          for line in ticket.rights(until: end) { session.console.line("  " + line) }
        }
        last = try await store.renewTicket(
          ticket, for: options.lifetime, all: options.all, trustingEdited: options.trustsEdited)
        renewed.append(last.expires)
      } catch {
        // What concerns all of them ends the run, and none is written.
        let concernsAll: Set<Failure.Code> = [.credentials, .credentialsExpired, .network, .tls, .stalled]
        guard !error.isInterruption, !concernsAll.contains(error.code) else { throw error }
        failures.add(error)
        guard !sheet.isStandardOutput else { continue }
        last = ticket
      }
      try sheet.append(last)
    }
    guard let end = renewed.min() else { return try failures.status() }
    try sheet.publish()
    warn(end, store)
    if failures.count > 0 { session.console.line("s3up: \(failures.count) of \(count) tickets were not renewed") }
    guard count > 1 else {
      try tell("renewed", last, sheet)
      return .success
    }
    guard !sheet.isStandardOutput else { return try failures.status() }
    let line = "renewed \(SafeText.oneLine(sheet.name)): \(renewed.count) tickets, until \(end.iso8601)"
    let json = JSON.object([
      ("event", .string("renewed")), ("ticket", .string(sheet.name)), ("files", .int(Int64(renewed.count))),
      ("expires", .string(end.iso8601)),
    ]).encoded
    failures.say { () throws(Failure) in try session.say(line, json: json) }
    return try failures.status()
  }

  /// Warns if the credentials end before the ticket should.
  private func warn(_ end: Timestamp, _ store: Store) {
    let wanted = store.now.seconds + options.lifetime.components.seconds
    // A minute of tolerance, because signing the requests takes a while.
    guard end.seconds < wanted - 60 else { return }
    session.world.log(
      0,
      "the ticket expires with the credentials that sign it, at \(end.iso8601); long-lived keys, or "
        + "a longer session of the role, make it last longer")
  }

  private func tell(_ event: String, _ ticket: Ticket, _ sheet: TicketSheet) throws(Failure) {
    guard !sheet.isStandardOutput else { return }
    let length = Self.length(ticket)
    let size = (length.0 == "size" ? "" : "up to ") + Human.size(length.1.integer ?? 0)
    try session.say(
      "\(event) \(SafeText.oneLine(sheet.name)) for \(Self.name(ticket)) (\(size) in "
        + "\(Human.count(ticket.partCount, "part")), until \(ticket.expires.iso8601))",
      json: JSON.object(
        [
          ("event", .string(event)), ("ticket", .string(sheet.name)), ("bucket", .string(ticket.bucket)),
          ("key", .string(ticket.key)), ("upload_id", .string(ticket.uploadID)), length,
          ("parts", .int(Int64(ticket.partCount))), ("part_size", .int(ticket.partSize)),
          ("expires", .string(ticket.expires.iso8601)),
        ]
      ).encoded)
  }

  private static func length(_ ticket: Ticket) -> (String, JSON) {
    switch ticket.length {
    case .exactly(let bytes): ("size", .int(bytes))
    case .upTo(let bytes): ("max_size", .int(bytes))
    }
  }

  private static func name(_ ticket: Ticket) -> String {
    SafeText.oneLine("s3://\(ticket.bucket)/\(ticket.key)", limit: .max)
  }

  // MARK: - With the ticket, and after its end with the issuer's credentials

  /// Prints the result of an action.
  private typealias Answer = () throws(Failure) -> Void

  /// Runs the action for each ticket of the file. If one of several fails, the others are still processed, also if a
  /// result cannot be printed.
  private func each(
    _ work: (_ ticket: Ticket, _ options: StoreOptions, _ store: Store?) async throws(Failure) -> Answer
  ) async throws(Failure) -> ExitStatus {
    let word = try paper()
    let tickets = try TicketLines(TicketPaper.path(word))
    let options = session.storeOptions
    var store: Store?
    var (count, failures) = (0, ToldFailures(session))
    while let ticket = try tickets.next() {
      if session.signals.received != nil { throw .interrupted }
      count += 1
      // The issuer's credentials are used once the ticket has expired.
      let isOver = session.world.now() >= ticket.expires
      do throws(Failure) {
        if isOver, store?.bucket != ticket.bucket { store = try await session.store(ticket.bucket) }
        failures.say(try await work(ticket, options, isOver ? store : nil))
      } catch {
        guard !error.isInterruption else { throw error }
        var failure = error
        if isOver {
          failure.message =
            "the ticket expired at \(ticket.expires.iso8601), so this needs its issuer's settings and credentials: "
            + error.message
        }
        failures.add(failure)
      }
    }
    if failures.count > 0, count > 1 { session.console.line("s3up: \(failures.count) of \(count) tickets failed") }
    return try failures.status()
  }

  private func show(_ ticket: Ticket, _ options: StoreOptions, _ store: Store?) async throws(Failure) -> Answer {
    let state = try await ticket.state(options, with: store)
    let left = Duration.seconds(ticket.expires.seconds - session.world.now().seconds)
    var lines = ["\(Self.name(ticket)): \(Self.words(state, ticket))"]
    if state.standing == .open || state.standing == .whole {
      let of: String
      switch ticket.length {
      case .exactly(let size): of = " of \(ticket.partCount), \(Human.size(state.bytes)) of \(Human.size(size))"
      case .upTo: of = ", \(Human.size(state.bytes))"
      }
      lines.append("parts    \(state.partsAtStore.count)\(of)")
      if let missing = state.missing, !missing.isEmpty { lines.append("missing  \(PartNumbers.text(missing))") }
      if let last = state.lastPart { lines.append("last     \(last.iso8601)") }
    }
    lines.append("expires  \(ticket.expires.iso8601)" + (left > .zero ? " (in \(Human.duration(left)))" : ": expired"))
    lines.append("upload   \(SafeText.oneLine(ticket.uploadID))")
    let json = JSON.object([
      ("bucket", .string(ticket.bucket)), ("key", .string(ticket.key)), ("upload_id", .string(ticket.uploadID)),
      ("state", .string(state.standing.rawValue)), ("parts", .int(Int64(ticket.partCount))),
      ("parts_there", .int(Int64(state.partsAtStore.count))), ("bytes", .int(state.bytes)), Self.length(ticket),
      ("too_long", .bool(state.isTooLong)),
      ("missing", state.missing.map { .array($0.map { .int(Int64($0)) }) } ?? .null),
      ("last_part", .optional(state.lastPart?.iso8601)), ("expires", .string(ticket.expires.iso8601)),
      ("expired", .bool(left <= .zero)),
    ])
    let text = lines.joined(separator: "\n")
    return { () throws(Failure) in try session.answer(text, json: json.encoded) }
  }

  private static func words(_ state: TicketState, _ ticket: Ticket) -> String {
    let name = length(ticket)
    let excess = "\(state.bytes) bytes have arrived, more than the \(name.1.integer ?? 0) that it allows"
    switch state.standing {
    case .open where state.isTooLong: return excess + ": it cannot be finished"
    case .completed where state.isTooLong: return "completed, but " + excess
    case .open where name.0 == "max_size" && !state.partsAtStore.isEmpty:
      return "a stream has begun to arrive, and its end has not been confirmed"
    default: break
    }
    return switch state.standing {
    case .open: "parts are missing"
    case .whole: "all parts have arrived, and s3up ticket finish creates the object"
    case .completed: "completed"
    case .gone: "the upload is gone: it was revoked, or the object was replaced"
    }
  }

  private func finish(_ ticket: Ticket, _ options: StoreOptions, _ store: Store?) async throws(Failure) -> Answer {
    let start = session.world.uptime()
    let place = Place(bucket: ticket.bucket, key: ticket.key)
    let object = try await session.signals.awaitingAnswer(late: { [session] in session.tell($0.at(place)) }) {
      [session, own = self.options] () async throws(Failure) in
      try await ticket.finish(options, with: store, trustingEdited: own.trustsEdited, asItIs: own.takesAsItIs) {
        state in
        let parts = Human.count(state.partsAtStore.count, "part")
        session.world.log(
          0,
          "\(Self.name(ticket)): publishing \(state.bytes) bytes in \(parts) as they are; the end of the stream has "
            + "not been confirmed")
      }
    }
    let took = session.world.uptime() - start
    let facts = "\(Human.size(object.size)) in \(Human.count(object.parts, "part"))"
    let subject = Event.Subject(source: nil, bucket: ticket.bucket, key: ticket.key)
    let line =
      "\(object.outcome == .unchanged ? "already completed:" : "completed") \(Self.name(ticket)) "
      + "(\(facts); \(SafeText.oneLine(object.evidence)))"
    return { () throws(Failure) in
      try session.say(session.paint(1).result(line), json: Event.ended(subject, object, took: took).json)
    }
  }

  private func revoke(_ ticket: Ticket, _ options: StoreOptions, _ store: Store?) async throws(Failure) -> Answer {
    let revoked = try await ticket.revoke(options, with: store, trustingEdited: self.options.trustsEdited)
    let end =
      switch revoked {
      case .aborted(.aborted): "nothing is left of its upload"
      case .aborted(.unlisted): "its upload was aborted, but \(MultipartUpload.AbortOutcome.doubt)"
      case .aborted(.wasGone): "its upload was already gone"
      case .wasCompleted: "its upload had been completed, and the object stays"
      }
    let json = JSON.object([
      ("event", .string("revoked")), ("bucket", .string(ticket.bucket)), ("key", .string(ticket.key)),
      ("upload_id", .string(ticket.uploadID)),
      ("was_gone", .bool(revoked == .wasCompleted || revoked == .aborted(.wasGone))),
      ("confirmed", .bool(revoked != .aborted(.unlisted))),
    ])
    return { () throws(Failure) in
      try session.say("revoked the ticket for \(Self.name(ticket)) (\(end))", json: json.encoded)
    }
  }
}
