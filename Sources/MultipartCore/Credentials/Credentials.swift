/// What requests are signed with, until when it holds, and where it was found.
public struct Credentials: Sendable, Equatable {
  /// `AKIA…`
  public var accessKeyID: String
  /// What signs.
  public var secretAccessKey: Secret
  /// Of credentials that expire.
  public var sessionToken: Secret?
  /// Nil: they do not expire, or do not say when.
  public var expiration: Timestamp?
  /// Nothing can give this run others: those of its environment.
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
