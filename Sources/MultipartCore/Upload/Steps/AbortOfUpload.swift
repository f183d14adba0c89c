import MultipartBasics

/// Aborts an upload by its id.
///
/// A store returns NoSuchUpload for an upload that has ended, for an id that never existed, and for the upload of
/// another key, which still exists. So NoSuchUpload is a success only if something shows that this upload was at this
/// key.
struct AbortOfUpload {
  private let upload: MultipartUpload
  private var store: Store { upload.store }

  init(_ upload: MultipartUpload) {
    self.upload = upload
  }

  func run() async throws(Failure) -> MultipartUpload.AbortOutcome {
    // Some stores check only the id, and would abort the upload of another key.
    if let key = await otherKey() { throw isElsewhere(key) }
    if let record = upload.recorded {
      guard let outcome = try await store.abort(record) else { throw record.inUse }
      return outcome
    }
    let listed = await isListed()
    let outcome = try await upload.steps.abort()
    guard listed ?? (outcome != .wasGone) else { throw isUnknown() }
    return outcome
  }

  /// Whether the store lists the upload; nil if it does not say: the permission to abort does not include listing.
  private func isListed() async -> Bool? {
    let list = ListParts(upload.address, uploadID: upload.uploadID, maximumParts: 1)
    do throws(Failure) {
      _ = try await store.client.perform(list, retrying: store.retry)
      return true
    } catch {
      return error.code == .uploadGone ? false : nil
    }
  }

  /// The other key that has the upload, if one page of the bucket's list shows it.
  private func otherKey() async -> String? {
    let page = try? await store.client.perform(ListMultipartUploads(store.address))
    let keys = page?.uploads.filter { $0.uploadID.utf8.elementsEqual(upload.uploadID.utf8) } ?? []
    let isHere = keys.contains { $0.keys.contains { $0.utf8.elementsEqual(upload.key.utf8) } }
    return isHere ? nil : keys.first?.key
  }

  private func isElsewhere(_ key: String) -> Failure {
    Failure(
      .uploadGone,
      "upload \(SafeText.oneLine(upload.uploadID)) is not at \(upload.name) but at another key of the bucket",
      remedy: "\(run: .abort(bucket: store.bucket, key: key, uploadID: upload.uploadID))")
  }

  private func isUnknown() -> Failure {
    Failure(
      .uploadGone,
      "the store has no upload \(SafeText.oneLine(upload.uploadID)) at \(upload.name)",
      remedy: S3Hints.noSuchUpload(store.bucket))
  }
}
