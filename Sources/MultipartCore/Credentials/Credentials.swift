/// Keys that sign requests, when they expire, and where they were found.
public struct Credentials: Sendable, Equatable {
  /// `AKIA…`
  public var accessKeyID: String
  /// The key that signs.
  public var secretAccessKey: Secret
  /// Only for credentials that expire.
  public var sessionToken: Secret?
  /// Nil: they do not expire, or do not say when.
  public var expiration: Timestamp?
  /// They cannot be renewed during this run, because they come from its environment.
  public var isFixed = false
  /// For people: `environment`, `profile dev in ~/.aws/credentials`.
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
