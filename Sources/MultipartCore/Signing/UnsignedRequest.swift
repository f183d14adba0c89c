/// What `x-amz-content-sha256` says of the body.
package enum PayloadHash: Sendable, Equatable {
  /// The body is not part of the signature: TLS guards it.
  case unsigned
  /// SHA-256 of the body in lower-case hex.
  case sha256(String)
  /// No body.
  case empty

  package var headerValue: String {
    switch self {
    case .unsigned: "UNSIGNED-PAYLOAD"
    case .sha256(let hex): hex
    case .empty: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    }
  }
}

/// A request before it is signed.
package struct UnsignedRequest: Sendable {
  package var method: HTTPMethod
  package var origin: Origin
  /// Encoded once (`PercentEncoding.path`), begins with `/`, and is signed and sent as it stands here.
  package var path: String
  package var query: [QueryItem]
  package var headers: HeaderList
  package var payload: PayloadHash

  package init(
    method: HTTPMethod, origin: Origin, path: String, query: [QueryItem] = [], headers: HeaderList = [:],
    payload: PayloadHash = .empty
  ) {
    self.method = method
    self.origin = origin
    self.path = path
    self.query = query
    self.headers = headers
    self.payload = payload
  }

  /// The URL that is sent: the query in the canonical order and encoding, so that a proxy has nothing to tidy.
  func url(query: CanonicalQuery) -> String {
    let query = query.sent
    var url = TextBuffer(reserving: origin.host.utf8.count + path.utf8.count + query.utf8.count + 16)
    url.add(origin.scheme.rawValue, "://", origin.host, path)
    if !query.isEmpty { url.add("?", query) }
    return url.text
  }

  /// Refuses what would let one header become two: a name that is no token, a line break in a value.
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
}
