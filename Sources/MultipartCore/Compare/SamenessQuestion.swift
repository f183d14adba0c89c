/// What may show, before a file is sent, that the object at its key is this file already.
struct SamenessQuestion: Sendable {
  /// What a list of the destination says of the object.
  var found = PrefixListing.Found.unknown
  /// The object is compared with the file.
  var compares = false
  /// Of an interrupted run: what it has noted need not be compared.
  var record: RunRecord?
}

extension Uploader {
  /// The object at the key, if it is the file already.
  func sameObject() async throws(Failure) -> SameObject? {
    guard let question = job.sameness, case .file(let file) = job.source, question.found != .absent else { return nil }
    var listed: ListedObject?
    if case .listed(let object) = question.found { listed = object }
    if let record = question.record, record.isResumed, let noted = try await noted(in: record, file, listed) {
      return noted
    }
    guard question.compares else { return nil }
    let check = SameCheck(
      client: client, bucket: job.bucket, key: job.key, file: file, plan: plan, listed: listed,
      etagMayBeMD5: job.etagMayBeMD5, customerKey: job.customerKey, common: job.common,
      isStopped: { [progress] in progress.isStopped || Task.isCancelled })
    switch try await check.run() {
    case .same(let object): return object
    case .different(let why):
      world.log(1, "\(job.key) is sent: \(why)")
      return nil
    case .absent: return nil
    }
  }

  /// The interrupted run has uploaded this very file, and its object has the same ETag still.
  private func noted(
    in record: RunRecord, _ file: SourceFile, _ listed: ListedObject?
  ) async throws(Failure) -> SameObject? {
    var object = listed.map { ReportedObject(size: $0.size, etag: $0.etag) }
    if object == nil {
      do throws(Failure) {
        guard case .exists(let info) = try await client.perform(finisher.headOperation) else { return nil }
        object = ReportedObject(info)
      } catch {
        // Whoever may not look sends it once more.
        guard error.code == .credentials else { throw error }
        return nil
      }
    }
    guard let object, object.size == file.size, let etag = object.etag,
      try record.knows(key: job.key, identity: file.identity, etag: etag)
    else { return nil }
    return SameObject(object: object, evidence: "an earlier run has uploaded it, and its ETag is the same still")
  }
}
