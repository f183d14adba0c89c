/// Credentials that a service or a program issued, with the same rules for each. Missing values, and those that would
/// break out of a header, are refused and never shown.
enum IssuedKeys {
  private static let longest = 64 << 10

  /// Messages call the service `issuer`, such as `AssumeRole of STS`.
  static func credentials(
    id: String?, secret: String?, token: String?, expiration: Timestamp?, issuer: String, source: String
  ) throws(Failure) -> Credentials {
    guard let id, let secret, !id.isEmpty, !secret.isEmpty else {
      throw Failure(.server, "\(issuer) gave an answer without credentials")
    }
    for text in [id, secret, token ?? ""] {
      guard text.utf8.count <= longest, text.utf8.allSatisfy(ASCII.isVisible) else {
        throw Failure(.server, "\(issuer) gave credentials with characters that no key has")
      }
    }
    return Credentials(
      accessKeyID: id, secretAccessKey: Secret(secret),
      sessionToken: token.flatMap { $0.isEmpty ? nil : Secret($0) }, expiration: expiration, source: source)
  }
}
