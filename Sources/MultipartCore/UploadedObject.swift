/// An object that an upload has made, and how it is known that it holds the bytes that were read.
public struct UploadedObject: Sendable {
  /// A checksum of the whole object, as S3 names it.
  public struct Sum: Sendable, Equatable {
    /// `CRC64NVME`
    public var algorithm: String
    /// Of the bytes, or over the sums of the parts.
    public var type: ChecksumType
    /// Base64.
    public var value: String
  }

  /// Bytes.
  public var size: Int64
  /// 1 for an object that was sent by a single request.
  public var parts: Int
  /// As the store gives it, quotes and all.
  public var etag: String?
  /// Where the bucket keeps versions.
  public var versionID: String?
  /// What the store has verified, or what the bytes here sum up to.
  public var checksum: Sum?
  /// A clause for people: `CRC64NVME abc= confirmed by the store`.
  public var evidence: String
  /// Those of failed tries too.
  public var bytesSent: Int64
  /// Bytes that the store had before this run.
  public var bytesResumed: Int64
  /// Requests that were sent again.
  public var retries: Int
  /// By which the store finds the request in its logs.
  public var requestID: String?
  /// It was there before, made of the same bytes.
  public var isUnchanged = false

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
  }
}
