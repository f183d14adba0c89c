import MultipartBasics

/// Reads tickets one after another. `@unchecked Sendable` holds because one task at a time reads.
public final class TicketLines: @unchecked Sendable {
  /// The first ticket.
  public let first: Ticket
  /// The form of the file; only JSON can contain several tickets.
  public let form: TicketForm
  private let lines: LineReader
  private var isFirst = true

  /// Opens the file; `-` is standard input.
  public init(_ path: FilePath) throws(Failure) {
    lines = try LineReader(path, title: "the ticket", longest: Ticket.longestLine)
    do throws(Failure) {
      guard let line = try lines.next() else { throw Ticket.damaged("the file is empty") }
      var document = Array(line)
      form = TicketForm(of: document)
      // A script, a page, or a ticket that some program has formatted over several lines.
      if form != .json || JSON.parse(document) == nil {
        while document.count <= Ticket.longestLine, let more = try lines.next() { document += [0x0A] + more }
      }
      first = try Ticket(document)
    } catch {
      throw error.at(Place(file: path.text))
    }
  }

  /// The next ticket, beginning with the first; nil at the end.
  public func next() throws(Failure) -> Ticket? {
    if isFirst {
      isFirst = false
      return first
    }
    while let line = try lines.next() {
      if line.allSatisfy({ $0 <= 0x20 }) { continue }
      do throws(Failure) {
        return try Ticket(Array(line))
      } catch {
        throw lines.failure(error.message, code: error.code, remedy: error.remedy)
      }
    }
    return nil
  }
}
