import MultipartBasics

/// The stages of AWS's "Signature Calculations for the Authorization Header", each under AWS's name for it, with S3's
/// own rules: the path is encoded once and never normalised.
enum SigV4 {
  static let algorithm = "AWS4-HMAC-SHA256"

  struct CanonicalRequest: Sendable, Equatable {
    var text: String
    /// The names of the signed headers, such as `host;range;x-amz-date`.
    var signedHeaders: String
  }

  /// Day, region and service for which a signature is valid.
  struct Scope: Sendable, Hashable {
    var day: String
    var region: String
    var service: String

    init(at time: Timestamp, region: String, service: String) {
      self.day = time.amzDay
      self.region = region
      self.service = service
    }

    /// The scope's text, such as `20130524/us-east-1/s3/aws4_request`.
    var text: String {
      var text = TextBuffer(reserving: 64)
      text.add(day, "/", region, "/", service, "/aws4_request")
      return text.text
    }
  }

  /// The key that signs for one day, region and service: as secret as the secret key that it is derived from.
  struct SigningKey: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    var description: String { "(signing key)" }
    var customMirror: Mirror { Mirror(self, children: []) }
  }

  /// Task 1. `headers` are the ones to sign besides Host, which comes from the URL.
  static func canonicalRequest(
    _ method: HTTPMethod, _ url: String, headers: HeaderList, payloadHash: String
  ) -> CanonicalRequest {
    let url = CanonicalURL(url)
    let headers = canonicalHeaders(headers, host: url.host)
    return CanonicalRequest(
      text: lines(method.rawValue, url.path, url.signedQuery, headers.text, headers.signed, payloadHash),
      signedHeaders: headers.signed)
  }

  /// Task 2.
  static func stringToSign(
    _ request: CanonicalRequest, at time: Timestamp, scope: Scope
  ) throws(Failure) -> String {
    lines(algorithm, time.amzTime, scope.text, Hex.encode(try Digest.sha256(request.text.utf8)))
  }

  /// Task 3, first half.
  static func signingKey(secret: Secret, scope: Scope) throws(Failure) -> SigningKey {
    var key = Array("AWS4".utf8) + Array(secret.reveal().utf8)
    for step in [scope.day, scope.region, scope.service, "aws4_request"] {
      key = try SigningDigest.hmac(key: key, step.utf8)
    }
    return SigningKey(bytes: key)
  }

  /// Task 3, second half: 64 lower-case hex digits.
  static func signature(_ stringToSign: String, key: SigningKey) throws(Failure) -> String {
    Hex.encode(try SigningDigest.hmac(key: key.bytes, stringToSign.utf8))
  }

  /// One `name:value` line per name, sorted by name, each ending in a line break; values of one name are joined by commas
  /// in the order they are sent. `signed` lists the names.
  static func canonicalHeaders(_ headers: HeaderList, host: String) -> (text: String, signed: String) {
    var fields = headers.fields.map { (name: $0.name.lowercased(), value: $0.value) }
    fields.append(("host", host))
    // The sort is stable, so values of one name keep their order.
    fields.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    let room = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 2 }
    var (text, signed) = (TextBuffer(reserving: room), TextBuffer(reserving: room))
    var last: String?
    for (name, value) in fields {
      if let last, last.utf8.count == name.utf8.count, last.utf8.elementsEqual(name.utf8) {
        text.add(byte: ",")
      } else {
        if last != nil {
          text.add(byte: "\n")
          signed.add(byte: ";")
        }
        text.add(name)
        text.add(byte: ":")
        signed.add(name)
      }
      text.add(folded(value))
      last = name
    }
    if last != nil { text.add(byte: "\n") }
    return (text.text, signed.text)
  }

  /// AWS's Trimall: no white space at the ends, and a single space for each run inside.
  static func folded(_ value: String) -> String {
    guard !isFolded(value) else { return value }
    let words = value.utf8.split(whereSeparator: isWhite)
    return String(decoding: Array(words.joined(separator: [0x20])), as: UTF8.self)
  }

  /// Most values need no change.
  private static func isFolded(_ value: String) -> Bool {
    var value = value
    return value.withUTF8 { bytes in
      var afterSpace = true
      for byte in bytes {
        let isSpace = isWhite(byte)
        if isSpace, afterSpace || byte != 0x20 { return false }
        afterSpace = isSpace
      }
      return !afterSpace || bytes.isEmpty
    }
  }

  private static func isWhite(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private static func lines(_ lines: String...) -> String {
    var text = TextBuffer(reserving: lines.reduce(0) { $0 + $1.utf8.count + 1 })
    for (index, line) in lines.enumerated() {
      if index > 0 { text.add(byte: "\n") }
      text.add(line)
    }
    return text.text
  }
}
