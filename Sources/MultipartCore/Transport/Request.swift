import MultipartBasics

enum HTTPMethod: String, Sendable {
  case get = "GET"
  case put = "PUT"
  case head = "HEAD"
  case delete = "DELETE"
  case post = "POST"
}

/// Bytes that a request sends, read piece by piece on the thread of the loop that sends them.
protocol BodySource: Sendable {
  var length: Int64 { get }
  /// Copies bytes from `offset` of this body into `buffer` and returns how many; fewer than requested only at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int
  /// At most `count` bytes in place, to be sent without being copied; nil if they must be copied.
  func lend(_ count: Int, at offset: Int64) throws(Failure) -> FilePiece?
}

extension BodySource {
  func lend(_ count: Int, at offset: Int64) throws(Failure) -> FilePiece? { nil }
}

enum RequestBody: Sendable {
  case none
  case bytes([UInt8])
  case source(any BodySource)
  /// A body whose sender checks the source again after the answer: libcurl may be lent its bytes, which can still
  /// change while they are sent.
  case part(any BodySource)

  var length: Int64 {
    switch self {
    case .none: 0
    case .bytes(let bytes): Int64(bytes.count)
    case .source(let source), .part(let source): source.length
    }
  }
}

/// Receives the body of a successful answer piece by piece, on the thread of the loop.
protocol BodySink: Sendable {
  /// Receives the head of a successful answer whose body follows; a failure ends the transfer before a byte of it is
  /// received.
  func begin(_ status: Int, _ headers: HeaderList) -> Failure?
  /// Receives a piece; false ends the transfer.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool
  /// Why the sink ended the transfer.
  var failure: Failure? { get }
}

extension BodySink {
  func begin(_ status: Int, _ headers: HeaderList) -> Failure? { nil }
  var failure: Failure? { nil }
}

/// One HTTP request as it is sent: the URL is sent byte for byte. The sender does not depend on whether the request was
/// signed just now, in its headers, or earlier and elsewhere, in its URL, or not at all.
struct Request: Sendable {
  var method: HTTPMethod
  var url: String
  /// The headers without Host, which follows from the URL.
  var headers: HeaderList
  var body: RequestBody
  /// Where the body of a 2xx answer goes instead of into `Response.body`.
  var sink: (any BodySink)?
  /// No byte in either direction for this long ends the transfer.
  var stallTimeout: Duration
  /// Whether to avoid reusing a connection or a remembered address, because the last try stalled on one.
  var freshConnection = false
  /// Whether to close the connection after the answer: it has sent so little that the next request would be slow on it.
  var closesConnection = false
  /// Whether libcurl may send the request a second time by itself, if a kept connection turns out to be closed. It must
  /// not if the server answers differently the second time: that answer would be taken for the lost one.
  var mayBeResent = true
  /// The whole request must end within this time; nil: only the stall timeout limits it.
  var timeLimit: Duration?
  /// Whether to send it directly, whatever proxy the run has: the address is this machine's own or its host's.
  var bypassesProxy = false
  /// The most bytes that an answer's body may have; a longer one is an error.
  var maximumAnswer: Int
  /// Whether the answer contains keys: then only the caller reads the body of a success, and it is not searched for
  /// secrets.
  var answerHoldsSecrets = false
  /// Called on the loop's thread with the number of body bytes that were handed to the socket since the last call.
  var onSent: (@Sendable (Int64) -> Void)?
  /// Called now and then on the loop's thread with how much of the body the other side has acknowledged. The number
  /// falls if the body starts over on another connection.
  var onAcknowledged: (@Sendable (Int64) -> Void)?
  /// Called on the loop's thread with the connection, before the request is sent on it and at the end.
  var onConnection: (@Sendable (ConnectionReport) -> Void)?
  /// The request in the timeline of the run.
  var trace: RequestTrace?
  /// When the store starts to refuse the signature.
  var expires: Timestamp?
  /// Which credentials of the run signed it.
  var credentialGeneration: Int?

  init(
    method: HTTPMethod, url: String, headers: HeaderList = [:], body: RequestBody = .none,
    sink: (any BodySink)? = nil, stallTimeout: Duration = .seconds(30),
    maximumAnswer: Int = 8 << 20, onSent: (@Sendable (Int64) -> Void)? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.sink = sink
    self.stallTimeout = stallTimeout
    self.maximumAnswer = maximumAnswer
    self.onSent = onSent
  }
}

extension Request {
  /// Refuses anything that could turn one header into two: a name that is not a token, a line break in a value.
  func checkHeaders() throws(Failure) {
    for field in headers.fields {
      guard HeaderText.isName(field.name) else {
        throw Failure(.usage, "a header's name has a character that HTTP does not allow in it")
      }
      guard field.value.utf8.allSatisfy({ $0 != 0 && $0 != 10 && $0 != 13 }) else {
        throw Failure(.usage, "the value of the header \(field.name) has a line break or a NUL in it")
      }
    }
  }

  /// The request without a signature, for buckets that anyone may read or write.
  func unsigned() throws(Failure) -> Request {
    try checkHeaders()
    var request = self
    request.headers.remove("host")
    request.headers.remove("authorization")
    return request
  }
}

/// A request in a log or a dump shows no signature, token or key.
extension Request: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var redactedURL: String { Redaction.url(url) }
  var redactedHeaders: HeaderList { Redaction.headers(headers) }

  var description: String { "\(method.rawValue) \(redactedURL)" }
  var debugDescription: String { description }
  var customMirror: Mirror {
    Mirror(self, children: ["method": method, "url": redactedURL, "headers": redactedHeaders])
  }
}
