/// The result of an upload: an object, and the proof that it holds the bytes that were read.
public struct UploadedObject: Sendable {
  /// What happened to the object.
  public enum Outcome: Sendable, Equatable {
    /// This upload created it.
    case completed
    /// It already existed, with the same bytes.
    case unchanged
    /// An object already existed and was left as it is, whatever it contains; size and ETag are those of that object.
    case skipped
    /// The store has this share of a ticket, but lacks this many parts of other shares: until it has them there is no
    /// object, and size and parts describe this share.
    case shared(missingParts: Int)
    /// A dry run: it would be sent.
    case planned
  }

  /// What happened to the object.
  public var outcome: Outcome
  /// The size in bytes.
  public var size: Int64
  /// How many parts it has; 1 if it was sent by a single request.
  public var parts: Int
  /// The ETag as the store sends it, including the quotes.
  public var etag: String?
  /// The version's id, if the bucket keeps versions.
  public var versionID: String?
  /// The checksum that the store verified, or that was computed locally.
  public var checksum: ObjectChecksum?
  /// What proves the upload, for people: `CRC64NVME matches the store's`.
  public var evidence: String
  /// Bytes that were sent, including those of failed tries.
  public var bytesSent: Int64
  /// Bytes that the store had before this run.
  public var bytesResumed: Int64
  /// Requests that were sent again.
  public var retries: Int
  /// The request id under which the store logs the last request.
  public var requestID: String?

  init(
    _ outcome: Outcome, size: Int64, parts: Int, _ object: ReportedObject = ReportedObject(),
    checksum: ObjectChecksum? = nil, evidence: String, bytesSent: Int64 = 0, bytesResumed: Int64 = 0, retries: Int = 0
  ) {
    (self.outcome, self.size, self.parts, self.checksum) = (outcome, size, parts, checksum)
    (etag, versionID, requestID) = (object.etag, object.versionID, object.requestID)
    (self.evidence, self.bytesSent, self.bytesResumed, self.retries) = (evidence, bytesSent, bytesResumed, retries)
  }
}
