/// What an object shall be, what has to hold before it is published, and how its upload goes.
public struct UploadOptions: Sendable {
  /// Content type, metadata, tags, access, lock. Without a content type it is guessed by name and first bytes.
  public var object = ObjectHeaders()
  /// By the store, with a key that it or KMS holds.
  public var encryption: ServerSideEncryption?
  /// A key of the caller's (SSE-C). It is sent over TLS, or to this machine itself.
  public var customerKey: CustomerKey?
  /// What must hold of the object that is there.
  public var conditions = WriteConditions()
  /// Bytes of a part, 5 MiB to 5 GiB; nil: by the size of the source and the line.
  public var partSize: Int64?
  /// A stream's parts grow, so that it may be of any length; some stores ask for parts of one size.
  public var equalParts = false
  /// What the store verifies; nil: CRC64NVME, and MD5 where the store does not verify that.
  public var checksum: ChecksumForm?
  /// The store is asked for the object at the end, and its answer compared.
  public var verifies = false
  /// Nothing is published unless the source has this size,
  public var expectedSize: Int64?
  /// is no smaller than this,
  public var leastSize: Int64?
  /// and has this SHA-256, in hexadecimal digits.
  public var expectedSHA256: String?
  /// What to do about an unfinished upload of the same file to the same key.
  public var resume = ResumeMode.auto
  /// A cancelled upload is aborted, instead of kept for a later run that resumes it.
  public var abortsWhenCancelled = false
  /// How long to wait for another run that uploads to the same object; nil: not at all.
  public var lockPatience: Duration?
  /// After so long the upload is stopped.
  public var deadline: Duration?
  /// A part that holds up the end may be sent a second time.
  public var hedges = true

  /// What S3 allows for every part but the last.
  public static let partSizes: ClosedRange<Int64> = S3Limits.smallestPart...S3Limits.largestPart

  /// Without options: as good as it gets, proven, resumable.
  public init() {}
}
