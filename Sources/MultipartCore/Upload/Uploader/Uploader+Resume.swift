import MultipartBasics

/// Finds an upload again, and compares its parts at the store with the file.
extension Uploader {
  /// Finds the record's upload, or else, in `adopt` mode, those that the store lists for this key.
  func find() async -> UploadMachine.Event {
    if let ticket = job.ticket { return .found([UploadMachine.Candidate(uploadID: ticket.uploadID, use: .own)]) }
    if let record = journal?.found {
      let reason: Wording? =
        plan.isSingle && !job.source.isStream
        ? "aborting the unfinished upload: the source is now sent in one request"
        : job.resume == .never
          ? "aborting the unfinished upload, as \(.resume, "never") says"
          : job.source.isStream
            ? "aborting the unfinished upload of another source"
            : journal?.reasonAgainst(record, job: job, partSize: plan.partSize)
      let candidate = UploadMachine.Candidate(
        uploadID: record.header.uploadID, use: reason.map { .stale($0) } ?? use(of: record),
        isWhole: isOfThisSource(record) && record.parts.count == plan.partCount)
      return .found([candidate])
    }
    guard job.resume == .adopt, !job.source.isStream, !plan.isSingle else { return .found([]) }
    return await findForeign()
  }

  /// Whether the record is of this source, even if it was touched since: every part is compared anyway.
  func isOfThisSource(_ record: UploadRecord) -> Bool { record.header.source.change(to: job.source.identity) == nil }

  /// How the record can be used. A file with a different mtime, copied or checked out again, may still be the same.
  private func use(of record: UploadRecord) -> UploadMachine.Candidate.Use {
    isOfThisSource(record) ? .own : .changed("the source differs from that of the unfinished upload")
  }

  func listParts(_ uploadID: String) async -> UploadMachine.Event {
    let list = ListParts(job.address, uploadID: uploadID)
    finisher.begin(begun(uploadID).map { .upload($0) })
    do throws(Failure) {
      let seen = state.withLock { $0.foreign[uploadID]?.takeFirstList() }
      let listing = if let seen { seen } else { try await client.allParts(list) }
      if let ticket = job.ticket { return .partsListed(usable(listing, of: ticket)) }
      let parts = Dictionary(listing.parts.map { ($0.number, $0) }) { _, last in last }
      state.withLock { $0.parts = parts }
      let sizes = parts.mapValues(\.size)
      var other: UploadPlan?
      if job.partSize == nil, job.threshold == nil, !plan.fits(sizes), let size = job.source.size {
        other = UploadPlan(size: size, parts: sizes)
      }
      if parts.count < (other ?? plan).partCount { recall(uploadID) }
      let algorithm = listing.checksumAlgorithm.flatMap(ChecksumAlgorithm.init(awsName:))
      let form = form(of: uploadID, algorithm: algorithm)
      let foreign = state.withLock { state in
        state.form = form
        return state.foreign[uploadID]
      }
      return .partsListed(
        UploadMachine.PartList(
          sizes: sizes, form: form, plan: other,
          activity: listing.isComplete ? foreign?.activity(listing) : nil))
    } catch {
      recall(uploadID)
      return .partsListFailed(error.at(job.place))
    }
  }

  /// When the upload was begun, by the store's clock, for an upload that this run has not created.
  private func begun(_ uploadID: String) -> Timestamp? {
    job.ticket?.created ?? recorded(uploadID)?.header.created ?? state.withLock { $0.foreign[uploadID]?.begun }
  }

  /// The record, if it is this upload's.
  private func recorded(_ uploadID: String) -> UploadRecord? {
    journal?.found.flatMap { $0.header.uploadID.utf8.elementsEqual(uploadID.utf8) ? $0 : nil }
  }

  /// What further parts of the upload must carry; nil if this run must send something else.
  private func form(of uploadID: String, algorithm: ChecksumAlgorithm?) -> ChecksumForm? {
    let carried: ChecksumForm =
      if let algorithm {
        .algorithm(algorithm)
      } else if let record = recorded(uploadID) {
        record.header.form
      } else {
        job.plainForm(client)
      }
    guard let asked = job.checksum, asked != carried else { return carried }
    // Any upload that was created without a checksum algorithm can take MD5, or no checksum.
    if case .algorithm = carried { return nil }
    if case .algorithm = asked { return nil }
    return asked
  }

