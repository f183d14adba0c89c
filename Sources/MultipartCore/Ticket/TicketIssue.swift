import MultipartBasics

/// Begins an upload and signs its requests.
struct TicketIssue {
  enum Subject: Sendable {
    case file(SourceFile)
    case length(Ticket.Length)
  }

  private let store: Store
  private let key: String
  private let lifetime: Duration
  private let options: UploadOptions

  init(_ store: Store, _ key: String, _ lifetime: Duration, _ options: UploadOptions) throws(Failure) {
    (self.store, self.key, self.lifetime, self.options) = (store, key, lifetime, options)
    try TicketSigning.check(store, lifetime)
    guard options.customerKey == nil else {
      throw Failure(
        .usage, "a ticket cannot carry an SSE-C key",
        remedy: "leave \(.customerKey) out: anyone with the ticket would have the key")
    }
  }

  func run(_ subject: Subject) async throws(Failure) -> Ticket {
    do throws(Failure) {
      let (length, file) = try Self.length(subject)
      let form = try form(hasFile: file != nil)
      let plan = try plan(length)
      let sums = try await Self.sums(of: file, plan, form)
      // The upload would be refused at its end.
      try await options.conditions.requireMet(HeadObject(store.address(key)), store.client, store.retry)
      let begun = try await begin(form, file)
      do throws(Failure) {
        var ticket = try ticket(begun, length, plan, form, name: file?.path.name)
        try await TicketSigning(store, lifetime, options.conditions).sign(&ticket, sums: sums)
        return ticket
      } catch {
        throw await begun.upload.takenBack(error)
      }
    } catch {
      throw error.at(store.address(key).place)
    }
  }

  private static func length(_ subject: Subject) throws(Failure) -> (Ticket.Length, SourceFile?) {
    switch subject {
    case .file(let file): return (.exactly(file.size), file)
    case .length(let length):
      switch length {
      case .exactly(let size), .upTo(let size):
        guard size >= 0 else { throw Failure(.usage, "a ticket of a negative size") }
      }
      return (length, nil)
    }
  }

  /// The checksum to sign, which the store must verify and no other bytes may have. AWS verifies SHA-256. All stores
  /// verify MD5; two files with the same MD5 can only be made by one author of both, so only the author of the file
  /// could replace it.
  private func form(hasFile: Bool) throws(Failure) -> ChecksumForm {
    guard hasFile else {
      guard case .algorithm(let algorithm)? = options.checksum else { return options.checksum ?? .md5 }
      throw Failure(
        .usage, "without the file its \(algorithm.awsName ?? "checksum") cannot be signed",
        remedy: "name the file, or leave \(.checksum) out: the upload then sends an MD5 with each part")
    }
    return options.checksum ?? (store.endpoint.isAWS ? .algorithm(.sha256) : .md5)
  }

  private func plan(_ length: Ticket.Length) throws(Failure) -> UploadPlan {
    switch length {
    case .exactly(let size), .upTo(let size):
      let usual = try UploadPlan(size: size, partSize: options.partSize)
      let partSize = max(S3Limits.smallestPart, options.partSize ?? min(usual.partSize, UploadPlan.defaultPart))
      return try UploadPlan(inParts: size, of: usual.isSingle ? partSize : usual.partSize)
    }
  }

