/// The object's headers, what must be true before it is published, and how it is uploaded.
public struct UploadOptions: Sendable {
  /// Content type, metadata, tags, access, lock. Without a content type it is guessed by name and first bytes.
  public var object = ObjectHeaders()
  /// Notes when the file was last modified in the object's metadata, as rclone does: `mtime`, in seconds since 1970.
  public var notesTime = false
  /// Encryption by the store, with a key that it or KMS holds.
  public var encryption: ServerSideEncryption?
  /// The caller's own encryption key (SSE-C). It is only sent over TLS, or to this machine itself.
  public var customerKey: CustomerKey?
  /// Conditions on the object that is already there.
  public var conditions = WriteConditions()
  /// The size of a part, from 5 MiB to 5 GiB; nil: chosen by the size of the source and the speed of the line.
  public var partSize: Int64?
  /// Cuts a stream into parts of one size, as some stores require. Otherwise later parts are larger, so that 10,000 of
  /// them hold a stream of any length.
  public var equalParts = false
  /// The checksum that the store verifies; nil: CRC64NVME, or MD5 where the store does not verify CRC64NVME.
  public var checksum: ChecksumForm?
  /// Sends nothing if the object is already this file: compared by its size and a checksum or ETag of the store, or, if
  /// the store has neither and `verifies` is false, by the modification time in the object's metadata.
  public var skipsSame = false
  /// Sends nothing if there is an object at the key, whatever it holds; one that appears meanwhile is not replaced either.
  public var skipsExisting = false
  /// Asks the store for the object at the end and compares it with what was sent.
  public var verifies = false
  /// Publishes nothing unless the source has exactly this size.
  public var expectedSize: Int64?
  /// Publishes nothing that is smaller than this.
  public var minimumSize: Int64?
  /// Publishes nothing unless the source has this SHA-256, in hexadecimal digits.
  public var expectedSHA256: String?
  /// What to do about an unfinished upload of the same file to the same key.
  public var resume = ResumeMode.auto
  /// Aborts the upload when it is cancelled. Otherwise its parts are kept, and the next upload of the file resumes it.
  public var abortsWhenCancelled = false
  /// How long to wait for another upload to the same object on this machine; nil: fail at once.
  public var waitForOtherUpload: Duration?
  /// Stops the upload after this time.
  public var deadline: Duration?
  /// Sends a slow part a second time when it holds up the end.
  public var hedges = true

  /// Set by a ticket: how a stream is cut into parts, and how long it may be.
  var streamPlan: StreamPlan?
  var mostSize: Int64?

  /// The sizes that S3 accepts for every part but the last.
  public static let partSizes: ClosedRange<Int64> = S3Limits.smallestPart...S3Limits.largestPart

  /// The defaults.
  public init() {}
}
