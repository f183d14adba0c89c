/// Keys that sign requests, with their expiry and their source.
public struct Credentials: Sendable, Equatable {
  /// The id of the key, such as `AKIA…`.
  public var accessKeyID: String
  /// The key that signs.
  public var secretAccessKey: Secret
  /// The session token; only for credentials that expire.
  public var sessionToken: Secret?
  /// When they expire; nil: never, or unknown.
  public var expiration: Timestamp?
  /// They cannot be renewed during this run, because they come from its environment.
  public var isFixed = false
  /// Where they were found, for people: `environment`, `profile dev in ~/.aws/credentials`.
  public var source: String

  /// `source` is for people.
  public init(
    accessKeyID: String, secretAccessKey: Secret, sessionToken: Secret? = nil, expiration: Timestamp? = nil,
    source: String
  ) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
    self.expiration = expiration
    self.source = source
  }
}
