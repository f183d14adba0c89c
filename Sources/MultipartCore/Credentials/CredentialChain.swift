import MultipartBasics

/// Tries one source after another; the first that has credentials is used, then and at every later call. A source whose
/// credentials are unusable ends the search, so that only the intended identity is used.
final class CredentialChain: Sendable {
  private let providers: [any CredentialProvider]
  /// The source of the first credentials. A file that another program is rewriting is missing or empty for a moment:
  /// if the search went on to the next source then, a run would change to the identity of its container or machine.
  private let inUse = Locked<(any CredentialProvider)?>(nil)
  /// What to do if none of them has credentials.
  private let remedy: Wording

  init(_ providers: [any CredentialProvider], remedy: Wording = CredentialChain.remedy) {
    self.providers = providers
    self.remedy = remedy
  }

  private static let remedy: Wording =
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile with \(.profile), or run: aws configure"

  /// The order of the AWS CLI (botocore's `create_credential_resolver` and `ProfileProviderBuilder`):
  ///
  /// 1. the keys of the environment, unless the caller names a profile;
  /// 2. the profile's role (`role_arn` with `source_profile` or `credential_source`);
  /// 3. web identity, by `AWS_WEB_IDENTITY_TOKEN_FILE` (unless the caller names a profile) or by the profile's
  ///    `web_identity_token_file`;
  /// 4. the profile's SSO (`sso_account_id` and `sso_role_name`);
  /// 5. the profile's keys in the credentials file;
  /// 6. the profile's `login_session`, which is not supported: the error says what to use instead;
  /// 7. the profile's `credential_process`;
  /// 8. the profile's keys in the config file;
  /// 9. the container, then the metadata service of the EC2 machine; but not in a job at GitHub whose role cannot be
  ///    assumed.
  ///
  /// Every call reads files and tokens again: another process may have renewed them.
  static func standard(_ context: CredentialContext, profile: ProfileChoice) -> CredentialChain {
    let isNamed = profile.precedesKeys
    var providers: [any CredentialProvider] = []
    if !isNamed { providers.append(EnvironmentProvider(environment: context.environment)) }
    providers.append(ProfileProvider(context, profile: profile.name, readsEnvironment: !isNamed))
    providers += [context.jobRole, context.container, context.instance].compactMap { $0 }
    guard isNamed else { return CredentialChain(providers) }
    // A profile that the caller names takes precedence over the environment.
    let fill: Wording = "put keys into it: aws configure --profile \(ShellWord.quoted(profile.name))"
    return CredentialChain(
      providers,
      remedy: EnvironmentProvider(environment: context.environment).hasKeys
        ? "\(fill); or leave \(.profile) out to use the keys of the environment" : fill)
  }

  func credentials() async throws(Failure) -> Credentials {
    if let known = inUse.withLock({ $0 }) { return try await again(known) }
    for provider in providers {
      guard let found = try await provider.credentials() else { continue }
      inUse.withLock { $0 = $0 ?? provider }
      return found
    }
    let places = providers.map(\.place).joined(separator: ", then ")
    var failure = Failure(.credentials, "no credentials found; looked in: \(places)", remedy: remedy)
    failure.mayAppear = true
    throw failure
  }

  private func again(_ provider: any CredentialProvider) async throws(Failure) -> Credentials {
    if let found = try await provider.credentials() { return found }
    var failure = Failure(
      .credentials, "no new credentials in \(provider.place), where this run found its first ones",
      remedy: "put them there again: a run does not change to those of another place")
    failure.mayAppear = true
    throw failure
  }
}

/// What the sources of a chain need: the environment, the services, and what only the calling program can provide.
struct CredentialContext: Sendable {
  let environment: [String: String]
  let services: ServiceClient
  /// The region for STS that an option or a variable names; it takes precedence over the profile's.
  var region: String?
  /// Asks a person for the code of an MFA device; `prompt` names the device. Nil, or throws, if there is no one to ask.
  var askCode: (@Sendable (_ prompt: String) async throws(Failure) -> Secret)?
  /// The role that a job at GitHub names: it replaces the container and the machine.
  var jobRole: (any CredentialProvider)?
  /// Credentials of the container: used at its place in the chain and for `credential_source = EcsContainer`.
  var container: (any CredentialProvider)?
  /// Credentials of the EC2 machine: used last in the chain, and for `credential_source = Ec2InstanceMetadata`.
  var instance: (any CredentialProvider)?

  init(services: ServiceClient, region: String? = nil) {
    environment = services.world.environment
    self.services = services
    self.region = region
  }
}
