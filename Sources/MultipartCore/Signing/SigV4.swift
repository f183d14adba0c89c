/// The stages of AWS's "Signature Calculations for the Authorization Header", each under AWS's name for it, with S3's
/// own rules: the path is encoded once and never normalised.
package enum SigV4 {
  package static let algorithm = "AWS4-HMAC-SHA256"

  package struct CanonicalRequest: Sendable, Equatable {
    package var text: String
    /// `host;range;x-amz-date`
    package var signedHeaders: String
  }

  /// Day, region and service that a signature holds for.
  package struct Scope: Sendable, Hashable {
    package var day: String
    package var region: String
    package var service: String

    package init(at time: Timestamp, region: String, service: String) {
      self.day = time.amzDay
      self.region = region
      self.service = service
    }

    /// `20130524/us-east-1/s3/aws4_request`
    package var text: String { "\(day)/\(region)/\(service)/aws4_request" }
  }

  /// The key that signs for one day, region and service: as secret as the one it is made from.
  package struct SigningKey: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    package var description: String { "(signing key)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
  }

  /// Task 1. `headers` are those that are signed, Host among them.
  package static func canonicalRequest(
    method: HTTPMethod, path: String, query: [QueryItem], headers: HeaderList, payloadHash: String
  ) -> CanonicalRequest {
    let headers = canonicalHeaders(headers)
    let lines = [
      method.rawValue, path, canonicalQuery(query), headers.text, headers.signed, payloadHash,
    ]
    return CanonicalRequest(text: lines.joined(separator: "\n"), signedHeaders: headers.signed)
  }

  /// Task 2.
  package static func stringToSign(
    _ request: CanonicalRequest, at time: Timestamp, scope: Scope
  ) throws(Failure) -> String {
    let digest = SigningDigest.hex(try SigningDigest.sha256(Array(request.text.utf8)))
    return [algorithm, time.amzTime, scope.text, digest].joined(separator: "\n")
  }

  /// Task 3, first half.
  package static func signingKey(secret: Secret, scope: Scope) throws(Failure) -> SigningKey {
    var key = Array("AWS4".utf8) + Array(secret.reveal().utf8)
    for step in [scope.day, scope.region, scope.service, "aws4_request"] {
      key = try SigningDigest.hmac(key: key, step)
    }
    return SigningKey(bytes: key)
  }

  /// Task 3, second half: 64 lower-case hex digits.
  package static func signature(_ stringToSign: String, key: SigningKey) throws(Failure) -> String {
    SigningDigest.hex(try SigningDigest.hmac(key: key.bytes, stringToSign))
  }

  /// `max-keys=2&prefix=J`; a name without a value gets its `=` here.
  package static func canonicalQuery(_ items: [QueryItem]) -> String {
    sorted(items).map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&")
  }

  /// Encoded, then by the bytes of the name, then by those of the value.
  static func sorted(_ items: [QueryItem]) -> [QueryItem] {
    let encoded = items.map { QueryItem(PercentEncoding.query($0.name), $0.value.map(PercentEncoding.query)) }
    return encoded.sorted { a, b in
      if a.name != b.name { return a.name.utf8.lexicographicallyPrecedes(b.name.utf8) }
      return (a.value ?? "").utf8.lexicographicallyPrecedes((b.value ?? "").utf8)
    }
  }

  /// One `name:value` line for each name, ending in a line break, by name; values of the same name joined by commas in
  /// the order they are sent.
  static func canonicalHeaders(_ headers: HeaderList) -> (text: String, signed: String) {
    var values: [String: [String]] = [:]
    for field in headers.fields {
      values[field.name.lowercased(), default: []].append(folded(field.value))
    }
    let names = values.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let lines = names.map { "\($0):\((values[$0] ?? []).joined(separator: ","))\n" }
    return (lines.joined(), names.joined(separator: ";"))
  }

  /// AWS's Trimall: no white space at the ends, one space for each run of it inside.
  static func folded(_ value: String) -> String {
    let words = value.utf8.split { $0 == 0x20 || (0x09...0x0D).contains($0) }
    return String(decoding: Array(words.joined(separator: [0x20])), as: UTF8.self)
  }
}
