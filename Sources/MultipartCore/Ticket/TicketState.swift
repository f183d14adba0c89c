/// What the store has of a ticket's upload.
public struct TicketState: Sendable {
  /// Whether the upload can still be filled.
  public enum Standing: String, Sendable {
    /// Parts are missing, or the ticket has only a maximum size and the end of the stream has not been confirmed.
    case open
    /// All parts have arrived, and the upload has not been completed yet.
    case whole
    /// The object exists, made of as many parts as the ticket has.
    case completed
    /// The upload is gone: it was aborted, or the object has been replaced since.
    case gone
  }

  /// Whether the upload can still be filled.
  public var standing: Standing
  /// The numbers of the parts that the store has.
  public var partsAtStore: [Int] = []
  /// The numbers of the missing parts; nil: the number of parts is not known.
  public var missing: [Int]?
  /// Bytes of the parts that the store has, or of the object.
  public var bytes: Int64 = 0
  /// Whether these are more bytes than the ticket allows. A signature cannot limit them: anyone with a URL can send as
  /// much to it as a part may have.
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
        return plan?.range(of: part.number).length == part.size && ticket.mayBe(part)
      case .upTo: return true
      }
    }
    self.init(ticket, parts.map { ($0.number, $0.size) })
    lastPart = parts.compactMap(\.lastModified).max()
  }

  /// The state of an upload with these parts.
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
  /// The state of a completed upload.
  init(_ ticket: Ticket, completed: UploadedObject) {
    self.init(.completed)
    bytes = completed.size
    isTooLong = bytes > ticket.mostBytes
    partsAtStore = Array(1...completed.parts)
  }
}

extension Ticket {
  /// Whether a part may be the one whose checksum was signed; false if the store's list shows a different one, because
  /// the store has not compared them.
  func mayBe(_ part: ListParts.Part) -> Bool {
    guard let sum = sum(ofPart: part.number) else { return true }
    if let listed = part.checksums[sum.algorithm.headerName] { return Checksum(sum.algorithm, base64: listed) == sum }
    guard sum.algorithm == .md5, etagMayBeMD5, case .md5(let md5)? = ETag(part.etag)?.form else { return true }
    return md5 == sum.bytes
  }
}
