import Foundation
@testable import MultipartCore

/// A key pair that the fake store accepts.
package struct FakeCredential: Sendable {
  package var keyID: String
  package var secret: String
  package var sessionToken: String?
  /// The time, in seconds since 1970, from which on the answer is ExpiredToken.
  package var ends: Int64?
  /// Whether it belongs to a session at a directory bucket, whose token is sent in another header.
  package var isSession = false

  package init(
    keyID: String, secret: String, sessionToken: String? = nil, ends: Int64? = nil, isSession: Bool = false
  ) {
    self.keyID = keyID
    self.secret = secret
    self.sessionToken = sessionToken
    self.ends = ends
    self.isSession = isSession
  }

  package static let standard = FakeCredential(
    keyID: "AKIAFAKEFAKEFAKEFAKE", secret: "fake/secret+key/0123456789abcdefghijklmn")
}

/// Signature Version 4 on the server's side, written independently of the product's signer.
///
/// Like S3, it decodes path and query and encodes them again, and a client that signs another form (an unescaped
/// character, lower-case hex, double encoding) is refused.
struct FakeSigV4 {
  var head: HTTPHead
  var credentials: [String: FakeCredential]
  var now: Int64
  /// The region that the scope must name; nil accepts any.
  var region: String?
  var service = "s3"
  /// Whether only keys of a session are accepted.
  var needsSession = false

  struct Accepted {
    var keyID: String
    /// The value of x-amz-content-sha256, or UNSIGNED-PAYLOAD for a presigned request.
    var payload: String
    var presigned: Bool
  }

  private struct Parts {
    var keyID: String
    var scope: [String]
    var signedHeaders: [String]
    var signature: String
    var time: String
    var token: String?
    var payload: String
  }

  func verify() throws(FakeS3Error) -> Accepted {
    let presigned = head.query("X-Amz-Algorithm") != nil || head.query("X-Amz-Signature") != nil
    let header = head.headers["authorization"]
    if presigned, header != nil {
      throw FakeS3Error(.invalidArgument, "Only one auth mechanism allowed")
    }
    guard presigned || header != nil else { throw FakeS3Error(.accessDenied, "Access Denied") }
    let parts = presigned ? try queryParts() : try headerParts(header ?? "")
    let credential = try known(parts)
    try check(parts, credential, presigned: presigned)
    return Accepted(keyID: parts.keyID, payload: parts.payload, presigned: presigned)
  }

  private func headerParts(_ text: String) throws(FakeS3Error) -> Parts {
    let malformed = FakeS3Error(.authorizationHeaderMalformed, "The authorization header is malformed.")
    guard text.hasPrefix("AWS4-HMAC-SHA256 ") else { throw malformed }
    var fields: [String: String] = [:]
    for field in text.dropFirst(17).split(separator: ",") {
      let halves = field.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
      guard halves.count == 2 else { throw malformed }
      fields[String(halves[0])] = String(halves[1])
    }
    guard let credential = fields["Credential"], let signed = fields["SignedHeaders"],
      let signature = fields["Signature"]
    else { throw malformed }
    guard let time = head.headers["x-amz-date"] else {
      throw FakeS3Error(.accessDenied, "AWS authentication requires a valid Date or x-amz-date header")
    }
    guard let payload = head.headers["x-amz-content-sha256"] else {
      throw FakeS3Error(.invalidRequest, "Missing required header for this request: x-amz-content-sha256")
    }
    try checkPayload(payload)
    let (keyID, scope) = try split(credential, malformed)
    return Parts(
      keyID: keyID, scope: scope, signedHeaders: signed.components(separatedBy: ";"), signature: signature,
      time: time, token: head.headers[tokenName], payload: payload)
  }