  /// Computes the checksums two at a time, because that costs CPU and disk.
  private static func sums(
    of file: SourceFile?, _ plan: UploadPlan, _ form: ChecksumForm
  ) async throws(Failure) -> [Checksum] {
    let algorithm: ChecksumAlgorithm
    switch form {
    case .algorithm(let named): algorithm = named
    case .md5: algorithm = .md5
    case .nothing: return []
    }
    guard let file else { return [] }
    let sums = Locked([Checksum?](repeating: nil, count: plan.partCount))
    let next = Locked(0)
    let failed = Locked<Failure?>(nil)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          while case let index = next.withLock({ number in
            defer { number += 1 }; return number
          }),
            index < plan.partCount, failed.withLock({ $0 == nil })
          {
            do throws(Failure) {
              let (offset, length) = plan.range(of: index + 1)
              let slice = PartSlice(file: file, offset: offset, length: length)
              let sum = try slice.checksums([algorithm]) { Task.isCancelled }[algorithm]
              if Task.isCancelled { throw Failure.interrupted }
              sums.withLock { $0[index] = sum }
            } catch {
              failed.withLock { $0 = $0 ?? error }
            }
          }
        }
      }
    }
    if let failure = failed.withLock({ $0 }) { throw failure.at(Place(file: file.path.text)) }
    try file.checkUnchanged()
    return sums.withLock { $0.compactMap(\.self) }
  }

  private func begin(_ form: ChecksumForm, _ file: SourceFile?) async throws(Failure) -> CreationOfUpload.Begun {
    var options = options
    options.checksum = form
    if options.object.contentType == nil, let file {
      options.object.contentType = try ContentType.guess(.file(file), key: key)
    }
    return try await CreationOfUpload(store, key: key, options).run()
  }

  private func asked() throws(Failure) -> HeaderList {
    var list = HeaderList()
    for field in try RequestedSettings(object: options.object).asked.fields {
      let isChecked = !RequestedSettings([field.name: field.value]).isEmpty
      if isChecked { list.add(field.name, field.value) }
    }
    return list
  }

  private func ticket(
    _ begun: CreationOfUpload.Begun, _ length: Ticket.Length, _ plan: UploadPlan, _ form: ChecksumForm, name: String?
  ) throws(Failure) -> Ticket {
    let empty = Ticket.Call()
    let pages = (plan.partCount + Ticket.pageLength - 1) / Ticket.pageLength
    return Ticket(
      bucket: store.bucket, key: key, uploadID: begun.upload.uploadID, url: "", created: begun.created,
      expires: begun.created, file: name, length: length, partSize: plan.partSize, checksum: form,
      etagMayBeMD5: begun.etagMayBeMD5, asked: RequestedSettings(try asked()),
      parts: Array(repeating: empty, count: plan.partCount),
      lists: Array(repeating: empty, count: pages), complete: empty, abort: empty, head: empty)
  }
}

/// Signs the requests of a ticket.
struct TicketSigning {
  private let store: Store
  private let lifetime: Duration
  private let conditions: WriteConditions

  init(_ store: Store, _ lifetime: Duration, _ conditions: WriteConditions = WriteConditions()) {
    (self.store, self.lifetime, self.conditions) = (store, lifetime, conditions)
  }

  static func check(_ store: Store, _ lifetime: Duration) throws(Failure) {
    guard !store.isDirectoryBucket else {
      throw Failure(
        .usage, "a directory bucket has no tickets: its sessions, which sign the requests, end after five minutes")
    }
    try PresignedURL.check(lifetime: lifetime, of: "a ticket")
    guard store.credentials != nil else {
      throw Failure(.usage, "a ticket cannot be signed without credentials", remedy: "leave \(off: .signsRequests) out")
    }
  }

  /// Signs the requests. `sums` are the checksums of the parts, in order; empty: nothing is known about the file. A
  /// part that `isWanted` excludes gets no request.
  func sign(
    _ ticket: inout Ticket, sums: [Checksum], isWanted: (Int) -> Bool = { _ in true }
  ) async throws(Failure) {
    var calls = Calls(signing: self)
    let (address, id) = (ticket.address(store.address.common), ticket.uploadID)
    for number in 1...ticket.parts.count {
      let sum = sums.isEmpty ? nil : sums[number - 1]
      let part = UploadPart(
        address, uploadID: id, partNumber: number, body: .none,
        checksum: sum.map {
          NamedValue($0.algorithm == .md5 ? HeaderName.contentMD5 : $0.algorithm.headerName, $0.base64)
        })
      ticket.parts[number - 1] = try await calls.add(part.request(), isWanted: isWanted(number))
    }
    for page in ticket.lists.indices {
      let list = ListParts(
        address, uploadID: id, marker: page * Ticket.pageLength, maximumParts: Ticket.pageLength)
      ticket.lists[page] = try await calls.add(list.request())
    }
    ticket.complete = try await calls.add(complete(ticket))
    ticket.abort = try await calls.add(AbortMultipartUpload(address, uploadID: id).request())
    ticket.head = try await calls.add(HeadObject(address).request())
    (ticket.url, ticket.expires) = (calls.url, calls.expires ?? ticket.expires)
    store.mark(&ticket)
  }

