/// What became of one object of a run of many.
public struct BatchResult: Sendable {
  /// The file's path, or the name of a stream.
  public var source: String
  /// The object's bucket.
  public var bucket: String
  /// The object's key.
  public var key: String
  /// The object with its proof, or why there is none.
  public var result: Result<UploadedObject, Failure>
  /// Without the time in which it waited for other objects of its run.
  public var took = Duration.zero
  /// Its name in the list of files that it came from.
  package var name: [UInt8]
}

/// What a run of many reports.
public enum BatchEvent: Sendable {
  /// An object has arrived, was there already, or has failed.
  case ended(BatchResult)
  /// A source that has no object: a link that is not followed, a socket, an empty folder.
  case skipped(SkippedSource)
  /// An object that would be uploaded or downloaded, in a run that only looks. The source is always the file.
  case planned(source: String, bucket: String, key: String, size: Int64?)
  /// An object was shown to be its file.
  case verified(VerifiedObject, source: String, bucket: String, key: String, took: Duration)
  /// An object has come down, or its file was left as it is.
  case downloaded(DownloadedObject, file: String, bucket: String, key: String, took: Duration)
  /// What the download of one object reports.
  case download(DownloadEvent, file: String, bucket: String, key: String)
  /// What the upload of one object reports.
  case upload(UploadEvent, source: String, bucket: String, key: String)
}

/// A source that is not uploaded, and why.
public struct SkippedSource: Sendable {
  /// The source's path.
  public var path: String
  /// A clause for people: `a socket`.
  public var why: String
}

/// The totals of a run of many.
public struct BatchSummary: Sendable, Equatable {
  /// Objects that were uploaded.
  public var uploaded = 0
  /// Objects that came down.
  public var downloaded = 0
  /// Objects, or their files, that were there already.
  public var unchanged = 0
  /// Objects, or files, that were there and were left as they are, whatever they hold.
  public var existing = 0
  /// Objects with which it did not work.
  public var failed = 0
  /// Sources without an object.
  public var skipped = 0
  /// The bytes of the objects that were uploaded, came down, were there already, or were verified.
  public var bytes: Int64 = 0
  /// Bytes that were sent, including those of failed tries.
  public var bytesSent: Int64 = 0
  /// Bytes that came, including those of failed tries.
  public var bytesReceived: Int64 = 0
  /// Bytes that were there before this run, of what was resumed.
  public var bytesResumed: Int64 = 0
  /// Requests that were sent again.
  public var retries = 0
  /// The run has stopped because an object failed; the objects that it had not begun were not tried.
  public var hasGivenUp = false
  /// Objects that would be uploaded or downloaded, in a run that only looks.
  public var planned = 0
  /// Objects that were shown to be their files.
  public var verified = 0

  package init() {}

  /// Objects with which it worked.
  var done: Int { uploaded + downloaded + unchanged + existing }
}

/// The progress of a run of many.
public struct BatchState: Sendable {
  /// The totals of the objects that have ended.
  public var summary = BatchSummary()
  /// Objects that were found so far.
  public var found = 0
  /// Their bytes, as far as they are known.
  public var foundBytes: Int64 = 0
  /// No more objects will be found.
  public var foundAll = false
  /// Bytes that the store does not have yet, of the objects that were found.
  public var remaining: Int64 = 0
  /// Bytes that the store has, and bytes being sent that its side has acknowledged.
  public var bytes: Int64 = 0
  /// Bytes that this run has sent, including those of failed tries; the rate is computed from it.
  public var transferred: Int64 = 0
  /// Requests that are sending now.
  public var connections = 0
  /// Those that are under way, the oldest first.
  public var running: [Running] = []

  /// One that is under way.
  public struct Running: Sendable {
    /// The file's path, or the name of a stream.
    public var source: String
    /// Its progress.
    public var state: UploadState

    package init(_ source: String, _ state: UploadState) { (self.source, self.state) = (source, state) }
  }
}
