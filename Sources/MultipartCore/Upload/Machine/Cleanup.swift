/// Aborts an upload until nothing is left of it: for the run that began it, for an obsolete upload, and for a caller
/// that names one by its ID.
///
/// A part that the store was still receiving during the abort can appear after it, so the abort is repeated until the
/// list shows that the upload is gone. If the store no longer has the upload, no list is requested: some stores keep
/// listing the parts of a completed one.
struct Cleanup: Sendable {
  enum State: Sendable {
    case aborting, listing, pausing, over
  }

  enum Next: Sendable {
    case abort, list
    /// Tries again after a pause, by the caller's policy; if that has no try left, the upload is left behind.
    case again(after: Failure, attempt: Int)
    /// Nothing is left of the upload.
    case gone
  }

  let uploadID: String
  private(set) var state = State.aborting
  private(set) var attempt = 1
  private(set) var outcome = MultipartUpload.AbortOutcome.wasGone

  var isOver: Bool {
    if case .over = state { true } else { false }
  }

  init(_ uploadID: String) {
    self.uploadID = uploadID
  }

  /// The next step; nil for an answer that was not requested.
  mutating func aborted(_ failure: Failure?) -> Next? {
    guard case .aborting = state else { return nil }
    guard let failure else {
      outcome = .aborted
      state = .listing
      return .list
    }
    return failure.code == .uploadGone ? end() : again(failure)
  }

  mutating func listed(isThere: Bool) -> Next? {
    guard case .listing = state else { return nil }
    return isThere ? again(Failure(.server, "the upload still exists after its abort")) : end()
  }

  mutating func listFailed(_ failure: Failure) -> Next? {
    guard case .listing = state else { return nil }
    // Without the permission to list, only the answer to the abort is left.
    if failure.code == .credentials { outcome = .unlisted }
    // A missing bucket has no uploads.
    let isOver = outcome == .unlisted || failure.code == .uploadGone || failure.s3Code == "NoSuchBucket"
    return isOver ? end() : again(failure)
  }

  /// Continues after the pause.
  mutating func resume() -> Next? {
    guard case .pausing = state else { return nil }
    state = .aborting
    return .abort
  }

  private mutating func end() -> Next {
    state = .over
    return .gone
  }

  private mutating func again(_ failure: Failure) -> Next {
    state = .pausing
    attempt += 1
    return .again(after: failure, attempt: attempt - 1)
  }
}

extension S3Client {
  /// The failure of an abort; nil if the store has confirmed it.
  func failureOfAbort(_ abort: AbortMultipartUpload) async -> Failure? {
    do throws(Failure) {
      return try await perform(abort) == .aborted ? nil : Failure(.uploadGone, "the upload is gone")
    } catch {
      return error
    }
  }

  /// Whether the store still has an upload that had parts. If it is gone, S3 returns NoSuchUpload; some stores return
  /// NoSuchKey, or a list without parts.
  func hasParts(_ list: ListParts) async throws(Failure) -> Bool {
    try await countOfParts(list).map { $0 > 0 } ?? false
  }

  /// Whether the store still has the upload. A list without parts may also be that of an upload that had none: then the
  /// list of uploads decides.
  func hasUpload(_ list: ListParts) async throws(Failure) -> Bool {
    guard let count = try await countOfParts(list) else { return false }
    if count > 0 { return true }
    let uploads = ListMultipartUploads(list.address.inBucket, prefix: list.address.key)
    do throws(Failure) {
      return try await allUploads(uploads, mostPages: 2).uploads.contains {
        $0.uploadID.utf8.elementsEqual(list.uploadID.utf8)
      }
    } catch {
      // Not every store has the operation, some answer with another list, and the permission to abort does not include
      // it.
      let isOther = error.code == .server && error.status == 200
      if isOther || error.code == .refused || error.code == .credentials { return false }
      throw error
    }
  }

  /// The number of parts on the first page of the list; nil if the store no longer has the upload.
  private func countOfParts(_ list: ListParts) async throws(Failure) -> Int? {
    do throws(Failure) {
      return try await perform(list).parts.count
    } catch {
      if error.code == .uploadGone { return nil }
      throw error
    }
  }
}
