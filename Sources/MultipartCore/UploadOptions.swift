/// The object's headers, the conditions for publishing it, and how it is uploaded.
public struct UploadOptions: Sendable {
  /// Content type, metadata, tags, access, lock. The default content type is guessed from the name and the first bytes.
  public var object = ObjectHeaders()
  /// Stores the file's modification time in the object's metadata, as rclone does: `mtime`, in seconds since 1970.
  public var notesTime = false
  /// Encryption by the store, with a key that the store or KMS holds.
  public var encryption: ServerSideEncryption?
  /// The caller's own encryption key (SSE-C). It is only sent over TLS, or to this machine itself.
  public var customerKey: CustomerKey?
  /// Conditions on an object that already exists.
  public var conditions = WriteConditions()
  /// The size of a part, from 5 MiB to 5 GiB; nil: chosen by the size of the source and the speed of the connection.
  public var partSize: Int64?
  /// Cuts a stream into parts of equal size, as some stores require. Otherwise later parts are larger, so that 10,000
  /// parts hold a stream of any length.
  public var equalParts = false
  /// The checksum that the store verifies; nil: CRC64NVME, or MD5 where the store does not verify CRC64NVME.
  public var checksum: ChecksumForm?
  /// Sends nothing if the object is already identical to the file. The size and a checksum or ETag of the store decide,
  /// or, if the store has neither and `verifies` is false, the modification time in the object's metadata.
  public var skipsSame = false
  /// Sends nothing if an object exists at the key, whatever it contains; one that appears during the upload is not
  /// replaced either.
  public var skipsExisting = false
  /// Requests the object's headers at the end and compares them with what was sent.
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
  /// Sends a slow part a second time when it delays the end.
  public var hedges = true

  /// How a stream is cut into parts, and how long it may be; set by a ticket.
  var streamPlan: StreamPlan?
  var ticketLength: Ticket.Length?

  /// The sizes that S3 accepts for every part but the last.
  public static let partSizes: ClosedRange<Int64> = S3Limits.smallestPart...S3Limits.largestPart

  /// The defaults.
  public init() {}
}
