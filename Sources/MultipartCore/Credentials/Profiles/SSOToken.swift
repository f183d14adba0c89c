import MultipartBasics

/// The login token that `aws sso login` stores in `~/.aws/sso/cache`; the file's name is the SHA-1 of the session's name,
/// or of the start URL if the profile has no session.
struct SSOToken: Sendable {
  let accessToken: Secret
  let expiration: Timestamp
  /// The fields of the whole file: those of other programs are kept when it is written.
  private let fields: [String: JSON]

  /// The path of the token's file, for messages and for opening it.
  struct Place: Sendable {
    let shown: String
    let path: String

    /// The place of a token; nil without `HOME`.
    init?(key: String, environment: [String: String]) throws(Failure) {
      let context = try DigestContext(.sha1)
      Array(key.utf8).withUnsafeBytes { context.update($0) }
      shown = "~/.aws/sso/cache/\(Hex.encode(try context.finish())).json"
      guard let path = SharedConfig.expanded(shown, environment) else { return nil }
      self.path = path
    }
  }

  /// What is needed to renew the token without a person.
  struct Renewal: Sendable {
    let clientID: String
    let clientSecret: Secret
    let refreshToken: Secret
  }

  /// Reads the token; nil if there is no login: there is no file, or it contains no token.
  static func read(_ place: Place) throws(Failure) -> SSOToken? {
    guard let bytes = try SmallFile.read(FilePath(place.path), shown: place.shown),
      case .object(let fields)? = JSON.parse(bytes)
    else { return nil }
    return SSOToken(Dictionary(fields) { $1 })
  }

  private init?(_ fields: [String: JSON]) {
    guard let token = fields["accessToken"]?.text, !token.isEmpty, token.utf8.allSatisfy(ASCII.isVisible),
      let expiration = fields["expiresAt"]?.text.flatMap(DateText.iso8601)
    else { return nil }
    self.fields = fields
    accessToken = Secret(token)
    self.expiration = expiration
  }

  /// The means of renewal; nil without a refresh token, or if the registration of its client has expired.
  func renewal(at now: Timestamp) -> Renewal? {
    guard let id = fields["clientId"]?.text, let secret = fields["clientSecret"]?.text,
      let token = fields["refreshToken"]?.text,
      let end = fields["registrationExpiresAt"]?.text.flatMap(DateText.iso8601), end > now
    else { return nil }
    return Renewal(clientID: id, clientSecret: Secret(secret), refreshToken: Secret(token))
  }

  /// This token with the result of a renewal. A refresh token that was used and not replaced is removed.
  func renewed(accessToken: String, refreshToken: String?, until end: Timestamp) -> SSOToken? {
    var fields = fields
    fields["accessToken"] = .string(accessToken)
    fields["expiresAt"] = .string(end.iso8601)
    fields["refreshToken"] = refreshToken.map { .string($0) }
    return SSOToken(fields)
  }

  /// Replaces the file atomically, readable by this user only.
  func write(_ place: Place) throws(Failure) {
    let bytes = Array((JSON.sorted(fields).encoded + "\n").utf8)
    let failure: (Int32) -> Failure = { _ in StateFolder.failure(place.path, "cannot be written") }
    try WholeFile.replace(FilePath(place.path), mode: 0o600, failing: failure) { (descriptor) throws(Failure) in
      guard WholeWrite.write(bytes, to: descriptor) == 0 else { throw failure(0) }
    }
  }
}
