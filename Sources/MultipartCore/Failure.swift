/// Why something failed: a code for programs to switch over, what the store answered, and where it happened. No program
/// needs to parse the text; for people, print `"\(failure)"`.
public struct Failure: Error, Sendable {
  /// The kinds of failures, for programs to switch over. Later versions may have more.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Code: String, Sendable, CaseIterable {
    /// The caller asks for something that cannot be done, or combines options that exclude each other.
    case usage
    /// A configuration file or variable that cannot be used.
    case configuration
    /// The source does not exist or cannot be read.
    case sourceMissing
    /// The source grew, shrank or was rewritten while it was read.
    case sourceChanged
    /// The bytes are not what was expected, or not what arrived.
    case dataMismatch
    /// The store, the bucket or the object does not exist, or the store refuses permanently.
    case refused
    /// A condition on the object did not hold: it already exists, or it is not the expected one.
    case precondition
    /// The store does not, or no longer, know the upload id.
    case uploadGone
    /// The store does not support the checksum that was sent.
    case checksumUnsupported
    /// Credentials are missing, wrong, expired, or do not allow this request.
    case credentials
    /// The credentials have expired; new ones would work.
    case credentialsExpired
    /// The clocks of this machine and the store differ too much.
    case clockSkew
    /// There was no connection, or it broke.
    case network
    /// The server's certificate is not trusted, or the TLS handshake failed.
    case tls
    /// No byte was transferred during the stall timeout.
    case stalled
    /// The store asks for fewer requests: 503 SlowDown or 429.
    case throttled
    /// A 5xx, or a response that makes no sense.
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
  /// The status of the HTTP response.
  public var status: Int?
  /// The store's error code, such as `NoSuchBucket`.
  public var s3Code: String?
  /// The request id under which the store logs the request.
  public var requestID: String?
  /// How long the store asks to wait before the next try.
  public var retryAfter: Duration?
  /// The region that the store reports for the bucket.
  public var region: String?
  /// The error of the system or of libcurl that caused it.
  public var underlying: Underlying?
  /// The file, object, upload and part that the failure is about.
  public var place = Place()
  /// The next upload of the same source will resume this one.
  public var isResumable = false
  /// The failure is final, or was already retried where it occurred: callers must not retry it.
  var isSettled = false
  /// What is missing or incomplete may be about to be written by another program.
  var mayAppear = false
  /// How long an address was tried, if no server has answered there in this run. A wrong address is then more likely
  /// than a transient fault. Nil once any response has arrived.
  var triedInVain: Duration?
  /// Why the last try failed, if the run was stopped before the next one.
  private(set) var lastTry: Wording?
  /// What to do about it, in one line. The settings that it names and the actions that it suggests can be read from it
  /// as values.
  public var remedy: Wording?

  /// A failure with this code and message.
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

  /// A failure with a message that names neither settings nor actions.
  @_disfavoredOverload
  init(
    _ code: Code, _ message: String, status: Int? = nil, s3Code: String? = nil, requestID: String? = nil,
    retryAfter: Duration? = nil, region: String? = nil, remedy: Wording? = nil
  ) {
    self.init(
      code, Wording(message), status: status, s3Code: s3Code, requestID: requestID, retryAfter: retryAfter,
      region: region, remedy: remedy)
  }

  /// This failure with its place filled in; fields that are already set are kept.
  public func at(_ place: Place) -> Failure {
    var copy = self
    copy.place.fill(from: place)
    return copy
  }

  /// What has not happened in spite of the failure, said before what to do about it.
  mutating func reassure(_ words: Wording) {
    remedy = words + (remedy.map { "; " + $0 } ?? "")
  }

  /// Whether a signal, the caller or a deadline has stopped the run: what it was about has not failed.
  public var isInterruption: Bool { code == .interrupted || code == .deadline }

  /// The failure of a run that a signal or its caller has stopped.
  public static let interrupted = Failure(.interrupted, "interrupted")

  /// The failure of a run that a deadline has ended.
  public static let timeIsOver = Failure(.deadline, "the time given by \(.deadline) is over")

  /// The run was stopped during a wait for the next try. After a deadline the message adds why the last one failed.
  func endedWaiting(after why: Wording) -> Failure {
    guard !why.description.isEmpty else { return self }
    var copy = self
    copy.lastTry = why
    if code == .deadline { copy.message = "\(message); the last try failed: \(why)" }
    return copy
  }
}

extension Failure.Code {
  /// Failures that may not recur in the next run of the same command: what has arrived is kept for it.
  static let passing: Set<Failure.Code> = [
    .network, .tls, .stalled, .throttled, .server, .credentials, .credentialsExpired, .clockSkew, .configuration,
    .local, .deadline, .interrupted,
  ]
}
