/// What requests are signed with, until when it holds, and where it was found.
package struct Credentials: Sendable, Equatable {
  package var accessKeyID: String
  package var secretAccessKey: Secret
  package var sessionToken: Secret?
  package var expiration: Timestamp?
  /// Nothing can give this run others: those of its environment.
  package var isFixed = false
  /// For people: `environment`, `profile dev in ~/.aws/credentials`.
  package var source: String

  package init(
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
