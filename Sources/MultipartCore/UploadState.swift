/// The progress of an upload.
public struct UploadState: Sendable, Equatable {
  /// Bytes in total; nil if unknown, as for a stream.
  public var total: Int64?
  /// Bytes of parts that the store has, plus bytes in flight that the server has acknowledged. Falls when an upload has
  /// to start over.
  public var bytes: Int64
  /// Parts in total; nil while unknown.
  public var parts: Int?
  /// Parts that the store has.
  public var partsDone: Int
  /// Requests that are sending now.
  public var connections: Int
  /// Bytes that this run has sent, including those of failed tries; the rate is computed from this number.
  public var transferred: Int64
  /// What the upload is doing now.
  public var activity: UploadActivity
  /// How often the upload has started over.
  public var beginnings: Int

  init(_ uploader: Uploader) {
    self.init(uploader.progress, activity: uploader.activity)
  }

  init(_ progress: TransferProgress, activity: UploadActivity) {
    total = progress.total
    bytes = progress.bytes
    parts = progress.parts
    partsDone = progress.partsDone
    connections = progress.connections
    transferred = progress.transferred
    self.activity = activity
    beginnings = progress.beginnings
  }
}
