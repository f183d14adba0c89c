import MultipartBasics
import MultipartCore

/// The Cognito identity pool whose credentials sign, and the identity's prefix in the bucket.
struct CognitoOptions: Sendable, Equatable {
  var pool: String
  /// The file with the token of each identity provider.
  var logins: [String: String] = [:]
  var access: AccessChoice?

  /// Reads the options; nil without a pool, and then the other options of the pool may not be given.
  init?(_ invocation: Invocation) throws(Failure) {
    access = try invocation.choice(.access)
    guard let given = invocation.last(.cognitoIdentityPool) else {
      for name in [FlagName.access, .cognitoLogin] {
        if let other = invocation.last(name) { throw Self.poolMissing(other.origin.text) }
      }
      return nil
    }
    guard CognitoIdentity.isPool(given.value.text) else {
      throw invocation.wrong(
        given, "is not the id of an identity pool", remedy: "It is REGION:NUMBER, as the console shows it.")
    }
    pool = given.value.text
    for given in invocation.all(.cognitoLogin) {
      let login = try Self.login(given)
      logins[login.name] = login.value
    }
  }

  static func poolMissing(_ what: String) -> Failure {
    Failure(
      .usage, "\(what) needs the identity of a Cognito identity pool",
      remedy: "Give --cognito-identity-pool REGION:NUMBER.")
  }

  /// The provider and its token file. A value that does not look like a file name is not shown: it may be the token
  /// itself.
  private static func login(_ given: Invocation.Given) throws(Failure) -> NamedValue {
    let name = given.origin.text
    guard let text = given.value.utf8Text, let pair = NamedValue(text), !pair.value.isEmpty else {
      throw Failure(
        .usage, "\(name): not of the form PROVIDER=FILE",
        remedy: "Write --\(FlagName.cognitoLogin.rawValue) accounts.google.com=FILE, the token in FILE.")
    }
    // Every JWT begins with `{"` in Base64.
    guard !pair.value.begins(with: "eyJ") else {
      throw Failure(
        .usage, "\(name): a token must not be given where others can see it",
        remedy: "Write the token into a file, and name the file.")
    }
    return pair
  }
}