  /// The complete request, with the size if it is fixed: S3 then creates no object of a different size.
  private func complete(_ ticket: Ticket) throws(Failure) -> S3Request {
    var headers = S3HeaderBuilder()
    if case .exactly(let size) = ticket.length { try headers.add(HeaderName.objectSize, String(size)) }
    // A renewed ticket keeps the conditions of the first one.
    let signed = ticket.complete.headers
    var conditions = conditions
    if signed[HeaderName.ifNoneMatch] != nil { conditions.ifNoneMatch = true }
    conditions.ifMatch = conditions.ifMatch ?? signed[HeaderName.ifMatch]
    try conditions.add(to: &headers)
    try headers.add(store.address.common)
    return try S3Request(
      CompleteMultipartUpload.name, .post, place: ticket.place, query: [QueryItem("uploadId", ticket.uploadID)],
      headers: headers.list)
  }

  /// Signs one request after another, and checks that all go to the same address.
  private struct Calls {
    let signing: TicketSigning
    private(set) var url = ""
    private(set) var expires: Timestamp?

    init(signing: TicketSigning) { self.signing = signing }

    mutating func add(_ request: S3Request, isWanted: Bool = true) async throws(Failure) -> Ticket.Call {
      guard isWanted else { return Ticket.Call(headers: request.headers) }
      let signed = try await signing.store.signer.presigned(request, expiresIn: signing.lifetime)
      let bytes = signed.url.utf8
      guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else {
        throw Failure(.local, "a presigned URL without a query")
      }
      let address = signed.url[..<mark]
      if url.isEmpty { url = String(address) }
      guard address.utf8.elementsEqual(url.utf8) else {
        throw Failure(.server, "the bucket moved to another region while the ticket was signed", remedy: "try again")
      }
      if let end = signed.expires { expires = min(end, expires ?? end) }
      return Ticket.Call(query: String(signed.url[bytes.index(after: mark)...]), headers: signed.headers)
    }
  }
}

/// Signs a ticket's requests again.
struct TicketRenewal {
  private let store: Store
  private let ticket: Ticket
  private let lifetime: Duration

  init(_ store: Store, _ ticket: Ticket, _ lifetime: Duration, trustsEdited: Bool) throws(Failure) {
    (self.store, self.ticket, self.lifetime) = (store, ticket, lifetime)
    try TicketSigning.check(store, lifetime)
    try store.require(ticket, trustsEdited: trustsEdited)
  }

  func run(all: Bool) async throws(Failure) -> Ticket {
    var renewed = ticket
    do throws(Failure) {
      let listing = try await store.multipartUpload(ticket.key, uploadID: ticket.uploadID).listing()
      let there = all ? [] : Set(TicketState(ticket, listing).partsAtStore)
      let sums = (1...ticket.partCount).compactMap { ticket.sum(ofPart: $0) }
      try await TicketSigning(store, lifetime).sign(
        &renewed, sums: sums.count == ticket.partCount ? sums : []
      ) { !there.contains($0) }
    } catch {
      throw (error.code == .uploadGone ? Ticket.gone(error) : error).at(ticket.place)
    }
    guard renewed.url.utf8.elementsEqual(ticket.url.utf8) else {
      throw ticket.isElsewhere(renewed.url)
    }
    return renewed
  }
}
