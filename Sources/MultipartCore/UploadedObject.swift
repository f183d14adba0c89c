/// An object that an upload has created, and the proof that it holds the bytes that were read.
public struct UploadedObject: Sendable {
  /// A checksum of the whole object, as S3 names it.
  public struct Sum: Sendable, Equatable {
    /// `CRC64NVME`
    public var algorithm: String
    /// Whether it is over the bytes or over the checksums of the parts.
    public var type: ChecksumType
    /// Base64.
    public var value: String
  }

  /// In bytes.
  public var size: Int64
  /// How many parts it has; 1 if a single request sent it.
  public var parts: Int
  /// As the store gives it, including the quotes.
  public var etag: String?
  /// The version's id, if the bucket keeps versions.
  public var versionID: String?
  /// The checksum that the store has verified, or that was computed here.
  public var checksum: Sum?
  /// What proves the upload, for people: `CRC64NVME abc= confirmed by the store`.
  public var evidence: String
  /// Bytes that were sent, including those of failed tries.
  public var bytesSent: Int64
  /// Bytes that the store had before this run.
  public var bytesResumed: Int64
  /// Requests that were sent again.
  public var retries: Int
  /// The id by which the store finds the last request in its logs.
  public var requestID: String?
  /// The object was there before, made of the same bytes.
  public var isUnchanged = false
  /// There is an object already, which was left as it is whatever it holds: size and ETag are its own.
  public var isSkipped = false
  /// Of a ticket that is uploaded in shares: how many parts of other shares the store does not have yet. There is no object
  /// until they are there; `size` and `parts` are those of this share.
  public var missingParts = 0

  /// It would be sent by a run that does not only find out what to send.
  var isPlanned = false
  /// Of the whole file, if a manifest lists it.
  package var sha256: Checksum?
  package var sum: Expectation.Sum?
  /// How long it took, without the time in which it waited for other objects of its run.
  package var took = Duration.zero

  package init(_ result: UploadResult) {
    size = result.size
    parts = result.parts
    etag = result.object.etag
    versionID = result.object.versionID
    checksum = result.sum.map {
      Sum(algorithm: $0.algorithm.awsName ?? "MD5", type: $0.type, value: $0.text)
    }
    evidence = result.evidence
    bytesSent = result.bytesSent
    bytesResumed = result.bytesResumed
    retries = result.retries
    requestID = result.object.requestID
    isUnchanged = result.isUnchanged
    isSkipped = result.isSkipped
    isPlanned = result.isPlanned
    missingParts = result.missing
    sum = result.sum
  }
}
