import MultipartBasics

/// A role assumed with a token of an identity provider: `AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN` and
/// `AWS_ROLE_SESSION_NAME` (as in Kubernetes), else the matching settings of the profile. The file is read at each call,
/// because it is replaced before the token expires.
struct WebIdentitySource: ProfileSource {
  private static let longestToken = 64 << 10

  func credentials(of view: ProfileView) async throws(Failure) -> Credentials? {
    func setting(_ variable: String, _ name: String) -> (text: String, place: String)? {
      if view.readsEnvironment, let text = view.context.environment[variable], !text.isEmpty { return (text, variable) }
      return view[name].map { ($0, "profile \(view.name)") }
    }
    guard let file = setting("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file") else { return nil }
    guard let role = setting("AWS_ROLE_ARN", "role_arn") else {
      throw Failure(
        .configuration, "\(file.place) names a web identity token, but no role to assume with it",
        remedy: "set AWS_ROLE_ARN, or role_arn in the profile")
    }
    let token = try Self.token(file.text, view.context.environment)
    let name = setting("AWS_ROLE_SESSION_NAME", "role_session_name")?.text
    do throws(Failure) {
      return try await view.sts().assumeRoleWithWebIdentity(
        role: role.text, sessionName: view.sessionName(name), token: token, duration: try view.duration(),
        source: "role \(role.text) by the token in \(file.text)")
    } catch {
      throw error.at(Place(file: file.text))
    }
  }

  private static func token(_ path: String, _ environment: [String: String]) throws(Failure) -> Secret {
    let bytes: [UInt8]?
    do throws(Failure) {
      bytes = try read(path, environment)
    } catch {
      var failure = error
      failure.code = .credentials
      failure.message = "the web identity token: \(error.message)"
      throw failure.ofFile
    }
    guard let bytes else {
      throw Failure(
        .credentials, "there is no web identity token at \(path)",
        remedy: "make sure that the token is written there, or unset AWS_WEB_IDENTITY_TOKEN_FILE"
      ).at(Place(file: path)).ofFile
    }
    let token = ASCII.trimmed(String(decoding: bytes, as: UTF8.self))
    guard !token.isEmpty, token.utf8.allSatisfy(ASCII.isVisible) else {
      throw Failure(
        .credentials, "the contents of \(path) are not a web identity token", remedy: "the file must contain only a JWT"
      ).at(Place(file: path)).ofFile
    }
    return Secret(token)
  }

  private static func read(_ path: String, _ environment: [String: String]) throws(Failure) -> [UInt8]? {
    guard let file = SharedConfig.expanded(path, environment) else { return nil }
    return try SmallFile.read(FilePath(file), shown: path, limit: longestToken)
  }
}
