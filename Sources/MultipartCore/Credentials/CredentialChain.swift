/// Asks one place after the other; the first that has credentials gives them, and a place whose credentials cannot be
/// used ends the search: another identity than the one meant must not step in.
package struct CredentialChain: Sendable {
  private let providers: [any CredentialProvider]

  package init(_ providers: [any CredentialProvider]) {
    self.providers = providers
  }

  /// AWS's order. A profile named on the command line beats keys in the environment, as in the AWS CLI; one named by a
  /// variable does not.
  package static func standard(environment: [String: String], profile: ProfileChoice) -> CredentialChain {
    var providers: [any CredentialProvider] = []
    if profile.origin != .option { providers.append(EnvironmentProvider(environment: environment)) }
    providers.append(SharedFileProvider(profile: profile.name, environment: environment))
    return CredentialChain(providers)
  }

  package func credentials() async throws(Failure) -> Credentials {
    for provider in providers {
      if let found = try await provider.credentials() { return found }
    }
    let places = providers.map(\.place).joined(separator: ", then ")
    throw Failure(
      .credentials, "no credentials; looked in: \(places)",
      hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile with --profile, or run: aws configure")
  }
}
