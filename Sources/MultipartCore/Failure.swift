/// Why something did not work: a closed code that programs switch over, what the store said, and where it happened.
/// Never matched by its text.
public struct Failure: Error, Sendable {
  /// The kinds of failures, for programs to switch over.
  public enum Code: String, Sendable, CaseIterable {
    /// The caller asks for something that cannot be done.
    case usage
    /// A configuration file or variable that cannot be used.
    case configuration
    /// The source is not there or cannot be read.
    case sourceMissing
    /// The source grew, shrank or was rewritten while it was read.
    case sourceChanged
    /// The bytes are not what was expected, or not what arrived.
    case dataMismatch
    /// The store, the bucket or the object is not there, or refuses for good.
    case refused
    /// The object exists, or is another one than was asked for.
    case precondition
    /// The upload id is not, or no longer, known to the store.
    case uploadGone
    /// The store does not support the checksum that was sent.
    case checksumUnsupported
    /// Credentials are missing, wrong, ended, or do not allow this.
    case credentials
    /// The token ended; new credentials would do.
    case credentialsExpired
    /// This machine's clock and the store's are too far apart.
    case clockSkew
    /// No connection, or it broke.
    case network
    /// The server's certificate or the TLS handshake was not acceptable.
    case tls
    /// Nothing moved for the stall time-out.
    case stalled
    /// The store asks for less: 503 SlowDown, 429.
    case throttled
    /// A 5xx, or an answer that makes no sense.
    case server
    /// The time that the run was given is over.
    case deadline
    /// Another run of this machine is at the same object.
    case locked
    /// The run was stopped by a signal or by its caller.
    case interrupted
    /// It is done, and what was to be said of it cannot be written.
    case output
    /// Something on this machine failed: memory, threads, disk.
    case local
  }

  /// What kind of failure it is.
  public var code: Code
  /// What happened, in one sentence.
  public var message: Wording
  /// The status of the HTTP answer.
  public var status: Int?
  /// The store's error code, such as `NoSuchBucket`.
  public var s3Code: String?
  /// The id by which the store finds the request in its logs.
  public var requestID: String?
  /// How long the store asks to wait before the next try.
  public var retryAfter: Duration?
  /// The region that the store names for the bucket.
  public var region: String?
  /// The error of the system or of libcurl behind it.
  public var underlying: Underlying?
  /// Where it happened.
  public var place = Place()
  /// Uploading the same source again resumes this upload.
  public var isResumable = false
  /// Tried often enough where it was made: nobody above tries it again.
  package var isSettled = false
  /// Nobody has answered there in this run, and how long that has been tried: a wrong address is more likely than trouble
  /// that passes. Nil once somebody has.
  package var triedInVain: Duration?
  /// What to do about it, in one line. The settings that it names and the actions that it proposes can be read from it as
  /// values.
  public var remedy: Wording?

  /// A failure of this kind.
  public init(
    _ code: Code, _ message: Wording, status: Int? = nil, s3Code: String? = nil, requestID: String? = nil,
    retryAfter: Duration? = nil, region: String? = nil, remedy: Wording? = nil
  ) {
    self.code = code
    self.message = message
    self.status = status
    self.s3Code = s3Code
    self.requestID = requestID
    self.retryAfter = retryAfter
    self.region = region
    self.remedy = remedy
  }

  /// With a message that names neither settings nor actions.
  @_disfavoredOverload
  package init(
    _ code: Code, _ message: String, status: Int? = nil, s3Code: String? = nil, requestID: String? = nil,
    retryAfter: Duration? = nil, region: String? = nil, remedy: Wording? = nil
  ) {
    self.init(
      code, Wording(message), status: status, s3Code: s3Code, requestID: requestID, retryAfter: retryAfter,
      region: region, remedy: remedy)
  }

  /// Where it happened; what is already known is kept.
  public func at(_ place: Place) -> Failure {
    var copy = self
    copy.place.fill(from: place)
    return copy
  }
}
