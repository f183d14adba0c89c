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
  /// How many parts the store has.
  public var parts: Int
  /// How many bytes the parts have in total.
  public var bytes: Int64
  /// What the store says about when the upload was begun, if that is not a date.
  public var begunText: String?
}

extension Store {
  /// The unfinished uploads whose keys begin with `prefix`. If the store's list does not end, or is longer than what is
  /// read, `onCut` is told so, and the first ones are returned.
  public func uploads(
    prefix: String = "", onCut: (Failure) -> Void = { _ in }
  ) async throws(Failure) -> [UnfinishedUpload] {
    var found: [UnfinishedUpload] = []
    let wanted = Array(prefix.utf8)
    let list = ListMultipartUploads(address, prefix: listable(prefix))
    let listing = try await client.allUploads(list, retrying: retry)
    if !listing.isComplete {
      onCut(
        Failure(
          .server, "the store lists more uploads than are read here; these are the first \(listing.uploads.count)",
          remedy: "end some of them, or name a longer prefix"
        ).at(list.place))
    }
    // Both times are the store's: this machine's clock may be wrong by days.
    let now = listing.date ?? world.now()
    for upload in listing.uploads {
      // An upload that has ended since the list was made is left out.
      guard let (key, parts) = try await parts(of: upload, below: wanted) else { continue }
      found.append(
        UnfinishedUpload(
          key: key, uploadID: upload.uploadID, begun: upload.initiated,
          age: upload.initiated.map { .seconds(max(0, now.seconds - $0.seconds)) }, parts: parts.count,
          bytes: parts.reduce(0) { $0 + $1.size }, begunText: upload.initiated?.iso8601 ?? upload.initiatedText))
    }
    return found
  }

  /// Aborts an upload that the store has listed, and returns once it lists none of its parts. That it has ended since is
  /// no failure.
  public func abort(_ upload: UnfinishedUpload) async throws(Failure) {
    _ = try await UploadSteps(address(upload.key), uploadID: upload.uploadID, client, retry).abort()
  }

  /// The parts of an upload. Where the list leaves the key open, the store has them under one of its readings.
  private func parts(
    of upload: ListMultipartUploads.Upload, below wanted: [UInt8]
  ) async throws(Failure) -> (key: String, parts: [ListParts.Part])? {
    for key in upload.keys where key.utf8.starts(with: wanted) {
      let list = ListParts(address(key), uploadID: upload.uploadID)
      do throws(Failure) {
        return (key, try await client.allParts(list, retrying: retry).parts)
      } catch {
        guard error.code == .uploadGone else {
          throw error.at(list.place)
        }
      }
    }
    return nil
  }
}
