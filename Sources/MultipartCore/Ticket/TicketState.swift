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
  public var there: [Int] = []
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
    there = parts.map(\.number)
    bytes = parts.reduce(0) { $0 + $1.size }
    isTooLong = bytes > ticket.mostBytes
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

  /// Completes the upload from the parts that the store has, if they are all that the ticket is for. Whether those of a
  /// stream are the whole only the run knows that has read it to its end: `asItIs` publishes them nevertheless, and
  /// `publishing` is told what before it happens.
  @discardableResult
  public func finish(
    _ options: StoreOptions = StoreOptions(), with store: Store? = nil, asItIs: Bool = false,
    publishing: (TicketState) -> Void = { _ in }
  ) async throws(Failure) -> UploadedObject {
    try await TicketSteps(self, options, store).finish(asItIs ? .isAccepted : .isUnknown, publishing)
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
  private let address: ObjectAddress
  private let retry: RetryPolicy
  private let world: World

  init(_ ticket: Ticket, _ options: StoreOptions, _ store: Store?) throws(Failure) {
    self.ticket = ticket
    if let store {
      (client, retry, world) = (store.client, store.retry, store.world)
    } else {
      let link = try TicketLink(ticket, options)
      try link.requireValid()
      (client, retry, world) = (link.client, link.retry, link.world)
    }
    address = ticket.address(store?.address.common ?? CommonHeaders())
  }

  private func listing() async throws(Failure) -> S3Client.PartListing {
    try await client.allParts(ListParts(address, uploadID: ticket.uploadID), retrying: retry)
  }

  func state() async throws(Failure) -> TicketState {
    do throws(Failure) {
      return TicketState(ticket, try await listing())
    } catch {
      guard Ticket.isGone(error) else { throw error.at(ticket.place) }
      return try await completed()?.state ?? TicketState(.gone)
    }
  }

  /// The object, if something shows that it is the ticket's, and what that is.
  private func completed() async throws(Failure) -> (object: ObjectInfo, state: TicketState, evidence: String)? {
    guard case .exists(let object) = try await client.perform(HeadObject(address), retrying: retry) else { return nil }
    if let modified = object.lastModified, modified < ticket.created { return nil }
    guard let size = object.size, let (parts, evidence) = evidence(of: object, size) else { return nil }
    var state = TicketState(.completed)
    state.bytes = size
    state.isTooLong = size > ticket.mostBytes
    state.there = Array(1...parts)
    return (object, state, evidence)
  }

  /// How many parts it has, and what shows that it is the ticket's.
  private func evidence(of object: ObjectInfo, _ size: Int64) -> (parts: Int, evidence: String)? {
    // An ETag that is not one of parts may be that of somebody else's single request.
    let multipart: Int? =
      if case .multipart(_, let parts)? = object.etag.flatMap(ETag.init)?.form {
        max(1, min(parts, S3Limits.mostParts))
      } else { nil }
    guard case .exactly(let wanted) = ticket.length else {
      return multipart.map { ($0, "it was made of parts, after the ticket was issued") }
    }
    guard size == wanted, let plan = try? UploadPlan(inParts: size, of: ticket.partSize) else { return nil }
    let receipts = (1...plan.partCount).map { ticket.signedReceipt(of: $0, size: plan.range(of: $0).length) }
    guard let expected = try? Expectation(receipts: receipts) else { return nil }
    switch Verdict.judge(expected, ReportedObject(object)) {
    case .proven(let evidence): return (plan.partCount, evidence)
    case .undecided:
      guard multipart == plan.partCount, expected.etag == nil else { return nil }
      return (plan.partCount, "its size, parts and time are those of the ticket's upload")
    case .absent, .notOurs, .contradicted: return nil
    }
  }

  func finish(_ end: TicketState.End, _ publishing: (TicketState) -> Void) async throws(Failure) -> UploadedObject {
    do throws(Failure) {
      let listing = try await listing()
      let state = TicketState(ticket, listing)
      if let refusal = state.refusal(ticket, end) {
        // Some stores still list the parts for a while after the upload was completed.
        guard let done = try await completed(of: listing.parts.map { UploadedPart($0) }) else { throw refusal }
        return done
      }
      if ticket.expectedParts == nil { publishing(state) }
      let usable = Set(state.there)
      let receipts = listing.parts.filter { usable.contains($0.number) }.map { ticket.receipt(of: $0) }
      let finisher = Finisher(client: client, address)
      finisher.begin(.upload(ticket.created))
      let step = CompleteStep(finisher: finisher, retry: retry, world: world)
      let failure: Failure
      do throws(Failure) {
        return UploadedObject(try await step.run(receipts, uploadID: ticket.uploadID))
      } catch {
        failure = error
      }
      throw await ticket.explained(failure, completing: receipts) { () async throws(Failure) in try await self.listing()
      }
    } catch {
      guard Ticket.isGone(error) else { throw error.at(ticket.place) }
      guard let (object, state, evidence) = try await completed() else { throw Ticket.gone(error).at(ticket.place) }
      if state.isTooLong { throw state.tooLong(ticket, "the object has").at(ticket.place) }
      var result = UploadedObject(
        UploadResult(
          size: state.bytes, parts: state.there.count, object: ReportedObject(object), sum: nil,
          evidence: evidence, bytesSent: 0, retries: 0))
      result.isUnchanged = true
      return result
    }
  }

  /// The object, if it is made of exactly these parts.
  private func completed(of parts: [UploadedPart]) async throws(Failure) -> UploadedObject? {
    guard !parts.isEmpty else { return nil }
    let result = try await EarlierCompletion(head: HeadObject(address)).find(parts, client: client, retry: retry)
    guard let result, result.size <= ticket.mostBytes else { return nil }
    var object = UploadedObject(result)
    object.isUnchanged = true
    return object
  }

  func revoke() async throws(Failure) -> Bool {
    let step = AbortStep(client: client, retry: retry, world: world)
    do throws(Failure) {
      return try await step.run(address, uploadID: ticket.uploadID) == .aborted
    } catch {
      throw error.at(ticket.place)
    }
  }
}
