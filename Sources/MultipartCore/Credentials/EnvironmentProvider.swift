/// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if set, `AWS_SESSION_TOKEN`.
struct EnvironmentProvider: CredentialProvider {
  private let environment: [String: String]

  init(environment: [String: String]) {
    self.environment = environment
  }

  var place: String { "the environment" }

  private static let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]

  /// Whether both keys are set.
  var hasKeys: Bool { Self.names.prefix(2).allSatisfy { environment[$0]?.isEmpty == false } }

  func credentials() async throws(Failure) -> Credentials? {
    let names = Self.names
    var found = try WrittenKeys.credentials(
      id: environment[names[0]], secret: environment[names[1]], token: environment[names[2]], names: names,
      place: place, source: "environment")
    found?.isFixed = true
    // `aws configure export-credentials` prints the expiration with the keys.
    found?.expiration = environment["AWS_CREDENTIAL_EXPIRATION"].flatMap { DateText.iso8601($0) }
    return found
  }
}
