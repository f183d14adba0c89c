import MultipartBasics

/// A ticket's upload, as the store lists it.
extension Uploader {
  /// The usable parts: only those that fit the ticket's plan count; others are sent again, and thereby replaced. The
  /// parts of a stream cannot be compared, so all of it is sent.
  func usable(_ listing: S3Client.PartListing, of ticket: Ticket) -> UploadMachine.PartList {
    guard !job.source.isStream else { return UploadMachine.PartList(sizes: [:], form: ticket.checksum) }
    let parts = listing.parts.filter { part in
      (1...plan.partCount).contains(part.number) && plan.range(of: part.number).length == part.size
        && ticket.mayBe(part)
    }
    state.withLock { $0.parts = Dictionary(parts.map { ($0.number, $0) }) { _, last in last } }
    var list = UploadMachine.PartList(
      sizes: Dictionary(parts.map { ($0.number, $0.size) }) { _, last in last }, form: ticket.checksum)
    list.receipts = parts.map { ticket.receipt(of: $0) }
    let times = parts.compactMap { $0.lastModified?.seconds }
    if times.count == parts.count, let last = times.max() {
      list.latest = zip(parts, times).filter { $1 >= last - 1 }.map(\.0.number)
    }
    return list
  }

  /// The parts of this source, which the ticket's upload must have; nil for a stream.
  func parts(for ticket: Ticket) throws(Failure) -> [PartReceipt]? {
    guard case .file = job.source else { return nil }
    var receipts: [PartReceipt] = []
    for number in 1...plan.partCount {
      guard let body = try body(of: number) else { return nil }
      var wanted: Set<ChecksumAlgorithm> = job.etagMayBeMD5 ? [.md5] : []
      if case .algorithm(let algorithm) = ticket.checksum { wanted.insert(algorithm) }
      let sums = try body.checksums(wanted) { progress.isStopped || Task.isCancelled }
      if let signed = ticket.sum(ofPart: number), let own = sums[signed.algorithm], own != signed {
        throw TicketSigner.another(Place(part: number))
      }
      receipts.append(
        PartReceipt(
          number: number, size: body.length, etag: sums[.md5].map { "\"\($0.hex)\"" } ?? "",
          checksum: wanted.first { $0 != .md5 }.flatMap { sums[$0] }, proof: .none))
    }
    return receipts
  }
}

extension Ticket {
  /// The receipt of a part that another run has sent: the store has verified what the signature names.
  func receipt(of part: ListParts.Part) -> PartReceipt {
    let signed = sum(ofPart: part.number)
    var receipt = PartReceipt(number: part.number, size: part.size, etag: part.etag, proof: .none)
    if case .algorithm(let algorithm) = checksum {
      let listed = part.checksums[algorithm.headerName].flatMap { Checksum(algorithm, base64: $0) }
      receipt.checksum = listed ?? signed
      if listed != nil { receipt.proof = .checksum }
    }
    if receipt.proof == .none, let signed, signed.algorithm == .md5, part.hasMD5(signed) { receipt.proof = .etag }
    return receipt
  }
}

extension Ticket {
  /// The receipt of a part, as far as the signatures describe it: the store has accepted it with the checksum that they
  /// name.
  func signedReceipt(of number: Int, size: Int64) -> PartReceipt {
    let sum = sum(ofPart: number)
    let isMD5 = sum?.algorithm == .md5
    return PartReceipt(
      number: number, size: size, etag: isMD5 && etagMayBeMD5 ? sum.map { "\"\($0.hex)\"" } ?? "" : "",
      checksum: isMD5 ? nil : sum, proof: sum == nil ? .none : isMD5 ? .contentMD5 : .checksum)
  }
}

extension ListParts.Part {
  fileprivate func hasMD5(_ sum: Checksum) -> Bool {
    if case .md5(let md5)? = ETag(etag)?.form { md5 == sum.bytes } else { false }
  }
}
