/// Ends an upload: aborts it until nothing is left. For the run that began it, for an old upload that is of no use any
/// more, and for whoever names one by its id.
///
/// A part that was under way at the store when the abort came can appear after it, so the abort is repeated until the
/// list says that the upload is gone. Of an upload that the store no longer knows there is no list to look at: of a
/// completed one, some stores go on listing the parts.
struct Cleanup: Sendable {
  enum State: Sendable {
    case aborting, listing, pausing, over
  }

  enum Next: Sendable {
    case abort, list
    /// After a pause, by the policy of whoever asks; where that has no try left, the upload is left behind.
    case again(after: Failure, attempt: Int)
    /// Nothing is left of it.
    case gone
  }

  let uploadID: String
  private(set) var state = State.aborting
  private(set) var attempt = 1
  /// The store has confirmed an abort, so the upload was there.
  private(set) var wasThere = false

  var isOver: Bool {
    if case .over = state { true } else { false }
  }

  init(_ uploadID: String) {
    self.uploadID = uploadID
  }

  /// Nil for an answer that nobody has asked for.
  mutating func aborted(_ failure: Failure?) -> Next? {
    guard case .aborting = state else { return nil }
    guard let failure else {
      wasThere = true
      state = .listing
      return .list
    }
    return failure.code == .uploadGone ? end() : again(failure)
  }

  mutating func listed(isThere: Bool) -> Next? {
    guard case .listing = state else { return nil }
    return isThere ? again(Failure(.server, "the upload is still there after its abort")) : end()
  }

  mutating func listFailed(_ failure: Failure) -> Next? {
    guard case .listing = state else { return nil }
    // Whoever may not list has only the abort's own answer.
    return failure.code == .uploadGone || failure.code == .credentials ? end() : again(failure)
  }

  /// The pause is over.
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
  /// Nil when the store has confirmed the abort.
  func failureOfAbort(_ abort: AbortMultipartUpload) async -> Failure? {
    do throws(Failure) {
      return try await perform(abort) == .aborted ? nil : Failure(.uploadGone, "the upload is gone")
    } catch {
      return error
    }
  }

  /// Whether the store still has the upload. One that is gone shows as NoSuchUpload; some stores say NoSuchKey, or answer
  /// a list without parts.
  func hasUpload(_ list: ListParts) async throws(Failure) -> Bool {
    do throws(Failure) {
      return try await !perform(list).parts.isEmpty
    } catch {
      if error.code == .uploadGone || error.status == 404 { return false }
      throw error
    }
  }
}
