/// An unfinished upload that this machine has recorded in a state folder.
public struct RecordedUpload: Sendable {
  /// The origin of the store, such as `https://s3.eu-west-1.amazonaws.com`.
  public let origin: String
  /// The bucket of the object that it would create.
  public let bucket: String
  /// The key of the object that it would create.
  public let key: String
  /// The store's id of the upload.
  public let uploadID: String
  /// The file that is uploaded: its path from the root, or the descriptor that it was read from.
  public let source: FilePath
  /// When the upload was begun, by the store's clock.
  public let begun: Timestamp
  /// How many parts are recorded as sent. A run that was killed may have sent more; the store's list decides.
  public let parts: Int
  /// How many bytes these parts have in total.
  public let bytes: Int64
  let book: RecordBook
  let target: RecordTarget

  init(_ record: UploadRecord, in book: RecordBook) {
    self.book = book
    target = record.header.target
    (origin, bucket, key) = (target.origin, target.bucket, target.key)
    (uploadID, source, begun) = (record.header.uploadID, record.header.sourcePath, record.header.created)
    parts = record.parts.count
    bytes = record.parts.values.reduce(0) { $0 + $1.size }
  }

  /// Whether a run is working on it now.
  public var isRunning: Bool { book.isLocked(target) }
}
