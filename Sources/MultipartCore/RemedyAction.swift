/// Something to do about an unfinished upload or an unreachable store; part of a ``Wording``.
public enum RemedyAction: Sendable, Equatable, CustomStringConvertible {
  /// Abort this upload, so that its parts are deleted.
  case abort(bucket: String, key: String, uploadID: String)
  /// List the unfinished uploads of a bucket, or those whose keys begin with `key`.
  case listUploads(bucket: String, key: String? = nil)
  /// List the unfinished uploads that this machine has records of.
  case listRecordedUploads
  /// List the buckets of the store.
  case listBuckets
  /// Abort all unfinished uploads of a bucket that are older than this many days.
  case cleanUp(bucket: String, olderThanDays: Int)
  /// Find out why a store cannot be reached or refuses uploads.
  case examine
  /// Send a part of an upload.
  case sendPart
  /// List the parts of an upload.
  case listParts
  /// Sign the requests of a ticket again: those of the missing parts, or all of them.
  case renewTicket(all: Bool)
  /// Upload the whole source in one call, which checks every answer.
  case upload
  /// Upload what a web address serves, as it is downloaded.
  case uploadFromWeb(url: String)
  /// List the objects beside the one that the failure is about.
  case listObjects
  /// Show what is known about the object that the failure is about.
  case headObject
  /// Download all objects below the key that the failure is about.
  case downloadFolder

  /// The action in the library's own words.
  public var description: String {
    switch self {
    case .abort(let bucket, let key, let uploadID):
      "MultipartUpload.abort() of the upload \(uploadID) of s3://\(bucket)/\(key)"
    case .listUploads(let bucket, let key):
      "Store.uploads(prefix:) of s3://\(bucket)" + (key.map { "/\($0)" } ?? "")
    case .listRecordedUploads: "RecordedUploads(stateFolder:)"
    case .listBuckets: "Store.buckets()"
    case .cleanUp(let bucket, let days): "abort the uploads of s3://\(bucket) that are older than \(days) days"
    case .examine: "Store.examine()"
    case .sendPart: "MultipartUpload.part()"
    case .listParts: "MultipartUpload.parts()"
    case .renewTicket(let all): "Store.renewTicket()" + (all ? " for all parts" : "")
    case .upload: "Store.upload()"
    case .uploadFromWeb(let url): "an upload of what \(Redaction.url(url)) serves"
    case .listObjects: "Store.list(prefix:)"
    case .headObject: "Store.head()"
    case .downloadFolder: "Store.downloads()"
    }
  }

  func mapTexts(_ change: (String) -> String) -> RemedyAction {
    switch self {
    case .abort(let bucket, let key, let uploadID):
      .abort(bucket: change(bucket), key: change(key), uploadID: change(uploadID))
    case .listUploads(let bucket, let key): .listUploads(bucket: change(bucket), key: key.map(change))
    case .cleanUp(let bucket, let days): .cleanUp(bucket: change(bucket), olderThanDays: days)
    case .uploadFromWeb(let url): .uploadFromWeb(url: change(url))
    case .listRecordedUploads, .listBuckets, .examine, .sendPart, .listParts, .renewTicket, .upload,
      .listObjects, .headObject, .downloadFolder:
      self
    }
  }
}
