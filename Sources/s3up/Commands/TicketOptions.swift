import MultipartCore

/// What the command line says about a ticket.
struct TicketOptions {
  var length: Ticket.Length?
  var lifetime = Duration.seconds(86_400)
  var output: Argument?
  var all = false
  var trustsEdited = false
  var takesAsItIs = false
  /// Nil: as JSON, and renewed in the form that it has.
  var format: TicketForm?
  var setsCORS = false

  init(_ invocation: Invocation, _ action: TicketCommand.Action) throws(Failure) {
    func own(_ name: FlagName, _ actions: Set<TicketCommand.Action>) throws(Failure) {
      guard let given = invocation.last(name), case .commandLine(let spelling) = given.origin,
        !actions.contains(action)
      else { return }
      throw Failure(.usage, "ticket \(action.rawValue): \(spelling) does not belong to it", remedy: "Leave it out.")
    }
    for name in [FlagName.size, .maxSize, .partSize, .checksum, .ifNoneMatch, .ifMatch] { try own(name, [.issue]) }
    for flag in FlagList.of(.ticket) where flag.section == .object { try own(flag.name, [.issue]) }
    for name in [FlagName.expires, .output, .format] { try own(name, [.issue, .renew]) }
    for name in [FlagName.all, .trustEdited] { try own(name, [.renew]) }
    try own(.asItIs, [.finish])
    let (size, most) = (try invocation.size(.size), try invocation.size(.maxSize))
    if size != nil, most != nil {
      throw Failure(.usage, "--size and --max-size exclude each other", remedy: "Leave one of them out.")
    }
    length = size.map { .exactly($0) } ?? most.map { .upTo($0) }
    if let given = invocation.last(.expires), let duration = try invocation.duration(.expires) {
      guard duration >= .seconds(1), duration <= PresignChoices.longest else {
        throw invocation.wrong(given, "is not from 1s to 7d", remedy: "S3 signs for 7 days at most.")
      }
      lifetime = .seconds(duration.components.seconds)
    }
    output = try invocation.path(.output)
    all = invocation.toggle(.all) ?? false
    trustsEdited = invocation.toggle(.trustEdited) ?? false
    takesAsItIs = invocation.toggle(.asItIs) ?? false
    format = try invocation.choice(.format)
    setsCORS = invocation.toggle(.setCORS) ?? false
    if setsCORS, format != .html {
      throw Failure(.usage, "--set-cors goes with --format html", remedy: "Add --format html, or leave it out.")
    }
  }
}
