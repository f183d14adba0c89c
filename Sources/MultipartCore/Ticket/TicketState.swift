/// What the store has of a ticket's upload.
public struct TicketState: Sendable {
  /// Whether the upload can still be filled.
  public enum Standing: String, Sendable {
    /// Parts are missing, or it is of at most a size, and nobody has said that the parts which are there are the whole.
    case open
    /// All parts are there, and nobody has completed it yet.
    case whole
    /// The object is there, made of as many parts as the ticket has.
    case completed
    /// The upload is gone, and so it was aborted, or the object was replaced since.
    case gone
  }

  /// Whether the upload can still be filled.
  public var standing: Standing
  /// The numbers of the parts that are there.
  public var partsAtStore: [Int] = []
  /// The numbers of those that are missing; nil: how many there will be is not known.
  public var missing: [Int]?
  /// Bytes of the parts that are there, or of the object.
  public var bytes: Int64 = 0
  /// These are more than the ticket is for. A signature cannot limit them: whoever has a URL can send as much to it as a
  /// part may have.
  public var isTooLong = false
  /// When the last part arrived.
  public var lastPart: Timestamp?

  init(_ standing: Standing) {
    self.standing = standing
  }

  init(_ ticket: Ticket, _ listing: S3Client.PartListing) {
    let parts = listing.parts.filter { part in
      guard ticket.parts.indices.contains(part.number - 1) else { return false }
      switch ticket.length {
      case .exactly(let size):
        let plan = try? UploadPlan(inParts: size, of: ticket.partSize)
        return plan?.range(of: part.number).length == part.size
      case .upTo: return true
      }
    }
    self.init(ticket, parts.map { ($0.number, $0.size) })
    lastPart = parts.compactMap(\.lastModified).max()
  }

  /// Of these numbers and sizes of parts.
  init(_ ticket: Ticket, _ parts: [(number: Int, size: Int64)]) {
    partsAtStore = parts.map(\.number)
    bytes = parts.reduce(0) { $0 + $1.size }
    isTooLong = bytes > ticket.mostBytes
    standing = .open
    if case .exactly = ticket.length {
      let known = Set(partsAtStore)
      let missing = (1...ticket.partCount).filter { !known.contains($0) }
      self.missing = missing
      if missing.isEmpty { standing = .whole }
    }
  }
}

extension TicketState {
  /// Of an upload that is completed.
  init(_ ticket: Ticket, completed: UploadedObject) {
    self.init(.completed)
    bytes = completed.size
    isTooLong = bytes > ticket.mostBytes
    partsAtStore = Array(1...completed.parts)
  }
}
