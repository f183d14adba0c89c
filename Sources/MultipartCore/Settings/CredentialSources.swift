import MultipartBasics

/// The services that a run may get credentials from, apart from keys and profiles: a Cognito identity pool or GitHub if
/// chosen, the container, the EC2 machine.
struct CredentialSources: Sendable {
  /// The metadata service, which also knows the machine's region.
  let metadata: InstanceMetadata
  /// Called before the user is asked for a code.
  var onQuestion: @Sendable () -> Void = {}
  private let options: StoreOptions
  private let services: ServiceClient
  private var world: World { services.world }
  private let profile: ProfileSettings

  init(_ options: StoreOptions, _ services: ServiceClient, _ profile: ProfileSettings) {
    self.options = options
    self.services = services
    self.profile = profile
    metadata = InstanceMetadata(services: services, environment: services.world.environment) { () throws(Failure) in
      try profile.loaded()
    }
  }

  /// The region of the machine, if it is an EC2 machine.
  func region() async -> String? {
    do throws(Failure) {
      return try await metadata.region()
    } catch {
      world.log(1, "the region of this machine: \(error.message)")
      return nil
    }
  }

  /// The keeper of the credentials; nil if requests are not to be signed. `region` is the configured one.
  func credentials(region: String?) throws(Failure) -> CredentialKeeper? {
    if case .unsigned = options.credentials { return nil }
    var context = CredentialContext(services: services, region: region)
    fill(&context)
    if profile.choice.origin == .standard, GitHubOIDCProvider.isJobWithRole(in: world.environment) {
      context.jobRole = github(GitHubOIDCProvider.Settings(), region: region)
    }
    if let ask = options.askCode {
      context.askCode = { [onQuestion] (prompt) async throws(Failure) in
        onQuestion()
        return try await ask(prompt)
      }
    }
    let chain = chosen(region: region).map { CredentialChain([$0]) } ?? .standard(context, profile: profile.choice)
    let log = world.log
    return CredentialKeeper(world: world, patience: options.waitForCredentials?.bounded, say: { text in log(0, text) })
    {
      () async throws(Failure) in
      try await chain.credentials()
    }
  }

  /// Adds the container and the machine, each at its place in the chain.
  private func fill(_ context: inout CredentialContext) {
    context.container = ContainerProvider(environment: world.environment, services: services)
    context.instance = InstanceMetadataProvider(metadata: metadata, world: world)
  }

  /// The provider to use instead of the chain: the caller's own; GitHub, if a role is named for it, or if the
  /// environment has a role and GitHub's token but no keys and no token file, and no profile is named.
  private func chosen(region: String?) -> (any CredentialProvider)? {
    var role: String?
    switch options.credentials {
    case .keys(let credentials): return GivenCredentials { credentials }
    case .source(let source): return GivenCredentials(source)
    case .cognito(let identity): return identity
    case .github(let named): role = named
    case .chain, .unsigned: break
    }
    let settings = GitHubOIDCProvider.Settings(role: role, audience: options.githubAudience)
    let isFree = profile.choice.origin == .standard && GitHubOIDCProvider.isMeant(by: world.environment)
    guard settings.isDemanded || isFree else { return nil }
    return github(settings, region: region)
  }

  private func github(_ settings: GitHubOIDCProvider.Settings, region: String?) -> GitHubOIDCProvider {
    let (profile, services) = (profile, services)
    return GitHubOIDCProvider(settings: settings, environment: world.environment, services: services) {
      () async throws(Failure) in
      let place = if let region { region as String? } else { try profile.value("region") }
      return STSClient(
        services: services, address: try profile.serviceAddresses().address(of: .sts, region: place))
    }
  }
}

/// Credentials that the calling program has, or obtains when asked.
private struct GivenCredentials: CredentialProvider {
  let give: @Sendable () async throws -> Credentials
  var place: String { "the program's own credentials" }

  init(_ give: @escaping @Sendable () async throws -> Credentials) {
    self.give = give
  }

  func credentials() async throws(Failure) -> Credentials? {
    do {
      var credentials = try await give()
      if credentials.sessionToken?.reveal().isEmpty == true { credentials.sessionToken = nil }
      guard credentials.areSendable else {
        throw Failure(
          .credentials, "the program's own credentials are empty, or contain characters that no key has",
          remedy: "look for a line break or a blank at the end of a value that was read from a file")
      }
      return credentials
    } catch let failure as Failure {
      throw failure
    } catch is CancellationError where Task.isCancelled {
      throw .interrupted
    } catch {
      throw Failure(.credentials, "the program's own source of credentials failed: \(type(of: error))")
    }
  }
}
