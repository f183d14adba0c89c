import MultipartCore

/// The profile of the shared files, read when something is asked of it for the first time: an upload for which the
/// command line and the environment say everything reads no file.
final class ProfileSettings: Sendable {
  let choice: ProfileChoice
  private let environment: [String: String]
  private let profile = Locked<Profile??>(nil)

  init(_ invocation: Invocation, _ environment: [String: String]) throws(Failure) {
    self.environment = environment
    let name = try CredentialOptions(invocation).profile
    if let name, case .environment(let variable) = invocation.last(.profile)?.origin {
      choice = ProfileChoice(name: name, origin: .variable(variable))
    } else {
      choice = ProfileChoice(option: name, environment: environment)
    }
    // A profile that somebody named must be there, whether or not it is needed.
    if choice.origin != .standard { _ = try loaded() }
  }

  func value(_ name: String) throws(Failure) -> String? {
    try loaded()?[name]
  }

  func endpointURL() throws(Failure) -> String? {
    guard !["true", "1"].contains(environment["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]?.lowercased()) else { return nil }
    guard let profile = try loaded() else { return nil }
    return profile.block("s3")["endpoint_url"] ?? profile["endpoint_url"]
  }

  /// Nil when nothing shall be signed. Found once and kept for the run, and so is the failure to find any.
  func credentials(
    unsigned: Bool, _ context: CredentialContext, chosen: (any CredentialProvider)?
  ) -> (@Sendable () async throws(Failure) -> Credentials)? {
    guard !unsigned else { return nil }
    let chain = chosen.map { CredentialChain([$0]) } ?? .standard(context, profile: choice)
    let found = Locked<Result<Credentials, Failure>?>(nil)
    return { () async throws(Failure) -> Credentials in
      if let known = found.withLock({ $0 }) { return try known.get() }
      do throws(Failure) {
        let credentials = try await chain.credentials()
        found.withLock { $0 = .success(credentials) }
        return credentials
      } catch {
        // Whoever was asked has been asked often enough: a request that cannot be signed is not worth tries of its own,
        // and a person is not asked for a second code.
        var failure = error
        failure.isSettled = true
        found.withLock { $0 = .failure(failure) }
        throw failure
      }
    }
  }

  /// Where the services of AWS are asked that hand out credentials.
  func serviceAddresses() throws(Failure) -> ServiceAddresses {
    let shared = try SharedConfig.load(environment: environment)
    return ServiceAddresses(environment: environment, profile: try shared.profile(choice), config: shared)
  }

  func loaded() throws(Failure) -> Profile? {
    if let known = profile.withLock({ $0 }) { return known }
    let read = try SharedConfig.load(environment: environment).profile(choice)
    profile.withLock { $0 = .some(read) }
    return read
  }
}
