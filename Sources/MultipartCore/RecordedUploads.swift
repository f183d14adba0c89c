/// The unfinished uploads that this machine has recorded in a state folder.
///
///     for upload in try RecordedUploads(stateFolder: folder).uploads where !upload.isRunning {
///       try await store.abort(upload)
///     }
public struct RecordedUploads: Sendable {
  /// The uploads, oldest first.
  public let uploads: [RecordedUpload]
  /// One failure for each file in the folder that is not a usable record.
  public let unusable: [Failure]

  /// Reads the folder, which need not exist.
  public init(stateFolder: String) throws(Failure) {
    let book = RecordBook(folder: stateFolder)
    let listing = try book.listing()
    uploads = listing.records.map { RecordedUpload($0, in: book) }
    unusable = listing.unusable
  }
}

extension Store {
  /// How long ago a recorded upload of this store was begun, by the store's clock; nil if the store does not say, or
  /// the upload is gone.
  public func age(of upload: RecordedUpload) async throws(Failure) -> Duration? {
    try requireOwn(upload)
    let list = ListParts(address(upload.key), uploadID: upload.uploadID)
    do throws(Failure) {
      let now = try await client.allParts(list, retrying: retry).date
      return now.map { .seconds(max(0, $0.seconds - upload.begun.seconds)) }
    } catch {
      guard error.code == .uploadGone else { throw error.at(list.place) }
      return nil
    }
  }

  /// Aborts a recorded upload of this store, and removes its record. Returns nil, and does nothing, while a run is
  /// working on it.
  @discardableResult
  public func abort(_ upload: RecordedUpload) async throws(Failure) -> MultipartUpload.AbortOutcome? {
    try requireOwn(upload)
    let steps = UploadSteps(address(upload.key), uploadID: upload.uploadID, client, retry)
    return try await upload.ending(world) { () throws(Failure) in try await steps.abort() }
  }

  private func requireOwn(_ upload: RecordedUpload) throws(Failure) {
    guard !upload.origin.utf8.elementsEqual(signer.origin.utf8) else { return }
    throw Failure(
      .usage, "the upload is at \(upload.origin), not at \(signer.origin)",
      remedy: "name that store with \(.endpoint) and \(.region)")
  }
}
