import MultipartCore

/// `s3up abort s3://BUCKET/KEY --upload-id ID`: ends the upload, and is done when the store has nothing left of it.
///
/// NoSuchUpload is a store's answer to an upload that has ended, to an id that was never there, and to the id of another
/// key's upload, which lives on. So it is no success, unless something shows that this upload was at this key.
struct AbortCommand {
  private let session: Session
  private let book: RecordBook?

  init(_ session: Session) throws(Failure) {
    self.session = session
    book = try StateOptions(session.invocation, environment: session.environment).directory
      .map { RecordBook(folder: $0.text) }
  }

  func run() async throws(Failure) {
    let target = try await StepTarget(session, try session.invocation.arguments("s3://BUCKET/KEY")[0])
    let outcome: AbortMultipartUpload.Output
    do throws(Failure) {
      outcome = try await abort(target)
    } catch {
      throw error.at(target.place)
    }
    let was = outcome == .wasGone ? "was gone already" : "nothing is left of it"
    try session.say(
      "aborted \(name(target)) (upload \(SafeText.oneLine(target.uploadID)), \(was))",
      json: JSONValue.object([
        ("event", .string("aborted")), ("bucket", .string(target.url.bucket)), ("key", .string(target.key)),
        ("upload_id", .string(target.uploadID)), ("was_gone", .bool(outcome == .wasGone)),
      ]).text)
  }

  private func abort(_ target: StepTarget) async throws(Failure) -> AbortMultipartUpload.Output {
    let access = target.access
    // Some stores go by the id alone, and would end the upload of another key.
    if let key = await otherKey(target) { throw isElsewhere(target, key) }
    let listed = await isListed(target)
    let step = AbortStep(client: access.client, common: access.common, retry: access.retry, world: session.world)
    let outcome = try await step.run(bucket: target.url.bucket, key: target.key, uploadID: target.uploadID)
    guard listed ?? (outcome == .aborted) || isRecorded(target) else { throw isUnknown(target) }
    return outcome
  }

  /// Nil where the store does not say: who may abort need not be allowed to list.
  private func isListed(_ target: StepTarget) async -> Bool? {
    let list = ListParts(
      bucket: target.url.bucket, key: target.key, uploadID: target.uploadID, maximumParts: 1,
      common: target.access.common)
    do throws(Failure) {
      _ = try await target.access.client.perform(list, retrying: target.access.retry)
      return true
    } catch {
      return error.code == .uploadGone || error.status == 404 ? false : nil
    }
  }

  /// Whether a run of this machine began that upload at this key.
  private func isRecorded(_ target: StepTarget) -> Bool {
    let place = RecordTarget(origin: target.access.signer.origin, bucket: target.url.bucket, key: target.key)
    guard let record = try? book?.load(place) else { return false }
    return record.header.uploadID.utf8.elementsEqual(target.uploadID.utf8)
  }

  /// Another key that has the upload, as far as one page of the bucket's list tells.
  private func otherKey(_ target: StepTarget) async -> String? {
    let list = ListMultipartUploads(bucket: target.url.bucket, common: target.access.common)
    let page = try? await target.access.client.perform(list)
    let keys = page?.uploads.filter { $0.uploadID.utf8.elementsEqual(target.uploadID.utf8) } ?? []
    let isHere = keys.contains { [$0.key, $0.keyAsWritten].contains { $0.utf8.elementsEqual(target.key.utf8) } }
    return isHere ? nil : keys.first?.key
  }

  private func isElsewhere(_ target: StepTarget, _ key: String) -> Failure {
    Failure(
      .uploadGone,
      "upload \(SafeText.oneLine(target.uploadID)) is not at \(name(target)) but at another key of the bucket",
      remedy: "\(run: .abort(bucket: target.url.bucket, key: key, uploadID: target.uploadID))")
  }

  private func isUnknown(_ target: StepTarget) -> Failure {
    Failure(
      .uploadGone,
      "the store knows no upload \(SafeText.oneLine(target.uploadID)) at \(name(target)): it has ended, or the ID or "
        + "the key is another one",
      remedy: "\(run: .listUploads(bucket: target.url.bucket)) shows the uploads that are there")
  }

  private func name(_ target: StepTarget) -> String {
    SafeText.oneLine("s3://\(target.url.bucket)/\(target.key)", limit: .max)
  }
}
