/// How far an upload has come.
public struct UploadState: Sendable, Equatable {
  /// Nil where it is not known, as of a stream.
  public var total: Int64?
  /// What the store has, and what its side has acknowledged of parts under way. Less than before where an upload had to
  /// begin anew.
  public var bytes: Int64
  /// Nil while it is not known.
  public var parts: Int?
  /// Those that the store has.
  public var partsDone: Int
  /// Requests that are sending at this moment.
  public var connections: Int
  /// Bytes that this run has brought to the other side, those of failed tries too: what tells the rate.
  public var taken: Int64
  /// At this moment.
  public var activity: UploadActivity
  /// How often it has begun anew.
  package var beginnings: Int

  init(_ uploader: Uploader) {
    let progress = uploader.progress
    total = progress.total
    bytes = progress.bytes
    parts = progress.parts
    partsDone = progress.partsDone
    connections = progress.connections
    taken = progress.taken
    activity = uploader.activity
    beginnings = progress.beginnings
  }
}
