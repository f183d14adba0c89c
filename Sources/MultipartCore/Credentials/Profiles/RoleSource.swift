import MultipartBasics

/// A role that a profile assumes: `role_arn` with the credentials of another profile (`source_profile`) or of a named
/// source (`credential_source`). Roles can be chained; a profile may name itself as the source if it has keys.
struct RoleSource: ProfileSource {
  /// Longer chains are assumed to be mistakes.
  static let longestChain = 10

  func credentials(of view: ProfileView) async throws(Failure) -> Credentials? {
    guard Self.isRole(view.profile) else { return nil }
    return try await Self.takeOn(view, visited: [view.name])
  }

  /// Whether this is a role for this source: one with a web identity token belongs to `WebIdentitySource`.
  private static func isRole(_ profile: Profile?) -> Bool {
    profile?["role_arn"] != nil && profile?["web_identity_token_file"] == nil
  }

  private static func hasKeys(_ profile: Profile?) -> Bool {
    profile?["aws_access_key_id"] != nil || profile?["aws_secret_access_key"] != nil
  }

  private static func takeOn(_ view: ProfileView, visited: [String]) async throws(Failure) -> Credentials {
    guard let arn = view["role_arn"] else { throw view.misconfigured("has no role_arn") }
    guard arn.utf8.allSatisfy(ASCII.isVisible), arn.begins(with: "arn:") else {
      throw view.misconfigured(
        "has a role_arn that is not an ARN", remedy: "it looks like arn:aws:iam::123456789012:role/NAME")
    }
    var role = STSClient.Role(arn: arn, sessionName: view.sessionName(view["role_session_name"]))
    role.duration = try view.duration()
    role.externalID = view["external_id"]
    role.mfaSerial = view["mfa_serial"]
    let signer = try await source(of: view, visited: visited)
    if let serial = role.mfaSerial { role.mfaCode = try await code(serial, view) }
    return try await view.sts().assumeRole(role, signedBy: signer, source: "role \(arn) from profile \(view.name)")
  }

  /// The credentials that sign the request for the role.
  private static func source(of view: ProfileView, visited: [String]) async throws(Failure) -> Credentials {
    switch (view["source_profile"], view["credential_source"]) {
    case (.some, .some): throw view.misconfigured("has both source_profile and credential_source")
    case (nil, nil):
      throw view.misconfigured(
        "has a role_arn, but neither source_profile nor credential_source",
        remedy: "name the profile whose credentials may assume the role: source_profile = default")
    case (nil, let place?): return try await named(place, view)
    case (let name?, nil): return try await profile(name, view, visited)
    }
  }

  private static func profile(
    _ name: String, _ view: ProfileView, _ visited: [String]
  ) async throws(Failure) -> Credentials {
    let source = view.source(name)
    guard source.profile != nil else {
      throw view.misconfigured(
        "names the source_profile \"\(name)\", which does not exist",
        remedy: "name another profile there, or create it: aws configure --profile \(ShellWord.quoted(name))")
    }
    let isItself = name.utf8.elementsEqual(view.name.utf8) && hasKeys(source.profile)
    guard isItself || !visited.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
      throw view.misconfigured(
        "is part of a circle of source profiles: " + (visited + [name]).joined(separator: ", "),
        remedy: "one of them must get its credentials without a role")
    }
    guard visited.count < longestChain else {
      throw view.misconfigured("is behind more than \(longestChain) roles")
    }
    if isRole(source.profile), !hasKeys(source.profile) {
      return try await takeOn(source, visited: visited + [name])
    }
    guard let found = try await ProfileProvider.withoutRole(source) else {
      throw view.misconfigured("names the source_profile \"\(name)\", which has no credentials")
    }
    return found
  }

  private static func named(_ place: String, _ view: ProfileView) async throws(Failure) -> Credentials {
    let provider: (any CredentialProvider)?
    switch place {
    case "Environment": provider = EnvironmentProvider(environment: view.context.environment)
    case "EcsContainer": provider = view.context.container
    case "Ec2InstanceMetadata": provider = view.context.instance
    default:
      throw view.misconfigured(
        "has the credential_source \"\(place)\", which does not exist",
        remedy: "it is Environment, Ec2InstanceMetadata or EcsContainer")
    }
    guard let found = try await provider?.credentials() else {
      throw Failure(
        .credentials, "profile \(view.name) takes its credentials from \(place), which has none",
        remedy: provider.map { "looked in: \($0.place)" })
    }
    return found
  }

  private static func code(_ serial: String, _ view: ProfileView) async throws(Failure) -> Secret {
    let device = SafeText.oneLine(serial)
    guard let ask = view.context.askCode else {
      throw Failure(
        .credentials, "profile \(view.name) needs the code of \(device), and there is no way to ask for it",
        remedy: "run it on a terminal")
    }
    let code = try await ask("Code of \(device) for profile \(view.name): ")
    let digits = ASCII.trimmed(code.reveal())
    guard digits.utf8.count == 6, digits.utf8.allSatisfy(ASCII.isDigit) else {
      throw Failure(.credentials, "a code of \(device) has six digits", remedy: "run it again")
    }
    return Secret(digits)
  }
}
