import MultipartBasics

extension Ticket {
  /// Uploads, and returns once the store has proven that the object holds the bytes that were read. Credentials are
  /// neither needed nor looked up. Cancelling the task stops the upload; a later call with the same file resumes it.
  @discardableResult
  public func upload(
    _ input: UploadInput, share: Range<Int>? = nil, _ options: StoreOptions = StoreOptions(),
    onEvent: @escaping @Sendable (UploadEvent) -> Void = { _ in }
  ) async throws(Failure) -> UploadedObject {
    try await uploadTask(input, share: share, options, onEvent: onEvent).run()
  }

  /// An upload that starts with `run()` and can be watched. With `share` it sends only the parts with these numbers,
  /// and completes the object if the store has all others. Only the connection options are used; how the object is made
  /// was decided when the ticket was issued.
  public func uploadTask(
    _ input: UploadInput, share: Range<Int>? = nil, _ options: StoreOptions = StoreOptions(),
    _ upload: UploadOptions = UploadOptions(), onEvent: @escaping @Sendable (UploadEvent) -> Void = { _ in }
  ) throws(Failure) -> UploadTask {
    let link = try TicketLink(self, options)
    try link.requireValid()
    var settled = UploadOptions()
    (settled.expectedSize, settled.expectedSHA256) = (upload.expectedSize, upload.expectedSHA256)
    (settled.minimumSize, settled.deadline) = (upload.minimumSize, upload.deadline)
    settled.hedges = upload.hedges
    settled.streamPlan = try StreamPlan(steps: [StreamPlan.Step(parts: parts.count, size: partSize)])
    settled.ticketLength = length
    let source = try input.open(settled, concurrency: link.transfer.concurrency, world: link.world)
    let job = try UploadJob(source, of: self, share: share, settled, link.transfer)
    let tap = EventTap(onEvent)
    let uploader = try Uploader(job: job, client: link.client, world: link.world, tell: tap.tell)
    return UploadTask(uploader, settled, tap)
  }

  /// The parts of the I-th of N equal shares. They are consecutive, so that each share reads one piece of the file.
  public func share(_ shard: Shard) -> Range<Int> {
    let bounds = (0...1).map { (shard.index + $0) * parts.count / shard.count + 1 }
    return bounds[0]..<bounds[1]
  }
}

extension Ticket {
  /// The text of a ticket at an `https://` URL. Redirects are not followed.
  public static func fetch(_ url: String, _ options: StoreOptions) async throws(Failure) -> [UInt8] {
    let world = options.openWorld()
    let options = try options.filled(from: world.environment)
    let transfer = TransferSettings(options)
    let transport = try options.transport(transfer, world)
    var request = Request(method: .get, url: url, maximumAnswer: longestLine)
    request.stallTimeout = transfer.stallTimeout
    let asked = request
    return try await RetryPolicy(tries: transfer.tries).run("the ticket", in: world) { (_) async throws(Failure) in
      let answer = try await transport.send(asked)
      guard answer.status == 200 else {
        throw Failure(
          S3ErrorTable.code(status: answer.status), "the ticket's URL returned \(answer.status)", status: answer.status,
          remedy: "check the URL; it may have expired")
      }
      return answer.body
    }
  }
}

/// The connection to a ticket's only address.
struct TicketLink {
  let ticket: Ticket
  let transfer: TransferSettings
  let client: S3Client
  var world: World { client.world }
  var retry: RetryPolicy { RetryPolicy(tries: transfer.tries) }

  init(_ ticket: Ticket, _ options: StoreOptions) throws(Failure) {
    let world = options.openWorld()
    let options = try options.filled(from: world.environment)
    let transfer = TransferSettings(options)
    self.init(ticket, transfer, try options.transport(transfer, world), world)
  }

  private init(_ ticket: Ticket, _ transfer: TransferSettings, _ transport: any Transport, _ world: World) {
    self.ticket = ticket
    self.transfer = transfer
    client = S3Client(
      signer: TicketSigner(ticket, now: world.now), transport: transport, world: world,
      stallTimeout: transfer.stallTimeout, answerTimeout: transfer.answerTimeout,
      connectTimeout: transfer.connectTimeout)
  }

  /// The same connections for another ticket.
  func with(_ ticket: Ticket) -> TicketLink { TicketLink(ticket, transfer, client.transport, world) }

  var hasExpired: Bool { world.now() >= ticket.expires }

  func requireValid() throws(Failure) {
    if hasExpired { throw TicketSigner.expired(at: ticket.expires).at(ticket.place) }
  }
}

extension UploadJob {
  init(
    _ source: UploadSource, of ticket: Ticket, share: Range<Int>?, _ options: UploadOptions,
    _ transfer: TransferSettings
  ) throws(Failure) {
    self.init(source: source, to: ticket.address())
    self.ticket = ticket
    checksum = ticket.checksum
    (partSize, isInParts, etagsAreOpaque) = (ticket.partSize, true, !ticket.etagMayBeMD5)
    retry = RetryPolicy(tries: transfer.tries)
    limitRate = transfer.limitRate
    concurrency = transfer.concurrency
    pace = ConnectionBounds.pace(
      transfer, isStream: source.isStream, line: nil, descriptors: ConnectionBounds.descriptors)
    hedges = options.hedges
    do throws(Failure) {
      if let size = source.size, let failure = ticket.length.failure("the file", of: size) { throw failure }
      if let share {
        guard !source.isStream else {
          throw Failure(.usage, "a share of a ticket needs a file: a stream can only be read from its beginning")
        }
        guard ticket.expectedParts != nil else {
          throw Failure(
            .usage, "a ticket with a maximum size has no shares: no run would know whether the last part has arrived",
            remedy: "upload the whole file in one run, or ask for a ticket of its size")
        }
        let count = try plan().partCount
        guard share.lowerBound >= 1, share.upperBound <= count + 1 else {
          throw Failure(.usage, "the ticket's file has \(count) parts, but the share names more")
        }
        // All parts are not a share: if one is missing, the run has failed, and has not done a part of the work.
        if share != 1..<count + 1 { self.share = share }
      }
    } catch {
      throw error.at(place)
    }
  }
}

extension Ticket.Length {
  var most: Int64 {
    switch self {
    case .exactly(let size), .upTo(let size): size
    }
  }

  /// Why a source of this size is not what the ticket is for.
  func failure(_ source: String, of size: Int64) -> Failure? {
    switch self {
    case .exactly(let wanted) where wanted != size:
      Failure(
        .dataMismatch, "\(source) has \(size) bytes, but the ticket is for a file of \(wanted)",
        remedy: "upload the file that the ticket was issued for, unchanged, or ask for a ticket of this one")
    case .upTo(let most) where size > most:
      Failure(
        .dataMismatch, "\(source) has \(size) bytes, but the ticket is for at most \(most)",
        remedy: "ask for a ticket of at least \(size) bytes")
    case .exactly, .upTo: nil
    }
  }
}
