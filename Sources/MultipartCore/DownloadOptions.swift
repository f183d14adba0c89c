/// Where the bytes of an object go.
public struct DownloadOutput: Sendable {
  enum Kind: Sendable {
    case file(FilePath)
    case descriptor(Int32, name: String)
    /// `errors` becomes its standard error; nil: this process's.
    case command([[UInt8]], errors: Int32?)
    case feed(ByteFeed)
  }

  let kind: Kind

  /// A file, which has its name only once it is whole and proven. Without one at this path it is made; what a link leads to
  /// is replaced. Into a named pipe or a device the bytes are written in order.
  public static func file(_ path: String) -> DownloadOutput { DownloadOutput(kind: .file(FilePath(path))) }

  /// An open descriptor, written in order. The last bytes come only once the object is proven.
  public static func descriptor(_ descriptor: Int32, name: String = "descriptor") -> DownloadOutput {
    DownloadOutput(kind: .descriptor(descriptor, name: name))
  }

  /// The standard input of a command, which is looked up in PATH. The object has arrived only if the command ends with
  /// 0. If the download fails, the command and what it has started are ended before they can see the end of their
  /// input.
  public static func command(_ words: [String]) -> DownloadOutput {
    .command(words.map { Array($0.utf8) }, errors: nil)
  }

  package static func command(_ words: [[UInt8]], errors: Int32?) -> DownloadOutput {
    DownloadOutput(kind: .command(words, errors: errors))
  }

  package static func file(_ path: FilePath) -> DownloadOutput { DownloadOutput(kind: .file(path)) }

  /// What messages call it.
  package var name: String {
    switch kind {
    case .file(let path): path.text
    case .descriptor(_, let name): name
    case .command(let words, _): String(decoding: words.first ?? [], as: UTF8.self)
    case .feed: "bytes"
    }
  }
}

/// Which object comes down, how, and what may become of a file that is there.
public struct DownloadOptions: Sendable {
  /// This version of the object instead of the newest.
  public var versionID: String?
  /// The caller's own encryption key (SSE-C).
  public var customerKey: CustomerKey?
  /// Only these bytes of the object; their place in it cannot be proven by a checksum.
  public var range: ClosedRange<Int64>?
  /// Only this part of the object, as it was uploaded.
  public var part: Int?
  /// How many bytes one request asks for; nil: 8 MiB, and 4 MiB where they are written in order.
  public var partSize: Int64?
  /// Replaces a file that is there. Otherwise it is a failure.
  public var overwrites = false
  /// Leaves a file that is the object already, compared by checksum or ETag.
  public var skipsSame = false
  /// Replaces a file only if the object is newer, and leaves it otherwise.
  public var ifNewer = false
  /// Stops the download after this time.
  public var deadline: Duration?
  /// Loads a slow range a second time when it holds up the end.
  public var hedges = true

  /// The sizes that one request may ask for.
  public static let partSizes: ClosedRange<Int64> = 64 << 10...5 << 30

  /// The defaults.
  public init() {}
}

/// What a download reports while it runs.
public enum DownloadEvent: Sendable, Equatable {
  /// What is known of the object, and in how many requests it comes.
  case started(size: Int64, ranges: Int, rangeSize: Int64)
  /// Ranges that an earlier run has left, and whose bytes on disk have their checksums.
  case resumed(ranges: Int, bytes: Int64)
  /// A range is there.
  case range(number: Int, size: Int64, took: Duration)
  /// A request, or this range, is tried again after the wait.
  case retry(range: Int?, attempt: Int, wait: Duration, cause: Failure.Code, message: Wording)
  /// What came is not the object: every range is loaded once more, from other connections.
  case reloads
  /// The number of connections changes.
  case connections(Int, why: String)
  /// A warning to show to the user; the download continues.
  case warning(Wording)
}

/// An object that has come down, and the proof that the bytes are its.
public struct DownloadedObject: Sendable {
  /// What has become of the target.
  public enum Outcome: Sendable, Equatable {
    /// It was written.
    case completed
    /// It was the object already.
    case unchanged
    /// It was left because the object is not newer.
    case skipped
    /// It would be written, by a run that does not only look.
    case planned
  }

  /// What has become of the target.
  public var outcome = Outcome.completed
  /// Bytes that were asked for: the object, or a range of it.
  public var size: Int64
  /// In how many requests it came.
  public var parts: Int
  /// As the store gives it, including the quotes.
  public var etag: String?
  /// The version's id, if the bucket keeps versions.
  public var versionID: String?
  /// The store's checksum of the object, if the bytes were compared with it.
  public var checksum: ObjectChecksum?
  /// What proves the bytes, for people: `CRC64NVME abc= of the object is the file's`.
  public var evidence: String
  /// Bytes that came, including those of failed tries.
  public var bytesReceived: Int64
  /// Bytes that an earlier run has left.
  public var bytesResumed: Int64
  /// Requests that were sent again.
  public var retries: Int
  /// The id by which the store finds the first request in its logs.
  public var requestID: String?

  /// Nothing has come yet.
  init(_ outcome: Outcome, _ object: ObjectInfo) {
    (self.outcome, size, parts, etag, versionID) = (outcome, object.size ?? 0, 0, object.etag, object.versionID)
    (evidence, bytesReceived, bytesResumed, retries, requestID) = ("", 0, 0, 0, object.requestID)
  }
}
