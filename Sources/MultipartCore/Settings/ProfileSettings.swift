import MultipartBasics

/// The profile of the shared files, read when it is first needed. Unusable files do not matter if the caller and the
/// environment set everything that a run needs.
final class ProfileSettings: Sendable {
  let choice: ProfileChoice
  private let environment: [String: String]
  private let read = Locked<(config: SharedConfig, profile: Profile?)?>(nil)

  init(_ options: StoreOptions, _ environment: [String: String]) throws(Failure) {
    self.environment = environment
    if let name = options.profile, let origin = options.origins[.profile], origin.isEnvironment {
      choice = ProfileChoice(name: name, origin: .variable(origin.name))
    } else {
      choice = ProfileChoice(option: options.profile, environment: environment)
    }
    // A profile that was named must exist, even if it turns out not to be needed.
    if choice.origin != .standard { _ = try loaded() }
  }

  func value(_ name: String) throws(Failure) -> String? {
    try loaded()?[name]
  }

  func endpointURL() throws(Failure) -> String? {
    guard let profile = try loaded() else { return nil }
    return try serviceURL(profile) ?? profile.block("s3")["endpoint_url"] ?? profile["endpoint_url"]
  }

  /// The URL of the `s3 =` block in the section `[services NAME]` that `services = NAME` refers to.
  private func serviceURL(_ profile: Profile) throws(Failure) -> String? {
    guard let name = profile["services"], let config = read.withLock({ $0?.config }) else { return nil }
    guard let services = config.section("services", name) else {
      throw Failure(
        .configuration,
        "\(config.configPath): the profile \(profile.name) names the services \(name), which do not exist",
        remedy: "add a section [services \(name)] to \(config.configPath), or remove services from the profile"
      ).at(Place(file: config.configPath))
    }
    return services.nested["s3"]?["endpoint_url"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The S3 settings of the profile.
  func s3() throws(Failure) -> ProfileS3 {
    guard let profile = try loaded(), let config = read.withLock({ $0?.config }) else { return ProfileS3() }
    return try ProfileS3(profile, in: config)
  }

  /// Whether unusable files are a failure: if a profile was named, or if something that every run needs is not set
  /// elsewhere.
  private func isNeeded(for options: StoreOptions, endpointURL: String?, ignoresURLs: Bool, signs: Bool) -> Bool {
    let hasKeys = environment["AWS_ACCESS_KEY_ID"].map { !$0.isEmpty } ?? false
    return choice.origin != .standard || options.region == nil || (endpointURL == nil && !ignoresURLs)
      || (signs && !hasKeys)
  }

  /// Whether the files are read for settings: unless they are unusable, and nothing is needed from them.
  func isConsulted(
    for options: StoreOptions, endpointURL: String?, ignoresURLs: Bool, signs: Bool
  ) throws(Failure) -> Bool {
    do throws(Failure) {
      _ = try loaded()
      return true
    } catch {
      guard isNeeded(for: options, endpointURL: endpointURL, ignoresURLs: ignoresURLs, signs: signs) else {
        return false
      }
      throw error
    }
  }

  /// The endpoints of AWS's services that issue credentials.
  func serviceAddresses() throws(Failure) -> ServiceAddresses {
    let profile = try loaded()
    guard let config = read.withLock({ $0?.config }) else {
      throw Failure(.local, "the shared files were read, but are missing")
    }
    return ServiceAddresses(environment: environment, profile: profile, config: config)
  }

  func loaded() throws(Failure) -> Profile? {
    if let known = read.withLock({ $0 }) { return known.profile }
    let config = try SharedConfig.load(environment: environment)
    let profile = try config.profile(choice)
    read.withLock { $0 = (config, profile) }
    return profile
  }
}
