/// What an upload has come to: an object, and the proof that it holds the bytes that were read.
public struct UploadedObject: Sendable {
  /// What has become of the object.
  public enum Outcome: Sendable, Equatable {
    /// This upload has made it.
    case completed
    /// It was there before, made of the same bytes.
    case unchanged
    /// An object was there, which is left as it is whatever it holds: size and ETag are its own.
    case skipped
    /// The store has this share of a ticket, and lacks so many parts of other shares: until it has them there is no object,
    /// and size and parts are those of this share.
    case shared(missingParts: Int)
    /// It would be sent, by a run that does not only look.
    case planned
  }

  /// What has become of the object.
  public var outcome: Outcome
  /// In bytes.
  public var size: Int64
  /// How many parts it has; 1 if a single request sent it.
  public var parts: Int
  /// As the store gives it, including the quotes.
  public var etag: String?
  /// The version's id, if the bucket keeps versions.
  public var versionID: String?
  /// The checksum that the store has verified, or that was computed here.
  public var checksum: ObjectChecksum?
  /// What proves the upload, for people: `CRC64NVME of the object, given back by the store`.
  public var evidence: String
  /// Bytes that were sent, including those of failed tries.
  public var bytesSent: Int64
  /// Bytes that the store had before this run.
  public var bytesResumed: Int64
  /// Requests that were sent again.
  public var retries: Int
  /// The id by which the store finds the last request in its logs.
  public var requestID: String?

  package init(
    _ outcome: Outcome, size: Int64, parts: Int, _ object: ReportedObject = ReportedObject(),
    checksum: ObjectChecksum? = nil, evidence: String, bytesSent: Int64 = 0, bytesResumed: Int64 = 0, retries: Int = 0
  ) {
    (self.outcome, self.size, self.parts, self.checksum) = (outcome, size, parts, checksum)
    (etag, versionID, requestID) = (object.etag, object.versionID, object.requestID)
    (self.evidence, self.bytesSent, self.bytesResumed, self.retries) = (evidence, bytesSent, bytesResumed, retries)
  }
}