  /// Recalls an upload that is gone, or being completed: if it was completed, the object has the parts of this very
  /// source, which a HEAD can show.
  private func recall(_ uploadID: String) {
    do throws(Failure) {
      let receipts = if let ticket = job.ticket { try parts(for: ticket) } else { try recordedParts(uploadID) }
      if let receipts { finisher.expect(try Expectation(receipts: receipts)) }
    } catch {
      world.log(1, "it cannot be seen whether the upload was completed: \(error.message)")
    }
  }

  /// The recorded parts; nil unless the record has them all, and the source still has their bytes.
  private func recordedParts(_ uploadID: String) throws(Failure) -> [PartReceipt]? {
    guard let record = recorded(uploadID), isOfThisSource(record), record.parts.count == plan.partCount else {
      return nil
    }
    let receipts = record.parts.values.sorted { $0.number < $1.number }.map {
      PartReceipt(number: $0.number, size: $0.size, etag: $0.etag, checksum: $0.checksum, proof: .none)
    }
    // Nothing else sends these bytes again, so they are compared regardless of the file's times.
    for receipt in receipts {
      guard let slice = try body(of: receipt.number) as? PartSlice,
        try slice.isStill(receipt, etagMayBeMD5: job.etagMayBeMD5, unless: { progress.isStopped || Task.isCancelled })
      else { return nil }
    }
    try confirmSource(receipts)
    return receipts
  }

  /// Compares a listed part. It is accepted if the local bytes have its checksum, or the MD5 that is its ETag. If a
  /// store returns neither, the ETag must be the recorded one, and the bytes must match the checksum that was recorded
  /// with it.
  func verify(_ number: Int) async -> UploadMachine.Event {
    guard let part = state.withLock({ $0.parts[number] }) else { return .partRejected(number) }
    do throws(Failure) {
      guard let receipt = try compare(part) else { return .partRejected(number) }
      try job.source.check()
      if Task.isCancelled { throw Failure(.interrupted, "the comparison was cancelled") }
      // A part that arrived just before the last run was killed is at the store but not in the record. It is added:
      // only with a complete record can a HEAD tell whether the upload was completed.
      if !isRecorded(receipt) { journal?.append(receipt, now: world.uptime()) }
      return .partVerified(receipt)
    } catch {
      return .verifyFailed(number, error.at(job.place))
    }
  }

  private func isRecorded(_ receipt: PartReceipt) -> Bool {
    guard let part = journal?.found?.parts[receipt.number] else { return false }
    return part.size == receipt.size && ETag(part.etag) == ETag(receipt.etag) && part.checksum == receipt.checksum
  }

  private func compare(_ part: ListParts.Part) throws(Failure) -> PartReceipt? {
    guard let body = try body(of: part.number), body.length == part.size else { return nil }
    let recorded = journal?.found?.parts[part.number]
    var named: [Checksum] = ChecksumAlgorithm.allCases.compactMap { algorithm in
      part.checksums[algorithm.headerName].flatMap { Checksum(algorithm, base64: $0) }
    }
    var proof = PartProof.checksum
    if named.isEmpty, job.etagMayBeMD5, case .md5(let md5)? = ETag(part.etag)?.form {
      named = [Checksum(.md5, bytes: md5)].compactMap(\.self)
      proof = .etag
    }
    if named.isEmpty, let recorded, ETag(recorded.etag) == ETag(part.etag), let checksum = recorded.checksum {
      named = [checksum]
      proof = .none
    }
    guard let strongest = named.first else { return nil }
    // The object's checksum is computed from its parts', so a part that was sent with a checksum needs it again: that
    // of the upload, whatever this run would choose.
    let own = recorded?.checksum?.algorithm ?? algorithm ?? strongest.algorithm
    let sums = try body.checksums([strongest.algorithm, own]) { progress.isStopped || Task.isCancelled }
    guard sums[strongest.algorithm] == strongest else { return nil }
    return PartReceipt(
      number: part.number, size: part.size, etag: part.etag, checksum: own == .md5 ? nil : sums[own], proof: proof,
      localSum: strongest)
  }

  /// What the parts of the upload that is resumed carry.
  private var algorithm: ChecksumAlgorithm? {
    switch state.withLock({ $0.form }) ?? job.checksum ?? job.remembered ?? .algorithm(.crc64nvme) {
    case .algorithm(let algorithm): algorithm
    case .md5, .nothing: nil
    }
  }
}
