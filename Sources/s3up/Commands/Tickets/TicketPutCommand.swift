import MultipartBasics
import MultipartCore

/// `s3up put FILE --ticket TICKET`, or with a folder the tickets of many files: without credentials.
struct TicketPutCommand {
  private let session: Session

  init(_ session: Session) { self.session = session }

  func run() async throws(Failure) {
    let start = session.world.uptime()
    let source = try PutSource.alone(session.invocation)
    try await RunAlarm.run(session.options.upload.deadline, session.world) { (alarm) async throws(Failure) in
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
  }

  func runMany() async throws(Failure) -> ExitStatus {
    let folder = try session.invocation.arguments("FOLDER")[0]
    let run = try ManyRun(session)
    return try await run.alarmed { (options, reporter) throws(Failure) in
      let tickets = try TicketPaper(session).batch()
      say(
        tickets.endpoint, "what has a ticket in \(SafeText.oneLine(folder.text))", "tickets that expire",
        tickets.expires)
      try await session.tellPlan { tickets.explain() }
      let batch = try tickets.upload(
        from: FilePath(bytes: folder.bytes), session.storeOptions, options, onEvent: reporter.hear)
      return (batch, nil)
    }
  }

  /// Shows the only address that receives bytes, before any are sent.
  private func say(_ endpoint: String, _ what: String, _ tickets: String, _ end: Timestamp) {
    session.world.log(
      0, "uploading \(what) to \(SafeText.oneLine(endpoint)), by \(tickets) at \(end.iso8601)")
  }

  private func put(_ source: PutSource, _ ticket: Ticket, _ run: PutRun) async throws(Failure) {
    var options = session.options.upload
    options.deadline = session.left(of: options.deadline, since: run.start)
    let share = try TicketShareOptions(session.invocation, session.environment).share(of: ticket)
    let store = session.storeOptions
    say(
      ticket.endpoint, "s3://\(SafeText.oneLine(ticket.bucket))/\(SafeText.oneLine(ticket.key))",
      "a ticket that expires", ticket.expires)
    try await run.upload(source, nil) { [options] (input, hear) throws(Failure) in
      try ticket.uploadTask(input, share: share, store, options, onEvent: hear)
    } explain: { (upload) throws(Failure) in
      ticket.explain(upload, share: share)
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
