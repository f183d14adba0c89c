/// Why something did not work: a closed code that programs switch over, what the store said, and where it happened.
/// No program needs to search its text.
public struct Failure: Error, Sendable {
  /// The kinds of failures, for programs to switch over.
  public enum Code: String, Sendable, CaseIterable {
    /// The caller asks for something that cannot be done, or combines options that exclude each other.
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
    /// A condition on the object did not hold: it exists, or it is another one than expected.
    case precondition
    /// The upload id is not, or no longer, known to the store.
    case uploadGone
    /// The store does not support the checksum that was sent.
    case checksumUnsupported
    /// Credentials are missing, wrong, expired, or do not allow this request.
    case credentials
    /// The credentials have expired; new ones would work.
    case credentialsExpired
    /// The clocks of this machine and the store differ too much.
    case clockSkew
    /// There is no connection, or it broke.
    case network
    /// The server's certificate is not trusted, or the TLS handshake failed.
    case tls
    /// No byte moved during the stall timeout.
    case stalled
    /// The store asks for fewer requests: 503 SlowDown or 429.
    case throttled
    /// A 5xx, or an answer that makes no sense.
    case server
    /// The run did not finish before its deadline.
    case deadline
    /// Another run on this machine is uploading to the same object.
    case locked
    /// The run was stopped by a signal or by its caller.
    case interrupted
    /// The upload is complete and proven, but its result could not be written.
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
  /// The region in which the store says the bucket is.
  public var region: String?
  /// The error of the system or of libcurl behind it.
  public var underlying: Underlying?
  /// Where it happened.
  public var place = Place()
  /// Uploading the same source again resumes this upload.
  public var isResumable = false
  /// It was already retried where it was made: callers must not retry it again.
  package var isSettled = false
  /// Set when no server has answered at this address in this run: for how long it was tried. A wrong address is then more
  /// likely than a passing fault. Nil once an answer has come.
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

  /// A failure whose message names neither settings nor actions.
  @_disfavoredOverload
  package init(
    _ code: Code, _ message: String, status: Int? = nil, s3Code: String? = nil, requestID: String? = nil,
    retryAfter: Duration? = nil, region: String? = nil, remedy: Wording? = nil
  ) {
    self.init(
      code, Wording(message), status: status, s3Code: s3Code, requestID: requestID, retryAfter: retryAfter,
      region: region, remedy: remedy)
  }

  /// The same failure with its place filled in; fields that are already set are kept.
  public func at(_ place: Place) -> Failure {
    var copy = self
    copy.place.fill(from: place)
    return copy
  }

  package static let timeIsOver = Failure(.deadline, "the time given by \(.deadline) is over")

  /// The time of the run is over, and the object was waiting to try again: says why the last try failed.
  func endedWaiting(after why: Wording) -> Failure {
    guard code == .deadline, !why.description.isEmpty else { return self }
    var copy = self
    copy.message = "\(message); the last try failed: \(why)"
    return copy
  }
}
