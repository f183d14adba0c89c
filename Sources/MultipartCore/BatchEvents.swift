/// The outcome of one object of a batch.
public struct BatchResult: Sendable {
  /// The file's path, or the name of a stream.
  public var source: String
  /// The object's bucket.
  public var bucket: String
  /// The object's key.
  public var key: String
  /// The object with its proof, or the reason for the failure.
  public var result: Result<UploadedObject, Failure>
  /// How long the object took, without the time in which it waited for other objects of its run.
  public var took = Duration.zero
  /// The source's name in a list of sources; nil if none can name it, such as a folder that cannot be read.
  public var name: [UInt8]?
}

/// What a batch reports while it runs.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum BatchEvent: Sendable {
  /// An object was uploaded, was already up to date, or has failed.
  case ended(BatchResult)
  /// A source without an object: a link that is not followed, a socket, an empty folder.
  case skipped(SkippedSource)
  /// An object that a dry run would upload or download. The source is always the file.
  case planned(source: String, bucket: String, key: String, size: Int64?)
  /// An object was proven to be identical to its file.
  case verified(VerifiedObject, source: String, bucket: String, key: String, took: Duration)
  /// An object was downloaded, or its file was left as it is.
  case downloaded(DownloadedObject, file: String, bucket: String, key: String, took: Duration)
  /// An event of one object's download.
  case download(DownloadEvent, file: String, bucket: String, key: String)
  /// An event of one object's upload.
  case upload(UploadEvent, source: String, bucket: String, key: String)
}

/// A source that is not uploaded, and the reason.
public struct SkippedSource: Sendable {
  /// The source's path.
  public var path: String
  /// Why it is not sent.
  public var reason: Reason

  /// What keeps a file, or an object of a download, out of a run.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Reason: Sendable, CaseIterable {
    case socket, device, pipe
    /// A rule excludes it; reported only in a dry run.
    case excluded
    /// A symbolic link, which the run does not follow.
    case link
    /// A symbolic link that leads to a folder that contains it.
    case loop
    case emptyFolder
    /// An object that stands for a folder.
    case folderMarker
    /// This program's own files in its state folder.
    case ownState
    /// A file in which this run writes a report.
    case ownReport

    /// The reason as a clause for people: `a socket`.
    public var words: String {
      switch self {
      case .socket: "a socket"
      case .device: "a device"
      case .pipe: "a named pipe"
      case .excluded: "excluded"
      case .link: "a symbolic link"
      case .loop: "a symbolic link that leads in a circle"
      case .emptyFolder: "an empty folder, which has no object"
      case .folderMarker: "an empty object that marks a folder, which has no file"
      case .ownState: "this program's own state"
      case .ownReport: "this run writes a report there"
      }
    }
  }
}

/// The totals of a batch.
public struct BatchSummary: Sendable, Equatable {
  /// Objects that were uploaded.
  public var uploaded = 0
  /// Objects that were downloaded.
  public var downloaded = 0
  /// Objects, or their files, that were already up to date.
  public var unchanged = 0
  /// Objects, or files, that already existed and were left as they are, whatever they contain.
  public var existing = 0
  /// Objects that failed.
  public var failed = 0
  /// Sources without an object.
  public var skipped = 0
  /// The bytes of the objects that were uploaded, downloaded, already up to date, or verified.
  public var bytes: Int64 = 0
  /// Bytes that were sent, including those of failed tries.
  public var bytesSent: Int64 = 0
  /// Bytes that were received, including those of failed tries.
  public var bytesReceived: Int64 = 0
  /// Bytes of resumed transfers that were in place before this run.
  public var bytesResumed: Int64 = 0
  /// Requests that were sent again.
  public var retries = 0
  /// The run ended before all objects had: one failed, the sources could not be read to their end, or the run was
  /// cancelled or at its deadline.
  public var hasGivenUp = false
  /// Objects that a dry run would upload or download.
  public var planned = 0
  /// Objects that were proven to be identical to their files.
  public var verified = 0

  /// The totals of a run that has done nothing yet.
  public init() {}

  /// Objects that succeeded.
  var done: Int { uploaded + downloaded + unchanged + existing + verified }
}

/// The progress of a batch.
public struct BatchState: Sendable {
  /// The totals of the objects that have finished.
  public var summary = BatchSummary()
  /// How many objects have been found so far.
  public var found = 0
  /// The bytes of the objects found so far, as far as their sizes are known.
  public var foundBytes: Int64 = 0
  /// No more objects will be found.
  public var foundAll = false
  /// Bytes of the objects found so far that the store does not have yet.
  public var remaining: Int64 = 0
  /// Bytes that the store has, plus bytes in flight that the server has acknowledged.
  public var bytes: Int64 = 0
  /// Bytes that this run has sent, including those of failed tries; the rate is computed from this number.
  public var transferred: Int64 = 0
  /// Requests that are sending now.
  public var connections = 0
  /// The objects in progress, the oldest first.
  public var running: [Running] = []

  /// An object in progress.
  public struct Running: Sendable {
    /// The file's path, or the name of a stream.
    public var source: String
    /// The object's progress.
    public var state: UploadState

    init(_ source: String, _ state: UploadState) { (self.source, self.state) = (source, state) }
  }
}
