import MultipartCore

/// The services that a run may get credentials from besides keys and profiles: the identity pool or GitHub that somebody
/// has chosen, the container, the machine.
struct CredentialSources {
  /// Also knows the region of the machine.
  let metadata: InstanceMetadata
  /// Told before a person is asked for a code.
  var onQuestion: @Sendable () -> Void = {}
  private let session: Session
  private let services: ServiceClient
  private let profile: ProfileSettings

  init(_ session: Session, _ services: ServiceClient, _ profile: ProfileSettings) {
    self.session = session
    self.services = services
    self.profile = profile
    metadata = InstanceMetadata(services: services, environment: session.environment) { () throws(Failure) in
      try profile.loaded()
    }
  }

  /// The region of the machine, when it is one that knows.
  func region() async -> String? {
    do throws(Failure) {
      return try await metadata.region()
    } catch {
      session.world.log(1, "the region of this machine: \(error.message)")
      return nil
    }
  }

  /// Nil when nothing shall be signed. `region` is the one that somebody named.
  func credentials(region: String?) throws(Failure) -> CredentialKeeper? {
    let options = try CredentialOptions(session.invocation)
    guard !options.noSignRequest else { return nil }
    var context = CredentialContext(services: services, region: region)
    try fill(&context)
    let (question, tell) = (TerminalQuestion(world: session.world, signals: session.signals), onQuestion)
    context.askCode = { (prompt) async throws(Failure) in
      tell()
      return try await question.ask(prompt)
    }
    let chain = try chosen(region: region).map { CredentialChain([$0]) } ?? .standard(context, profile: profile.choice)
    let log = session.world.log
    return CredentialKeeper(world: session.world, patience: options.patience, say: { text in log(0, text) }) {
      () async throws(Failure) in
      try await chain.credentials()
    }
  }

  /// The container and the machine, each for its place in the chain.
  private func fill(_ context: inout CredentialContext) throws(Failure) {
    context.container = ContainerProvider(environment: session.environment, services: services)
    context.instance = InstanceMetadataProvider(metadata: metadata, world: session.world)
    let state = try StateOptions(session.invocation, environment: session.environment).directory
    if let state { FormerInstanceFile.remove(from: state.text) }
  }

  /// Who stands instead of the chain: an identity pool; GitHub, when `--github-role` names a role for it, or when the
  /// environment has a role and GitHub's token but neither keys, nor a token's file, nor a profile that is named.
  private func chosen(region: String?) throws(Failure) -> (any CredentialProvider)? {
    if let cognito = session.cognito { return cognito }
    let settings = try CredentialOptions(session.invocation).github
    let isFree = profile.choice.origin == .standard && GitHubOIDCProvider.isMeant(by: session.environment)
    guard settings.isDemanded || isFree else { return nil }
    let (profile, services) = (profile, services)
    return GitHubOIDCProvider(settings: settings, environment: session.environment, services: services) {
      () async throws(Failure) in
      let place = if let region { region as String? } else { try profile.value("region") }
      return STSClient(
        services: services, address: try profile.serviceAddresses().address(of: .sts, region: place))
    }
  }
}
