import MultipartBasics
import MultipartCore

/// The options of a ticket.
struct TicketOptions {
  var length: Ticket.Length?
  var lifetime = Duration.seconds(86_400)
  var output: Argument?
  var all = false
  var trustsEdited = false
  var takesAsItIs = false
  /// The form; nil: JSON, or for a renewal the form that the ticket has.
  var format: TicketForm?
  var setsCORS = false

  init(_ invocation: Invocation) throws(Failure) {
    let (size, most) = (try invocation.size(.size), try invocation.size(.maxSize))
    if size != nil, most != nil {
      throw Failure(.usage, "--size and --max-size exclude each other", remedy: "Leave one of them out.")
    }
    length = size.map { .exactly($0) } ?? most.map { .upTo($0) }
    if let given = try invocation.lifetime(.expires) { lifetime = .seconds(given.components.seconds) }
    output = try invocation.path(.output)
    all = invocation.toggle(.all) ?? false
    trustsEdited = invocation.toggle(.trustEdited) ?? false
    takesAsItIs = invocation.toggle(.asItIs) ?? false
    format = try invocation.choice(.format)
    setsCORS = invocation.toggle(.setCORS) ?? false
    if setsCORS, form != .html {
      throw Failure(.usage, "--set-cors goes with --format html", remedy: "Add --format html, or leave it out.")
    }
  }
  /// The form of a ticket for one file: the given one, or that of the ending of the name it is written to.
  var form: TicketForm? {
    if let format { return format }
    let name = output?.bytes ?? []
    return TicketForm.allCases.first { name.suffix($0.rawValue.utf8.count + 1).elementsEqual(".\($0.rawValue)".utf8) }
  }
}
