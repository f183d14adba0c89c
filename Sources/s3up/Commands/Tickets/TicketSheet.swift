import Glibc
import MultipartCore

/// The file that a ticket is written to.
struct TicketSheet: Sendable {
  let name: String
  let isStandardOutput: Bool
  private let format: TicketForm
  private let sheet: TicketFile?

  init(_ word: Argument, replaces: Bool, _ format: TicketForm) throws(Failure) {
    name = word.text
    self.format = format
    let path = FilePath(bytes: word.bytes)
    isStandardOutput = word.bytes == [UInt8(ascii: "-")] || path.openDescriptor == STDOUT_FILENO
    sheet = isStandardOutput ? nil : try TicketFile(path, replaces: replaces, isProgram: format == .sh)
  }

  func append(_ ticket: Ticket) throws(Failure) {
    let text = try render(ticket)
    guard let sheet else { return try StandardOutput.write(String(decoding: text, as: UTF8.self)) }
    try sheet.append(text)
  }

  private func render(_ ticket: Ticket) throws(Failure) -> [UInt8] {
    switch format {
    case .json: Array((ticket.json + "\n").utf8)
    case .sh: try TicketScript.render(ticket)
    case .html: try TicketPage.render(ticket)
    }
  }

  func publish() throws(Failure) {
    guard let sheet else { return try StandardOutput.settle() }
    try sheet.publish()
  }
}
