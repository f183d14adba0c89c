/// What may show, before a file is sent, that the object at its key is this file already.
struct SamenessQuestion: Sendable {
  /// What a list of the destination says of the object.
  var found = PrefixListing.Found.unknown
  /// The object is compared with the file.
  var compares = false
  /// Of an interrupted run: what it has noted need not be compared.
  var record: RunRecord?

  fileprivate var listed: ListedObject? { if case .listed(let object) = found { object } else { nil } }
}

extension Uploader {
  /// The object at the key, if it is the file already.
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
    case .absent: return nil
    }
  }

  /// The interrupted run has uploaded this very file as it is asked for now, and its object has the same ETag still. Else
  /// nothing is known of the object any more: it is going to be another one.
  private func noted(_ question: SamenessQuestion, _ file: SourceFile) async throws(Failure) -> SameObject? {
    guard let record = question.record, record.isResumed else { return nil }
    let made = try job.recorded()
    if let object = try await present(question), object.size == file.size, let etag = object.etag,
      try record.knows(made, etag: etag)
    {
      return SameObject(object: object, evidence: "an earlier run has uploaded it, and its ETag is the same still")
    }
    try record.forget(made)
    return nil
  }

  /// The object that is there. Only a HEAD shows that it can be read with the caller's key: a list shows the same of
  /// another.
  private func present(_ question: SamenessQuestion) async throws(Failure) -> ReportedObject? {
    if question.found == .absent { return nil }
    if let listed = question.listed, job.address.customerKey == nil {
      return ReportedObject(size: listed.size, etag: listed.etag)
    }
    do throws(Failure) {
      guard case .exists(let info) = try await client.perform(finisher.headOperation) else { return nil }
      return ReportedObject(info)
    } catch {
      // Whoever may not look sends it once more.
      guard error.hidesObject else { throw error }
      return nil
    }
  }
}
