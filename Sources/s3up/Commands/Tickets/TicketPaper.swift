import MultipartBasics
import MultipartCore

/// The ticket that an option or argument names: a file, standard input, or an `https://` URL.
struct TicketPaper {
  private let session: Session
  private let word: Argument

  init(_ session: Session) throws(Failure) {
    guard let given = session.invocation.last(.ticket) else { throw Failure(.usage, "--ticket is missing") }
    self.init(session, given.value)
  }

  init(_ session: Session, _ word: Argument) {
    (self.session, self.word) = (session, word)
  }

  func ticket() async throws(Failure) -> Ticket {
    let name = isURL ? Redaction.url(word.text) : word.text
    do throws(Failure) {
      return try Ticket(try await bytes())
    } catch {
      throw error.at(Place(file: name))
    }
  }

  static func path(_ word: Argument) -> FilePath { FilePath(bytes: word.bytes) }

  /// The tickets of many files.
  func batch() throws(Failure) -> TicketBatch {
    guard !isURL else {
      throw Failure(
        .usage, "the tickets of a folder are read from a file", remedy: "Download it first, and name the file.")
    }
    return try TicketBatch(FilePath(bytes: word.bytes))
  }

  private var isURL: Bool { word.text.lowercased().begins(with: "https://") }

  private func bytes() async throws(Failure) -> [UInt8] {
    if isURL { return try await Ticket.fetch(word.text, session.storeOptions) }
    return try FilePath(bytes: word.bytes).input(limit: Ticket.longestLine)
  }
}
