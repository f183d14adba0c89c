/// What may show, before a file is sent, that the object at its key is already identical to it.
struct SamenessQuestion: Sendable {
  /// What a list of the destination says about the object.
  var found = PrefixListing.Found.unknown
  /// Whether the object is compared with the file.
  var compares = false
  /// The record of an interrupted run: objects in it need not be compared.
  var record: RunRecord?

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
    if let object = try await present(question), object.size == file.size, let etag = object.etag,
      try record.knows(made, identity: etag)
    {
      return SameObject(object: object, evidence: "an earlier run uploaded it, and its ETag is unchanged")
    }
    try record.forget(made)
    return nil
  }

  /// The existing object. Only a HEAD shows that it can be read with the caller's key: a list shows nothing about the
  /// key.
  private func present(_ question: SamenessQuestion) async throws(Failure) -> ReportedObject? {
    if question.found == .absent { return nil }
    if let listed = question.listed, job.address.customerKey == nil {
      return ReportedObject(size: listed.size, etag: listed.etag)
    }
    do throws(Failure) {
      guard case .exists(let info) = try await client.perform(finisher.headOperation) else { return nil }
      return ReportedObject(info)
    } catch {
      // A caller that may not look sends it once more.
      guard error.hidesObject else { throw error }
      return nil
    }
  }
}
