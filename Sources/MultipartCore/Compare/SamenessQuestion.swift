/// What may show, before a file is sent, that the object at its key is already identical to it.
struct SamenessQuestion: Sendable {
  /// What a list of the destination says about the object.
  var found = PrefixListing.Found.unknown
  /// Whether the object is compared with the file.
  var compares = false
  /// The record of an interrupted run: objects in it need not be compared.
  var record: RunRecord?
  /// Whether the object's version and checksum are needed, which a list does not contain.
  var wantsChecksum = false

  fileprivate var listed: ListedObject? { if case .listed(let object) = found { object } else { nil } }
}

extension Uploader {
  /// The object at the key, if it is identical to the file.
  func sameObject() async throws(Failure) -> SameObject? {
    guard let question = job.sameness, case .file(let file) = job.source else { return nil }
    let noted = try await noted(question, file)
    if let noted, !job.wantsBytesCompared { return noted }
    guard question.compares || noted != nil, question.found != .absent else { return nil }
    let check = SameCheck(
      client: client, head: finisher.headOperation, file: file,
      purpose: .skipping(timesCount: !job.wantsBytesCompared), plan: plan, listed: question.listed,
      etagMayBeMD5: job.etagMayBeMD5, wantsSHA256: job.wantsSHA256,
      isStopped: { [progress] in progress.isStopped || Task.isCancelled })
    switch try await check.run() {
    case .same(let object): return object
    case .different(let why), .unknown(let why):
      world.log(1, "\(job.key) is sent: \(why)")
      return nil
    case .absent:
      finisher.saw(.absent)
      return nil
    }
  }

  /// Whether the interrupted run has uploaded this very file with the current settings, and its object still has the
  /// same ETag. Otherwise nothing is known about the object any more, because it will be replaced.
  private func noted(_ question: SamenessQuestion, _ file: SourceFile) async throws(Failure) -> SameObject? {
    guard let record = question.record, record.isResumed else { return nil }
    let made = try job.recorded()
    if var same = try await present(question), same.object.size == file.size, let etag = same.object.etag,
      try record.knows(made, identity: etag)
    {
      same.evidence = "an earlier run uploaded it, and its ETag is unchanged"
      return same
    }
    try record.forget(made)
    return nil
  }

  /// The existing object. Only a HEAD shows its version and checksum, and that it can be read with the caller's key.
  private func present(_ question: SamenessQuestion) async throws(Failure) -> SameObject? {
    if question.found == .absent { return nil }
    let listed = job.address.customerKey == nil ? question.listed : nil
    let known = listed.map { SameObject(object: ReportedObject(size: $0.size, etag: $0.etag)) }
    if let known, !question.wantsChecksum { return known }
    do throws(Failure) {
      guard case .exists(let info) = try await client.perform(finisher.headOperation) else { return nil }
      return SameObject(object: ReportedObject(info), sum: info.statedChecksum)
    } catch {
      // A caller that may not look sends it once more, unless the list is enough.
      guard error.hidesObject else { throw error }
      return known
    }
  }
}
