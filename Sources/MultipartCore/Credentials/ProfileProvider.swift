/// A profile as its sources see it: one reading of both files, so that no two sources look at different ones.
struct ProfileView: Sendable {
  let context: CredentialContext
  let config: SharedConfig
  let name: String
  /// Nil when neither file has it; web identity needs none.
  let profile: Profile?
  /// `AWS_WEB_IDENTITY_TOKEN_FILE` and its kind count; not beside a profile that was named on the command line, and
  /// not for the source of a role.
  let readsEnvironment: Bool
  /// The profile that was asked for: where services are found and in which region.
  let asked: Profile?

  /// The same reading of the files, for a profile that another one names as its source.
  func source(_ name: String) -> ProfileView {
    ProfileView(
      context: context, config: config, name: name, profile: config.profile(name), readsEnvironment: false, asked: asked
    )
  }

  subscript(setting: String) -> String? { profile?[setting] }

  func sts() throws(Failure) -> STSClient {
    let region = context.region ?? asked?["region"] ?? self["region"]
    return STSClient(services: context.services, address: try addresses.address(of: .sts, region: region))
  }

  var addresses: ServiceAddresses {
    ServiceAddresses(environment: context.environment, profile: asked, config: config)
  }

  /// A failure of what is written in this profile.
  func misconfigured(_ what: String, remedy: Wording? = nil) -> Failure {
    Failure(
      .configuration, "profile \(name) \(what)",
      remedy: remedy ?? "mend the profile in \(config.configPath) or \(config.credentialsPath)")
  }

  /// `duration_seconds`, within what STS has ever granted.
  func duration() throws(Failure) -> Duration? {
    guard let text = self["duration_seconds"] else { return nil }
    guard let seconds = Int64(text), (900...43_200).contains(seconds) else {
      throw misconfigured("has a duration_seconds that is no number from 900 to 43200")
    }
    return .seconds(seconds)
  }

  /// A name for the session of a role that nobody named.
  func sessionName(_ written: String?) -> String {
    written.map(STSClient.sessionName) ?? "s3up-\(context.services.world.now().seconds)"
  }
}

/// One of the ways in which a profile says where its credentials come from. Nil when it does not go this way.
protocol ProfileSource: Sendable {
  func credentials(of view: ProfileView) async throws(Failure) -> Credentials?
}

/// A profile of the shared files, with all the ways in which it can give credentials, in AWS's order.
package struct ProfileProvider: CredentialProvider {
  private let context: CredentialContext
  private let name: String
  private let readsEnvironment: Bool

  package init(_ context: CredentialContext, profile name: String, readsEnvironment: Bool) {
    self.context = context
    self.name = name
    self.readsEnvironment = readsEnvironment
  }

  package var place: String {
    let files = SharedConfig(placesFor: context.environment)
    let profile = "profile \(name) in \(files.credentialsPath) and \(files.configPath)"
    return readsEnvironment ? profile + ", AWS_WEB_IDENTITY_TOKEN_FILE" : profile
  }

  package func credentials() async throws(Failure) -> Credentials? {
    let config = try SharedConfig.load(environment: context.environment)
    let profile = config.profile(name)
    let view = ProfileView(
      context: context, config: config, name: name, profile: profile, readsEnvironment: readsEnvironment,
      asked: profile)
    if let found = try await RoleSource().credentials(of: view) { return found }
    return try await Self.withoutRole(view)
  }

  /// Everything but the role, which the profile that a role names as its source has already been looked at for.
  static func withoutRole(_ view: ProfileView) async throws(Failure) -> Credentials? {
    let sources: [any ProfileSource] = [
      WebIdentitySource(), SSOSource(), WrittenKeysSource(file: .credentials), LoginSource(), ProcessSource(),
      WrittenKeysSource(file: .config),
    ]
    for source in sources {
      if let found = try await source.credentials(of: view) { return found }
    }
    return nil
  }
}
