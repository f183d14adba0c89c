/// Where the bytes of an object go.
public struct DownloadOutput: Sendable {
  enum Kind: Sendable {
    case file(FilePath)
    case descriptor(Int32, name: String)
    /// `errors` becomes the command's standard error; nil: this process's.
    case command([[UInt8]], errors: Int32?)
    case feed(ByteFeed)
  }

  let kind: Kind

  /// A file, which gets its name only once it is whole and proven. It is created if it does not exist; a symbolic link
  /// is followed, and its target replaced. A named pipe or a device is written in order.
  public static func file(_ path: String) -> DownloadOutput { DownloadOutput(kind: .file(FilePath(path))) }

  /// An open descriptor, written in order. The last bytes are written only once the object is proven.
  public static func descriptor(_ descriptor: Int32, name: String = "descriptor") -> DownloadOutput {
    DownloadOutput(kind: .descriptor(descriptor, name: name))
  }

  /// The standard input of a command, which is looked up in PATH. The download succeeds only if the command exits with
  /// 0. If the download fails, the command and the processes it has started are killed before they can see the end of
  /// their input.
  public static func command(_ words: [String]) -> DownloadOutput {
    .command(words.map { Array($0.utf8) }, errors: nil)
  }

  /// The standard input of a command whose words need not be UTF-8. `errors` becomes its standard error; nil: that of
  /// this process.
  public static func command(_ words: [[UInt8]], errors: Int32?) -> DownloadOutput {
    DownloadOutput(kind: .command(words, errors: errors))
  }

  /// A file at a path that need not be UTF-8.
  public static func file(_ path: FilePath) -> DownloadOutput { DownloadOutput(kind: .file(path)) }

  /// The name in messages; empty for bytes that this process reads.
  var name: String {
    switch kind {
    case .file(let path): path.text
    case .descriptor(_, let name): name
    case .command(let words, _): String(decoding: words.first ?? [], as: UTF8.self)
    case .feed: ""
    }
  }
}

/// Which object is downloaded, how, and what happens to a file that already exists.
public struct DownloadOptions: Sendable {
  /// The version to download instead of the newest.
  public var versionID: String?
  /// The caller's own encryption key (SSE-C).
  public var customerKey: CustomerKey?
  /// Downloads only these bytes of the object; their position in it cannot be proven by a checksum.
  public var range: ClosedRange<Int64>?
  /// Downloads only this part of the object, as it was uploaded.
  public var part: Int?
  static let rangeSize: Int64 = 8 << 20
  /// Where the bytes are written in order, and on a line of 1 ms or more that was never seen to be fast.
  static let orderedRangeSize: Int64 = 4 << 20
  /// On a line that was slow, or lost packets.
  static let leastRangeSize: Int64 = 1 << 20
  /// On a line of 5 ms or more that was never seen to be fast. If losses limit each connection, many ranges are needed,
  /// also of a short object.
  static func farRangeSize(_ length: Int64) -> Int64 {
    let ranges: Int64 = 256
    let mebis = length / (ranges << 20) + (length % (ranges << 20) == 0 ? 0 : 1)
    return min(orderedRangeSize, max(leastRangeSize, mebis << 20))
  }
  /// How many bytes one request asks for; nil: 8 MiB, less where the line or a pipe makes that better.
  public var partSize: Int64?
  /// Replaces an existing file. Otherwise it is an error if the file exists.
  public var overwrites = false
  /// Leaves a file alone that is already identical to the object, by checksum or ETag.
  public var skipsSame = false
  /// Replaces a file only if the object is newer; otherwise leaves it alone.
  public var ifNewer = false
  /// Stops the download after this time.
  public var deadline: Duration?
  /// Requests a slow range a second time when it delays the end.
  public var hedges = true
  /// Whoever receives the bytes compares each of them with what they should be.
  var isComparedByReader = false

  /// The sizes that one request may ask for.
  public static let partSizes: ClosedRange<Int64> = 64 << 10...5 << 30

  /// The defaults.
  public init() {}
}

/// What a download reports while it runs.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum DownloadEvent: Sendable, Equatable {
  /// The size of the object, and the number and size of the ranges that it is downloaded in.
  case started(size: Int64, ranges: Int, rangeSize: Int64)
  /// Ranges from an earlier run whose bytes on disk match their checksums.
  case resumed(ranges: Int, bytes: Int64)
  /// A range has arrived.
  case range(number: Int, size: Int64, took: Duration)
  /// A request, or this range, is tried again after the wait.
  case retry(range: Int?, attempt: Int, wait: Duration, cause: Failure.Code, message: Wording)
  /// The bytes that arrived are not the object: every range is downloaded once more, over other connections.
  case reloads
  /// The number of connections changes.
  case connections(Int, why: String)
  /// A warning to show to the user; the download continues.
  case warning(Wording)
}

/// A downloaded object, and the proof that the bytes are the object's.
public struct DownloadedObject: Sendable {
  /// What happened to the target.
  public enum Outcome: Sendable, Equatable {
    /// It was written.
    case completed
    /// It was already identical to the object.
    case unchanged
    /// It was left because the object is not newer.
    case skipped
    /// A dry run: the file would be written.
    case planned
  }

  /// What happened to the target.
  public var outcome = Outcome.completed
  /// The number of bytes asked for: of the object, or of a range of it.
  public var size: Int64
  /// The number of requests that the bytes came in.
  public var parts: Int
  /// The ETag as the store sends it, including the quotes.
  public var etag: String?
  /// The version's id, if the bucket keeps versions.
  public var versionID: String?
  /// The store's checksum of the object, if the bytes were compared with it.
  public var checksum: ObjectChecksum?
  /// What proves the bytes, for people: `CRC64NVME abc= matches the file`.
  public var evidence: String
  /// Whether it proves the bytes, and not only the size.
  public internal(set) var isProven = false
  /// The bytes are not those that the store's checksum or ETag was made of; whoever reads them compares them.
  var isContradicted = false
  let identity: ObjectIdentity
  /// Bytes that were received, including those of failed tries.
  public var bytesReceived: Int64
  /// Bytes that an earlier run had downloaded.
  public var bytesResumed: Int64
  /// Requests that were sent again.
  public var retries: Int
  /// The request id under which the store logs the first request.
  public var requestID: String?

  /// A result for an object of which no bytes were downloaded.
  init(_ outcome: Outcome, _ object: ObjectInfo) {
    (self.outcome, size, parts, etag, versionID) = (outcome, object.size ?? 0, 0, object.etag, object.versionID)
    (evidence, bytesReceived, bytesResumed, retries, requestID) = ("", 0, 0, 0, object.requestID)
    identity = ObjectIdentity(object)
  }
}
