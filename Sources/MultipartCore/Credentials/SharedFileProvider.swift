/// The keys written into a profile: in the credentials file, else in the config file. The three of them are taken from
/// one file, so that a token left over in the other is not put beside keys that it does not belong to.
package struct SharedFileProvider: CredentialProvider {
  private let name: String
  private let environment: [String: String]

  package init(profile name: String, environment: [String: String]) {
    self.name = name
    self.environment = environment
  }

  package var place: String {
    let places = SharedConfig(placesFor: environment)
    return "profile \(name) in \(places.credentialsPath) and \(places.configPath)"
  }

  /// Reads the files anew at each call, as another process may have renewed the keys.
  package func credentials() async throws(Failure) -> Credentials? {
    let shared = try SharedConfig.load(environment: environment)
    guard let profile = shared.profile(name) else { return nil }
    try refuse(Self.beforeKeys, in: profile)
    if let found = try keys(profile.credentials, in: shared.credentialsPath) { return found }
    try refuse(Self.betweenFiles, in: profile)
    return try keys(profile.config, in: shared.configPath)
  }

  /// Settings by which AWS's tools get credentials before they look for keys. The keys beside a role are those that
  /// may take it on: using them as they are would upload as somebody else.
  private static let beforeKeys = ["role_arn", "sso_session", "sso_start_url"]
  /// Those that come after the keys of the credentials file and before those of the config file.
  private static let betweenFiles = ["login_session", "credential_process"]

  private func keys(_ section: ConfigSection?, in file: String) throws(Failure) -> Credentials? {
    let names = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"]
    let place = "profile \(name) in \(file)"
    return try WrittenKeys.credentials(
      id: section?[names[0]], secret: section?[names[1]], token: section?[names[2]], names: names, place: place,
      source: place)
  }

  private func refuse(_ settings: [String], in profile: Profile) throws(Failure) {
    if let setting = settings.first(where: { profile[$0] != nil }) { throw elsewhere(setting) }
  }

  private func elsewhere(_ setting: String) -> Failure {
    Failure(
      .credentials, "profile \(name) gets its credentials by \(setting), which s3up cannot do",
      hint: "put them into the environment: eval \"$(aws configure export-credentials --profile \(name) --format env)\""
    )
  }
}
