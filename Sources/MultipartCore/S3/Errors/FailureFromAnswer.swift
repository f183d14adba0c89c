import MultipartBasics

extension Failure {
  /// The meaning of an unsuccessful answer: `S3ErrorTable` provides the code, `S3Hints` the remedy.
  ///
  /// `carriedChecksum` says that the request sent a checksum, which a store may not support.
  init(answer: Response, operation: OperationName, place: Place, carriedChecksum: Bool = false) {
    let body = S3ErrorBody(answer.body)
    let s3Code = body.code ?? S3ErrorBody.code(answer.headers)
    let region = answer.headers[HeaderName.bucketRegion].flatMap(S3ErrorBody.region) ?? body.region
    var code = S3ErrorTable.code(
      s3Code, status: answer.status, body: body, region: region, onUpload: place.uploadID != nil,
      carriedChecksum: carriedChecksum)
    // The answer to a HEAD has no body and no code: its 400 may be a timeout or an expired token, which is transient.
    // This does not include the 400 of a server that is not a store, such as a TLS port that received plain HTTP.
    if s3Code == nil, answer.status == 400, region == nil, operation == HeadObject.name,
      S3ErrorBody.requestID(answer.headers) != nil
    {
      code = .server
    }
    self.init(
      code, Self.sentence(code, answer.status, operation, s3Code, body), status: answer.status, s3Code: s3Code,
      requestID: S3ErrorBody.requestID(answer.headers) ?? body.requestID,
      retryAfter: Self.retryAfter(answer.headers), region: region,
      remedy: S3Hints.remedy(
        code, s3Code: s3Code, status: answer.status, operation: operation, region: region, body: body,
        bucket: place.bucket))
    self.place = place
  }

  /// The failure for an answer to this request.
  init(answer: Response, to request: S3Request) {
    self.init(
      answer: answer, operation: request.operation, place: request.place, carriedChecksum: request.carriesChecksum)
  }

  /// Whether the request may have worked in spite of the failure: not if no store was reached, and not after a refusal,
  /// which is every 503 or 429, and any other code that blames the request. An internal error of the store or of a
  /// proxy, a proxy's page that it does not find the store, and an answer that cannot be read, say nothing.
  var mayHaveWorked: Bool {
    guard !isSettled, [.network, .stalled, .server].contains(code) else { return false }
    // A server whose answer is not HTTP has received the request.
    guard let status else { return triedInVain == nil || code == .server }
    return (200..<300).contains(status) || status == 404 || (status >= 500 && status != 503)
  }

  /// Whether another write to the key was in progress, so that nothing was decided.
  var isConflict: Bool { s3Code == "ConditionalRequestConflict" }

  private static func sentence(
    _ code: Failure.Code, _ status: Int, _ operation: OperationName, _ s3Code: String?, _ body: S3ErrorBody
  ) -> String {
    let what =
      code == .throttled
      ? "the store refused \(operation), and asks for fewer requests" : "the store refused \(operation)"
    // More text follows, so the message must not end with a period.
    if let message = body.message { return what + ": " + (message.ends(with: ".") ? message.dropLast() : message[...]) }
    if s3Code != nil { return what }
    if (200..<300).contains(status) { return "the store answered \(operation) with an error that has no code" }
    return "the store answered \(operation) with status \(status)" + (reasons[status].map { " (\($0))" } ?? "")
  }

  private static let reasons = [
    301: "moved", 307: "moved for now", 400: "bad request", 401: "not authorized", 403: "forbidden", 404: "not found",
    405: "method not allowed", 408: "time-out", 409: "conflict", 411: "length required", 412: "precondition failed",
    413: "too large", 416: "range not satisfiable", 429: "too many requests", 500: "internal error",
    501: "not implemented",
    502: "bad gateway", 503: "unavailable", 504: "gateway time-out", 507: "no room",
  ]

  /// The delay, in seconds or as a date that is compared with the answer's own `Date`, so that our clock does not
  /// matter. Values of more than a day are ignored.
  static func retryAfter(_ headers: HeaderList) -> Duration? {
    guard let text = headers["Retry-After"].map(ASCII.trimmed) else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) {
      return .seconds(Int64(text, in: 0...86_400) ?? 86_400)
    }
    guard let moment = DateText.http(text), let now = headers["Date"].flatMap(DateText.http) else { return nil }
    return .seconds(min(max(0, moment.seconds - now.seconds), 86_400))
  }

  /// Why something is unknown, in a few words.
  func reason(of operation: OperationName) -> String {
    if code == .credentials { return "\(operation) is not allowed" }
    let answer = s3Code ?? status.map(String.init)
    // Without an answer, such as from a ticket that has no such request, only the failure itself says why.
    return answer.map { "\(operation): " + $0 } ?? message.description
  }
}
