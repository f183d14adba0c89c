/// What goes on the wire, whichever way it is signed: in its headers, in its URL, or not at all.
///
/// `headers` leaves out `Host`, which is the URL's; a header of a presigned request that is in the list has to be
/// sent as it is there. Its own description shows no signature, token or key.
package struct SignedRequest: Sendable, Equatable {
  package var method: HTTPMethod
  package var url: String
  package var headers: HeaderList
  /// When the store begins to refuse it.
  package var expires: Timestamp?
  /// Which credentials of the run signed it.
  package var credentialTurn: Int?

  package init(method: HTTPMethod, url: String, headers: HeaderList = [:], expires: Timestamp? = nil) {
    self.method = method
    self.url = url
    self.headers = headers
    self.expires = expires
  }

  /// For buckets that anybody may read or write.
  package static func unsigned(_ request: UnsignedRequest) throws(Failure) -> SignedRequest {
    try request.checkHeaders()
    var headers = request.headers
    headers.remove("host")
    headers.remove("authorization")
    return SignedRequest(
      method: request.method, url: request.url(query: CanonicalQuery(request.query)), headers: headers)
  }

  /// The URL for logs.
  package var redactedURL: String { Redaction.url(url) }

  /// The headers for logs.
  package var redactedHeaders: HeaderList { Redaction.headers(headers) }
}

extension SignedRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "\(method.rawValue) \(redactedURL)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror {
    Mirror(self, children: ["method": method, "url": redactedURL, "headers": redactedHeaders])
  }
}
