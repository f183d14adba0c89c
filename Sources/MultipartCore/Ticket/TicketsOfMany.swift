import MultipartBasics

/// Makes the uploader of each ticket, over the connections that all of them share.
struct TicketUploaderMaker: UploaderMaking {
  private let link: TicketLink
  private let options: UploadOptions

  init(_ link: TicketLink, _ options: UploadOptions) {
    (self.link, self.options) = (link, options)
  }

  var world: World { link.world }
  var bucket: String { link.ticket.bucket }

  func uploader(
    _ candidate: Candidate, _ driver: RunDriver<Uploader>, tell: @escaping @Sendable (BatchEvent) -> Void
  ) async throws(Failure) -> Uploader {
    guard let ticket = candidate.item.ticket else { throw Failure(.local, "an upload without its ticket") }
    let own = link.with(ticket)
    try own.requireValid()
    let source = try candidate.item.input.open(
      UploadOptions(), concurrency: link.transfer.concurrency, world: link.world)
    try options.check(source)
    let job = try UploadJob(source, of: ticket, share: nil, options, link.transfer)
    let name = source.path.text
    return try Uploader(job: job, client: own.client, world: link.world, run: driver) { event in
      tell(.upload(event, source: name, bucket: ticket.bucket, key: ticket.key))
    }
  }
}

/// Issues tickets, eight at a time.
final class TicketIssuer: Sendable {
  private struct State: Sendable {
    var tasks: [Task<Void, Never>] = []
    var begun: [MultipartUpload] = []
    var bytes: Int64 = 0
    var expires: Timestamp?
    var failure: Failure?
  }

  private let store: Store
  private let stores: Siblings
  private let lifetime: Duration
  private let options: UploadOptions
  private let write: @Sendable (Ticket) throws(Failure) -> Void
  private let gate = Gate(8)
  private let state = Locked(State())

  init(
    _ store: Store, _ lifetime: Duration, _ options: UploadOptions,
    _ write: @escaping @Sendable (Ticket) throws(Failure) -> Void
  ) {
    (self.store, self.lifetime, self.options, self.write) = (store, lifetime, options, write)
    stores = Siblings(of: store)
  }

  var failure: Failure? { state.withLock { $0.failure } }

  /// Stops what is being issued. A create that was sent is awaited all the same, so that its upload can be aborted.
  func stop() {
    fail(.interrupted)
    for task in state.withLock({ $0.tasks }) { task.cancel() }
  }

  func fail(_ failure: Failure) { state.withLock { $0.failure = $0.failure ?? failure } }

  func begin(_ item: UploadItem) async -> Bool {
    guard await gate.enter(), failure == nil else { return false }
    let task = Task { [self] in
      defer { gate.leave() }
      do throws(Failure) {
        try await issue(item)
      } catch {
        fail(error.at(Place(file: item.input.path.text)))
      }
    }
    state.withLock { $0.tasks.append(task) }
    return failure == nil
  }

  private func issue(_ item: UploadItem) async throws(Failure) {
    let options = options.of(item)
    let name = try Self.relativeName(item)
    let store = try await stores.store(of: item)
    var ticket = try await store.issueTicket(item.input, to: item.key, for: lifetime, options)
    let upload = try store.multipartUpload(item.key, uploadID: ticket.uploadID)
    state.withLock { $0.begun.append(upload) }
    ticket.file = name
    // The mark is also about the name.
    store.mark(&ticket)
    try write(ticket)
    state.withLock { [ticket] state in
      if case .exactly(let size) = ticket.length { state.bytes += size }
      state.expires = min(state.expires ?? ticket.expires, ticket.expires)
    }
  }

  /// The file's name relative to the folder that the user of the tickets will name.
  private static func relativeName(_ item: UploadItem) throws(Failure) -> String {
    let path: [UInt8]
    if case .entry(let file, _) = item.input.kind { path = file.path } else { path = item.input.path.bytes }
    guard !path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).contains(where: KeyName.isMangled)
    else {
      throw Failure(
        .usage, "a ticket cannot name this file",
        remedy: "tickets of a batch are for files below one folder: give relative paths")
    }
    guard let name = String(validating: path, as: UTF8.self) else {
      throw Failure(
        .usage, "a ticket cannot name this file, because its name is not UTF-8", remedy: "rename it, or leave it out")
    }
    return name
  }

  /// Waits until everything that was begun has ended.
  func wait() async {
    for task in state.withLock({ $0.tasks }) { await task.value }
  }

  func finish(
    _ publish: () throws(Failure) -> Void
  ) async throws(Failure) -> IssuedTickets {
    do throws(Failure) {
      if failure == nil { try publish() }
    } catch {
      fail(error)
    }
    let (begun, bytes, expires, failure) = state.withLock { ($0.begun, $0.bytes, $0.expires, $0.failure) }
    guard let failure else { return IssuedTickets(count: begun.count, bytes: bytes, expires: expires) }
    var left = 0
    for upload in begun {
      do throws(Failure) {
        _ = try await evenIfCancelled { () async throws(Failure) in try await upload.abort() }
      } catch {
        left += 1
      }
    }
    var told = failure
    if !begun.isEmpty {
      told.message +=
        left == 0
        ? "; the \(begun.count) uploads that were begun have been aborted"
        : "; \(left) of the \(begun.count) uploads that were begun could not be aborted"
      if left > 0 {
        told.remedy =
          (told.remedy.map { $0 + "; then " } ?? "") + "\(run: .listUploads(bucket: store.bucket)) lists them"
      }
    }
    throw told
  }
}
