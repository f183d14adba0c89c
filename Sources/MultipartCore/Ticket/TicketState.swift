/// What the store has of a ticket's upload.
public struct TicketState: Sendable {
  /// Whether the upload can still be filled.
  public enum Standing: String, Sendable {
    /// Parts are missing.
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
  public var there: [Int] = []
  /// The numbers of those that are missing; nil: how many there will be is not known.
  public var missing: [Int]?
  /// Bytes of the parts that are there.
  public var bytes: Int64 = 0
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
      case .upTo: return part.size <= ticket.partSize
      }
    }
    there = parts.map(\.number)
    bytes = parts.reduce(0) { $0 + $1.size }
    lastPart = parts.compactMap(\.lastModified).max()
    standing = .open
    if case .exactly = ticket.length {
      let known = Set(there)
      let missing = (1...ticket.partCount).filter { !known.contains($0) }
      self.missing = missing
      if missing.isEmpty { standing = .whole }
    }
  }
}

extension Ticket {
  /// What the store has of it now. With a store its credentials sign; otherwise the ticket must not have expired.
  public func state(
    _ options: StoreOptions = StoreOptions(), with store: Store? = nil
  ) async throws(Failure) -> TicketState {
    try await TicketSteps(self, options, store).state()
  }

  /// Completes the upload from the parts that the store has: all that the ticket is for, or those of a stream.
  @discardableResult
  public func finish(
    _ options: StoreOptions = StoreOptions(), with store: Store? = nil
  ) async throws(Failure) -> UploadedObject {
    try await TicketSteps(self, options, store).finish()
  }

  /// Aborts the upload, and returns once the store lists none of its parts: the ticket is worthless then. False: it had
  /// already ended.
  @discardableResult
  public func revoke(
    _ options: StoreOptions = StoreOptions(), with store: Store? = nil
  ) async throws(Failure) -> Bool {
    try await TicketSteps(self, options, store).revoke()
  }
}

/// The single steps on a ticket's upload, by its own requests or by those of a store.
struct TicketSteps {
  private let ticket: Ticket
  private let client: S3Client
  private let common: CommonHeaders
  private let retry: RetryPolicy
  private let world: World

  init(_ ticket: Ticket, _ options: StoreOptions, _ store: Store?) throws(Failure) {
    self.ticket = ticket
    if let store {
      (client, common, retry, world) = (store.client, store.common, store.retry, store.world)
    } else {
      let link = try TicketLink(ticket, options)
      try link.requireValid()
      (client, common, retry, world) = (link.client, CommonHeaders(), link.retry, link.world)
    }
  }

  private func listing() async throws(Failure) -> S3Client.PartListing {
    let list = ListParts(bucket: ticket.bucket, key: ticket.key, uploadID: ticket.uploadID, common: common)
    return try await client.allParts(list, retrying: retry)
  }

  func state() async throws(Failure) -> TicketState {
    do throws(Failure) {
      return TicketState(ticket, try await listing())
    } catch {
      guard error.code == .uploadGone || error.status == 404 else { throw error.at(ticket.place) }
      return TicketState(try await completed() == nil ? .gone : .completed)
    }
  }

  /// The object, if it can be that of the ticket.
  private func completed() async throws(Failure) -> ObjectInfo? {
    let head = HeadObject(bucket: ticket.bucket, key: ticket.key, common: common)
    guard case .exists(let object) = try await client.perform(head, retrying: retry) else { return nil }
    if let modified = object.lastModified, modified < ticket.created { return nil }
    if case .exactly(let size) = ticket.length, let found = object.size, found != size { return nil }
    guard let etag = ticket.signedETag, case .multipart? = object.etag.flatMap(ETag.init)?.form else { return object }
    return ETag(etag) == object.etag.flatMap(ETag.init) ? object : nil
  }

  func finish() async throws(Failure) -> UploadedObject {
    do throws(Failure) {
      let listing = try await listing()
      let state = TicketState(ticket, listing)
      guard !state.there.isEmpty else {
        throw Failure(.dataMismatch, "the store has no part of the ticket's upload")
      }
      if let missing = state.missing, !missing.isEmpty {
        throw Failure(
          .dataMismatch, "the store does not have \(PartNumbers.text(missing)) of 1-\(ticket.partCount)",
          remedy: "upload what is missing with the ticket")
      }
      try PartNumbers.requireWhole(state.there, "the store does not have")
      let usable = Set(state.there)
      let receipts = listing.parts.filter { usable.contains($0.number) }.map { ticket.receipt(of: $0) }
      let finisher = Finisher(client: client, bucket: ticket.bucket, key: ticket.key, common: common)
      finisher.begin(.upload(ticket.created))
      let step = CompleteStep(finisher: finisher, retry: retry, world: world)
      return UploadedObject(try await step.run(receipts, uploadID: ticket.uploadID))
    } catch {
      guard error.code == .uploadGone || error.status == 404, let object = try await completed() else {
        throw error.at(ticket.place)
      }
      var result = UploadedObject(
        UploadResult(
          size: object.size ?? 0, parts: ticket.partCount, object: ReportedObject(object), sum: nil,
          evidence: ticket.signedETag == nil
            ? "its size and time are those of the ticket's upload" : "its ETag is that of the ticket's parts",
          bytesSent: 0, retries: 0))
      result.isUnchanged = true
      return result
    }
  }

  func revoke() async throws(Failure) -> Bool {
    let step = AbortStep(client: client, common: common, retry: retry, world: world)
    do throws(Failure) {
      return try await step.run(bucket: ticket.bucket, key: ticket.key, uploadID: ticket.uploadID) == .aborted
    } catch {
      throw error.at(ticket.place)
    }
  }
}
