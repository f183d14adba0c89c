import MultipartCore

/// `s3up put FILE --ticket TICKET`, and with a folder the tickets of many files: without credentials.
struct TicketPutCommand {
  private let session: Session

  init(_ session: Session) throws(Failure) {
    self.session = session
    try Self.refuseSettled(session.invocation)
  }

  func run() async throws(Failure) -> ExitStatus {
    let words = session.invocation.positionals
    if words.count == 1, BatchSources.isFolder(FilePath(bytes: words[0].bytes)) { return try await putMany(words[0]) }
    let start = session.world.uptime()
    let source = try PutSource.alone(session.invocation)
    let limit = try ResumeOptions(session.invocation).deadline
    try await RunAlarm.run(limit, session.world) { (alarm) async throws(Failure) in
      let ticket = try await TicketPaper(session).ticket()
      let place = Place(file: source.name.text, bucket: ticket.bucket, key: ticket.key)
      do throws(Failure) {
        try await put(source, ticket, PutRun(session, Event.Subject(place), start: start, alarm))
      } catch {
        var error = error.at(place)
        if session.output.json != nil { error.place.file = place.file }
        throw error
      }
    }
    return .success
  }

  private func putMany(_ folder: Argument) async throws(Failure) -> ExitStatus {
    for name in [FlagName.shard, .parts, .expectSize, .expectSHA256] where session.invocation.has(name) {
      throw Failure(
        .usage, "--\(name.rawValue) is for the ticket of one file", remedy: "Name the file instead of its folder.")
    }
    let run = try PutManyRun(session)
    return try await run.alarmed { (options, reporter) throws(Failure) in
      let tickets = try TicketPaper(session).batch()
      say(tickets.endpoint, "\(SafeText.oneLine(folder.text))", tickets.expires)
      if session.output.explain {
        session.console.line("target       the objects that the tickets name, at \(SafeText.oneLine(tickets.endpoint))")
        session.console.line(Self.credentials(until: tickets.expires))
      }
      let batch = try tickets.upload(
        from: FilePath(bytes: folder.bytes), session.storeOptions(), options, onEvent: reporter.hear)
      return (batch, nil)
    }
  }

  /// The one address that gets the bytes, before it gets any.
  private func say(_ endpoint: String, _ what: String, _ end: Timestamp) {
    session.world.log(
      0, "uploads \(what) to \(SafeText.oneLine(endpoint)), by a ticket that expires at \(end.iso8601)")
  }

  private func put(_ source: PutSource, _ ticket: Ticket, _ run: PutRun) async throws(Failure) {
    var options = try UploadOptions(session.invocation)
    options.deadline = options.deadline.map { $0 - (session.world.uptime() - run.start) }
    let share = try TicketShareOptions(session.invocation, session.environment).share(of: ticket)
    let store = try session.storeOptions()
    say(
      ticket.endpoint, "s3://\(SafeText.oneLine(ticket.bucket))/\(SafeText.oneLine(ticket.key))", ticket.expires)
    try await run.upload(source, nil) { [options] (input, reporter) throws(Failure) in
      try ticket.uploadTask(input, share: share, store, options, onEvent: reporter.hear)
    } explain: { (upload) throws(Failure) in
      explanation(ticket, share, upload.uploader.plan)
    }
  }

  private func explanation(_ ticket: Ticket, _ share: Range<Int>?, _ plan: UploadPlan) -> [String] {
    let parts = "\(Human.count(plan.partCount, "part")) of \(Human.size(plan.partSize))"
    let own = share.map { ", of which this run sends \($0.isEmpty ? "none" : PartNumbers.text(Array($0)))" } ?? ""
    return [
      "target       s3://\(ticket.bucket)/\(SafeText.oneLine(ticket.key)) at \(ticket.endpoint)",
      Self.credentials(until: ticket.expires),
      "parts        \(parts)\(own)",
      "checksum     \(ticket.checksum.title), as the ticket says",
    ]
  }

  private static func credentials(until end: Timestamp) -> String {
    "credentials  none: requests were signed when the ticket was issued, and expire at \(end.iso8601)"
  }

  /// How the object is made, and with whose rights, was settled when the ticket was issued.
  private static func refuseSettled(_ invocation: Invocation) throws(Failure) {
    let own: Set<FlagName> = [
      .ticket, .parts, .shard, .fromCommand, .concurrency, .tcpCongestion, .hedge, .limitRate, .retries,
      .stallTimeout, .connectTimeout, .deadline, .failFast, .failedTo, .null, .expectSize, .minSize, .expectSHA256,
      .caBundle, .insecure, .proxy,
    ]
    for flag in FlagList.of(.put) where flag.section != .output && !own.contains(flag.name) {
      guard let given = invocation.last(flag.name), case .commandLine(let spelling) = given.origin else { continue }
      throw Failure(
        .usage, "\(spelling) does not go with --ticket",
        remedy: "What the object is like, and how it is reached, was settled when the ticket was issued.")
    }
  }
}

/// Which parts of a ticket this run sends.
struct TicketShareOptions {
  private let shard: Shard?
  private let parts: ClosedRange<Int>?

  init(_ invocation: Invocation, _ environment: [String: String]) throws(Failure) {
    shard = try SelectionOptions.shard(invocation, environment)
    parts = try invocation.partRange(.parts)
    if shard != nil, parts != nil {
      throw Failure(.usage, "--shard and --parts exclude each other", remedy: "Leave one of them out.")
    }
  }

  func share(of ticket: Ticket) throws(Failure) -> Range<Int>? {
    if let parts { return parts.lowerBound..<parts.upperBound + 1 }
    return shard.map { ticket.share($0) }
  }
}
