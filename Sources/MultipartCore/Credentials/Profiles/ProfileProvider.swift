import MultipartBasics

/// A profile as its sources see it: both files are read once, so that all sources see the same contents.
struct ProfileView: Sendable {
  let context: CredentialContext
  let config: SharedConfig
  let name: String
  /// The profile; nil if neither file has it, which web identity does not need.
  let profile: Profile?
  /// Whether `AWS_WEB_IDENTITY_TOKEN_FILE` and related variables count: not if the caller named a profile, and not for
  /// the source of a role.
  let readsEnvironment: Bool
  /// The requested profile, which determines the services' endpoints and region.
  let asked: Profile?

  /// The profile that another one names as its source, from the same contents of the files.
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

  /// A failure caused by the contents of this profile.
  func misconfigured(_ what: String, remedy: Wording? = nil) -> Failure {
    Failure(
      .configuration, "profile \(name) \(what)",
      remedy: remedy ?? "fix the profile in \(config.configPath) or \(config.credentialsPath)"
    ).ofFile
  }

  /// The value of `duration_seconds`, within the limits of STS.
  func duration() throws(Failure) -> Duration? {
    guard let text = self["duration_seconds"] else { return nil }
    guard let seconds = Int64(text, in: 900...43_200) else {
      throw misconfigured("has a duration_seconds that is not a number from 900 to 43200")
    }
    return .seconds(seconds)
  }

  /// The session name for a role if none is given.
  func sessionName(_ written: String?) -> String {
    written.map(STSClient.sessionName) ?? "s3up-\(context.services.world.now().seconds)"
  }
}

/// One of the ways in which a profile gets credentials; returns nil if the profile does not use it.
protocol ProfileSource: Sendable {
  func credentials(of view: ProfileView) async throws(Failure) -> Credentials?
}

/// A profile of the shared files, with all the ways in which it can get credentials, in AWS's order.
struct ProfileProvider: CredentialProvider {
  private let context: CredentialContext
  private let name: String
  private let readsEnvironment: Bool

  init(_ context: CredentialContext, profile name: String, readsEnvironment: Bool) {
    self.context = context
    self.name = name
    self.readsEnvironment = readsEnvironment
  }

  var place: String {
    let files = SharedConfig(placesFor: context.environment)
    let profile = "profile \(name) in \(files.credentialsTitle) and \(files.configTitle)"
    return readsEnvironment ? profile + ", AWS_WEB_IDENTITY_TOKEN_FILE" : profile
  }

  func credentials() async throws(Failure) -> Credentials? {
    let config = try SharedConfig.load(environment: context.environment)
    let profile = config.profile(name)
    let view = ProfileView(
      context: context, config: config, name: name, profile: profile, readsEnvironment: readsEnvironment,
      asked: profile)
    if let found = try await RoleSource().credentials(of: view) { return found }
    return try await Self.withoutRole(view)
  }

  /// The credentials by all ways except a role, for a profile whose role has already been handled.
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
