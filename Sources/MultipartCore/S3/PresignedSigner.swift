import MultipartBasics

/// A request that is already signed, in its URL. The operation's headers are sent along; which of them the signature
/// covers was decided by the signer.
struct PresignedSigner: RequestSigner {
  private let request: Request
  /// When the URL expires, if it says so.
  private let expires: Timestamp?
  private let signedNames: Set<String>

  /// A signer for a URL from the caller. No message shows it, because its signature is a secret.
  init(_ method: HTTPMethod, _ url: String) throws(Failure) {
    let form: Wording = "give the whole URL, as it was printed"
    guard url.utf8.allSatisfy(ASCII.isVisible) else {
      throw Failure(.usage, "the URL has a space, a control character or a letter outside of ASCII", remedy: form)
    }
    _ = try EndpointURL.parse(
      String(AddressBook.origin(of: url)), blame: .usage, called: "the presigned URL", form: form)
    request = Request(method: method, url: url)
    expires = Self.end(of: url)
    let signed = URLQuery(of: Array(url.utf8)).items.first { $0.isNamed("X-Amz-SignedHeaders") }?.decodedValue
    signedNames = Set((signed ?? "").words(between: ";").map { $0.lowercased() })
  }

  var waitsForCredentials: Bool { false }
  var origin: String {
    request.url.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(request.url[..<$0]) } ?? request.url
  }

  var signsPayload: Bool { false }
  var signsEverything: Bool { false }
  var knowsOneRequest: Bool { true }

  func signed(_ wanted: S3Request) async throws(Failure) -> Request {
    guard wanted.method == request.method else {
      throw Failure(.usage, "the URL is signed for \(request.method.rawValue), not for \(wanted.method.rawValue)")
    }
    var signed = wanted.wire(request.url)
    signed.headers = request.headers
    for field in wanted.headers.fields where request.headers[field.name] == nil {
      signed.headers.add(field.name, field.value)
    }
    return signed
  }

  /// A refusal is final: only the signer of the URL can provide a new one.
  func learn(from answer: Response, to request: Request, now: Timestamp) -> Lesson? {
    guard let refusal = PresignedRefusal(answer) else { return nil }
    let isLate = answer.status == 403 && expires.map { now >= $0 } ?? false
    guard refusal.saysExpired || isLate else {
      let names = unsigned(in: request)
      guard refusal.saysUnsigned, !names.isEmpty else { return nil }
      return .refusal(
        Failure(
          .credentials, "the store refuses the presigned URL, which is not signed for \(names.joined(separator: ", "))",
          status: answer.status, s3Code: refusal.code, requestID: refusal.requestID,
          remedy: "leave out the option that sends this header, or ask for a URL that is signed for it"))
    }
    let end = expires.map { end in
      guard end > now else { return " at \(end.iso8601)" }
      return
        ", says the store, but by its own date it is valid until \(end.iso8601): the clock of the store, of its signer "
        + "or of this machine is wrong"
    }
    let keeps: Wording = request.method == .get ? ": what has arrived is kept and used with the new URL" : ""
    return .refusal(
      Failure(
        .credentialsExpired,
        refusal.isOfSigner(before: expires, now)
          ? "the credentials that signed the presigned URL have expired"
          : "the presigned URL has expired" + (end ?? ""),
        status: answer.status, s3Code: refusal.code, requestID: refusal.requestID,
        remedy: "ask for a new one where you got it" + keeps))
  }

  /// The request's headers that are S3's own and not signed. Some stores accept them.
  private func unsigned(in request: Request) -> [String] {
    request.headers.fields.map { $0.name.lowercased() }.filter {
      $0.begins(with: "x-amz-") && !signedNames.contains($0)
    }
  }

  func renew(after generation: Int, cause: Failure) async throws(Failure) -> Bool { false }
  var clockNote: String? { nil }
  func takeClockNote() -> String? { nil }

  /// The expiry by `X-Amz-Date` and `X-Amz-Expires`.
  private static func end(of url: String) -> Timestamp? {
    var (begin, lifetime): (Timestamp?, Int64?)
    for item in URLQuery(of: Array(url.utf8)).items {
      guard let value = item.decodedValue else { continue }
      if item.isNamed("X-Amz-Date") { begin = Timestamp(amzTime: value) }
      if item.isNamed("X-Amz-Expires") { lifetime = Int64(value, in: 0...10_000_000) }
    }
    guard let begin, let lifetime else { return nil }
    return Timestamp(seconds: begin.seconds + lifetime)
  }
}

/// A store's refusal of a presigned request.
struct PresignedRefusal {
  let code: String?
  let requestID: String?
  let saysExpired: Bool
  /// Whether it says that the request has headers that are not signed: "There were headers present in the request which
  /// were not signed".
  let saysUnsigned: Bool

  /// The refusal; nil if the answer is not one.
  init?(_ answer: Response) {
    guard [400, 401, 403].contains(answer.status) else { return nil }
    let body = S3ErrorBody(answer.body)
    code = body.code ?? S3ErrorBody.code(answer.headers)
    requestID = S3ErrorBody.requestID(answer.headers)
    let message = body.message?.lowercased() ?? ""
    saysUnsigned = message.holds("headers") && message.holds("not signed")
    saysExpired =
      body.saysExpires || message.holds("expired")
      || code.map { S3ErrorTable.expired.contains($0) || $0 == "RequestExpired" } ?? false
    guard answer.status != 400 || saysExpired else { return nil }
  }

  /// Whether the session of whoever signed has ended, and not the time that was signed for.
  func isOfSigner(before expires: Timestamp?, _ now: Timestamp) -> Bool {
    code.map(S3ErrorTable.expired.contains) ?? false && expires.map { now < $0 } ?? true
  }
}
