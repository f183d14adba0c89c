import MultipartBasics

/// A multipart upload that was begun, but neither completed nor aborted.
public struct UnfinishedUpload: Sendable {
  /// The key of the object that it would create.
  public var key: String
  /// The store's id of the upload.
  public var uploadID: String
  /// When it was begun; nil if the store does not say.
  public var begun: Timestamp?
  /// How long ago that was, by the store's clock; nil if the store does not say.
  public var age: Duration?
  /// How many parts the store has; nil if it refuses to list them.
  public var parts: Int?
  /// How many bytes the parts have in total; nil if the store refuses to list them.
  public var bytes: Int64?
  /// What the store says about when the upload was begun, if that is not a date.
  public var begunText: String?
}

extension Store {
  /// The unfinished uploads whose keys begin with `prefix`. `onGap` is told what is missing: uploads, if the store's list
  /// of them is too long or does not end, or the parts of uploads, if the store refuses to list them.
  public func uploads(
    prefix: String = "", onGap: (Failure) -> Void = { _ in }
  ) async throws(Failure) -> [UnfinishedUpload] {
    var found: [UnfinishedUpload] = []
    let wanted = Array(prefix.utf8)
    let list = ListMultipartUploads(address, prefix: listable(prefix))
    let listing = try await client.allUploads(list, retrying: retry)
    if !listing.isComplete {
      onGap(
        Failure(
          .server,
          "the store lists more uploads than are read here, or its list has no end; these are the first "
            + String(listing.uploads.count),
          remedy: "name a longer prefix, or end some of them"
        ).at(list.place))
    }
    // Both times are the store's: this machine's clock may be wrong by days.
    let now = listing.date ?? world.now()
    var refusals: [Failure] = []
    for upload in listing.uploads {
      // An upload that has ended since the list was made is left out.
      guard let (key, parts) = try await parts(of: upload, below: wanted, &refusals) else { continue }
      found.append(
        UnfinishedUpload(
          key: key, uploadID: upload.uploadID, begun: upload.initiated,
          age: upload.initiated.map { .seconds(max(0, now.seconds - $0.seconds)) }, parts: parts?.count,
          bytes: parts?.reduce(0) { $0 + $1.size }, begunText: upload.initiated?.iso8601 ?? upload.initiatedText))
    }
    if var refusal = refusals.first {
      let more = refusals.count - 1
      if more > 0 {
        refusal.message += "; the parts of \(Human.count(more, "other upload")) could not be listed either"
      }
      onGap(refusal)
    }
    return found
  }

  /// Aborts an upload that the store has listed, and returns once it lists none of its parts. That it has ended since is
  /// no failure.
  @discardableResult
  public func abort(_ upload: UnfinishedUpload) async throws(Failure) -> MultipartUpload.AbortOutcome {
    try await UploadSteps(address(upload.key), uploadID: upload.uploadID, client, retry).abort()
  }

  /// The parts of an upload. Where the list leaves the key open, the store has them under one of its readings.
  private func parts(
    of upload: ListMultipartUploads.Upload, below wanted: [UInt8], _ refusals: inout [Failure]
  ) async throws(Failure) -> (key: String, parts: [ListParts.Part]?)? {
    var refused: (key: String, failure: Failure)?
    for key in upload.keys where key.utf8.starts(with: wanted) {
      let list = ListParts(address(key), uploadID: upload.uploadID)
      do throws(Failure) {
        return (key, try await client.allParts(list, retrying: retry).parts)
      } catch {
        switch error.code {
        case .uploadGone: continue
        // The others may be readable: the permission can depend on the key, and the encryption on the upload.
        case .credentials, .refused: refused = refused ?? (key, error.at(list.place))
        default: throw error.at(list.place)
        }
      }
    }
    guard let refused else { return nil }
    refusals.append(refused.failure)
    return (refused.key, nil)
  }
}