  private func queryParts() throws(FakeS3Error) -> Parts {
    let wrong = FakeS3Error(
      .authorizationQueryParametersError,
      "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, "
        + "X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.")
    guard head.query("X-Amz-Algorithm") == "AWS4-HMAC-SHA256", let credential = head.query("X-Amz-Credential"),
      let signed = head.query("X-Amz-SignedHeaders"), let signature = head.query("X-Amz-Signature"),
      let time = head.query("X-Amz-Date"), let start = Self.seconds(time), let text = head.query("X-Amz-Expires"),
      let expires = Int64(text)
    else { throw wrong }
    guard (1...604_800).contains(expires) else {
      throw FakeS3Error(
        .authorizationQueryParametersError, "X-Amz-Expires must be between 1 and 604800 seconds")
    }
    guard start - now < 900 else { throw FakeS3Error(.accessDenied, "Request is not valid yet") }
    guard now < start + expires else {
      throw FakeS3Error(
        .accessDenied, "Request has expired",
        details: [
          ("X-Amz-Expires", text), ("Expires", Timestamp(seconds: start + expires).iso8601),
          ("ServerTime", Timestamp(seconds: now).iso8601),
        ])
    }
    let (keyID, scope) = try split(credential, wrong)
    return Parts(
      keyID: keyID, scope: scope, signedHeaders: signed.components(separatedBy: ";"), signature: signature,
      time: time, token: head.query(needsSession ? "X-Amz-S3session-Token" : "X-Amz-Security-Token"),
      payload: head.query("X-Amz-Content-Sha256") ?? head.headers["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD")
  }

  /// The key id may contain slashes and colons; the scope is the last four pieces.
  private func split(_ credential: String, _ wrong: FakeS3Error) throws(FakeS3Error) -> (String, [String]) {
    let pieces = credential.components(separatedBy: "/")
    guard pieces.count >= 5 else { throw wrong }
    return (pieces.dropLast(4).joined(separator: "/"), Array(pieces.suffix(4)))
  }

  private func checkPayload(_ payload: String) throws(FakeS3Error) {
    if payload.hasPrefix("STREAMING-") {
      throw FakeS3Error(.notImplemented, "A header you provided implies functionality that is not implemented.")
    }
    guard payload == "UNSIGNED-PAYLOAD" || (payload.utf8.count == 64 && payload.allSatisfy(\.isHexDigit)) else {
      throw FakeS3Error(
        .invalidArgument,
        "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, or a "
          + "valid sha256 value.")
    }
  }

  private var tokenName: String { needsSession ? "x-amz-s3session-token" : "x-amz-security-token" }

  private func known(_ parts: Parts) throws(FakeS3Error) -> FakeCredential {
    let unknown = FakeS3Error(
      .invalidAccessKeyId, "The AWS Access Key Id you provided does not exist in our records.",
      details: [("AWSAccessKeyId", parts.keyID)])
    guard let credential = credentials[parts.keyID] else { throw unknown }
    guard credential.isSession == needsSession else { throw FakeS3Error(.accessDenied, "Access Denied") }
    switch (credential.sessionToken, parts.token) {
    case (nil, nil): break
    case (.some, nil): throw unknown
    case (let own, let sent):
      guard own == sent else {
        throw FakeS3Error(.invalidToken, "The provided token is malformed or otherwise invalid.")
      }
    }
    if let ends = credential.ends, now >= ends {
      throw FakeS3Error(.expiredToken, "The provided token has expired.")
    }
    return credential
  }

  private func check(_ parts: Parts, _ credential: FakeCredential, presigned: Bool) throws(FakeS3Error) {
    guard let time = Self.seconds(parts.time) else {
      throw FakeS3Error(.accessDenied, "AWS authentication requires a valid Date or x-amz-date header")
    }
    guard presigned || abs(time - now) <= 900 else {
      throw FakeS3Error(
        .requestTimeTooSkewed, "The difference between the request time and the current time is too large.",
        details: [
          ("RequestTime", parts.time), ("ServerTime", Timestamp(seconds: now).iso8601),
          ("MaxAllowedSkewMilliseconds", "900000"),
        ])
    }
    try checkScope(parts)
    try checkSignedHeaders(parts, presigned: presigned)
    let canonical = canonicalRequest(parts)
    let text = [
      "AWS4-HMAC-SHA256", parts.time, parts.scope.joined(separator: "/"), hex(FakeHash.sha256.of(canonical.utf8)),
    ].joined(separator: "\n")
    var key = Array("AWS4\(credential.secret)".utf8)
    for piece in parts.scope { key = hmacSHA256(key, piece) }
    guard hex(hmacSHA256(key, text)) == parts.signature else {
      throw FakeS3Error(
        .signatureDoesNotMatch,
        "The request signature we calculated does not match the signature you provided. Check your key and signing "
          + "method.",
        details: [
          ("AWSAccessKeyId", parts.keyID), ("StringToSign", text), ("SignatureProvided", parts.signature),
          ("CanonicalRequest", canonical),
        ])
    }
  }

  private func checkScope(_ parts: Parts) throws(FakeS3Error) {
    let scope = parts.scope
    let problem: String? =
      if scope[0] != String(parts.time.prefix(8)) {
        "Invalid credential date \"\(scope[0])\". This date is not the same as X-Amz-Date: \"\(parts.time.prefix(8))\"."
      } else if let region, scope[1] != region {
        "the region '\(scope[1])' is wrong; expecting '\(region)'"
      } else if scope[2] != service {
        "incorrect service \"\(scope[2])\". This endpoint belongs to \"\(service)\"."
      } else if scope[3] != "aws4_request" {
        "incorrect terminal \"\(scope[3])\". This endpoint uses \"aws4_request\"."
      } else {
        nil
      }
    guard let problem else { return }
    throw FakeS3Error(
      .authorizationHeaderMalformed, "The authorization header is malformed; \(problem)",
      details: region.map { [("Region", $0)] } ?? [])
  }

  private func checkSignedHeaders(_ parts: Parts, presigned: Bool) throws(FakeS3Error) {
    let signed = Set(parts.signedHeaders)
    var missing = signed.contains("host") ? [] : ["host"]
    for field in head.headers.fields {
      let name = field.name.lowercased()
      guard name.hasPrefix("x-amz-"), !signed.contains(name) else { continue }
      if presigned, name == "x-amz-content-sha256" { continue }
      missing.append(name)
    }
    guard missing.isEmpty, parts.signedHeaders == parts.signedHeaders.sorted() else {
      throw FakeS3Error(
        .accessDenied, "There were headers present in the request which were not signed",
        details: [("HeadersNotSigned", missing.joined(separator: ", "))])
    }
  }

  private func canonicalRequest(_ parts: Parts) -> String {
    let path = FakeURL.encode(FakeURL.decode(head.rawPath) ?? [], keepSlash: true)
    let query = head.query.filter { $0.name != "X-Amz-Signature" }
      .map { (FakeURL.encode($0.name.utf8), FakeURL.encode($0.value.utf8)) }
      .sorted { $0 < $1 }
      .map { "\($0)=\($1)" }.joined(separator: "&")
    let headers = parts.signedHeaders.map { name in
      let values = head.headers.fields.filter { $0.name.lowercased() == name }
        .map { $0.value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") }
      return "\(name):\(values.joined(separator: ","))\n"
    }
    return [
      head.method, path, query, headers.joined(), parts.signedHeaders.joined(separator: ";"), parts.payload,
    ].joined(separator: "\n")
  }

  /// Converts `20130524T000000Z` to seconds since 1970.
  static func seconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
    func number(_ range: Range<Int>) -> Int32? { Int32(String(decoding: bytes[range], as: UTF8.self)) }
    var fields = tm()
    guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
      let minute = number(11..<13), let second = number(13..<15)
    else { return nil }
    (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year - 1900, month - 1, day)
    (fields.tm_hour, fields.tm_min, fields.tm_sec) = (hour, minute, second)
    return Int64(timegm(&fields))
  }
}
