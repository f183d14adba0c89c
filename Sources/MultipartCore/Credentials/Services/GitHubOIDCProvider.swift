import MultipartBasics

/// Assumes a role in a GitHub Actions job: GitHub issues an identity token, and STS returns the role's credentials for
/// it. Both are asked each time, so that an upload that outlasts its credentials gets new ones without a token on disk.
/// The job needs `permissions: id-token: write`.
struct GitHubOIDCProvider: CredentialProvider {
  /// The role, and the audience that its trust policy requires.
  struct Settings: Sendable, Equatable {
    var role: String?
    /// The caller named the role for GitHub: then it is a failure if GitHub cannot be asked.
    var isDemanded = false
    var audience = "sts.amazonaws.com"

    init() {}

    /// `role` is the one that the caller names.
    init(role: String?, audience: String? = nil) {
      self.role = role
      isDemanded = role != nil
      if let audience { self.audience = audience }
    }
  }

  private static let variables = (url: "ACTIONS_ID_TOKEN_REQUEST_URL", token: "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
  private static let issuer = "GitHub's token service"
  private static let permission: Wording =
    "give the job the permission id-token: write, in the workflow's permissions"
  private static let longestToken = 32 << 10

  private let settings: Settings
  private let environment: [String: String]
  private let services: ServiceClient
  private let sts: @Sendable () async throws(Failure) -> STSClient

  /// Without a role in the settings, that of `AWS_ROLE_ARN` is assumed. `sts` is called only when needed, because it
  /// may have to find its region.
  init(
    settings: Settings = Settings(), environment: [String: String], services: ServiceClient,
    sts: @escaping @Sendable () async throws(Failure) -> STSClient
  ) {
    self.settings = settings
    self.environment = environment
    self.services = services
    self.sts = sts
  }

  /// Whether the environment has a role and access to GitHub's token, but no keys and no web identity token, which AWS's
  /// tools look for first.
  static func isMeant(by environment: [String: String]) -> Bool {
    isSet(["AWS_ROLE_ARN", variables.url, variables.token], in: environment)
      && !["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_WEB_IDENTITY_TOKEN_FILE"].contains {
        isSet([$0], in: environment)
      }
  }

  /// Whether it is the environment of a job at GitHub that names a role. If no keys are found before it, the job acts as
  /// this role or not at all, and never with the credentials of the container or machine on which it happens to run.
  static func isJobWithRole(in environment: [String: String]) -> Bool {
    isSet(["AWS_ROLE_ARN"], in: environment) && environment["GITHUB_ACTIONS"] == "true"
  }

  private static func isSet(_ variables: [String], in environment: [String: String]) -> Bool {
    variables.allSatisfy { environment[$0]?.isEmpty == false }
  }

  var place: String { "GitHub's OIDC (id-token: write and AWS_ROLE_ARN)" }

  /// The credentials; nil if a role, GitHub's URL or its request token is missing. Throws in that case if the caller
  /// named the role, or a job at GitHub does.
  func credentials() async throws(Failure) -> Credentials? {
    guard let role = settings.role ?? text("AWS_ROLE_ARN") else { return nil }
    guard let address = text(Self.variables.url), let key = text(Self.variables.token) else {
      guard settings.isDemanded || Self.isJobWithRole(in: environment) else { return nil }
      let missing = text(Self.variables.url) == nil ? Self.variables.url : Self.variables.token
      throw Failure(
        .credentials, "a role is requested from GitHub, but \(missing) is not set",
        remedy: settings.isDemanded
          ? Self.permission : Self.permission + "; to use other credentials, unset AWS_ROLE_ARN")
    }
    let token = try await token(at: address, key: key)
    return try await sts().assumeRoleWithWebIdentity(
      role: role, sessionName: sessionName, token: token, source: "role \(role) by GitHub's OIDC")
  }

  private var sessionName: String {
    if let name = text("AWS_ROLE_SESSION_NAME") { return STSClient.sessionName(from: name) }
    return STSClient.sessionName(from: text("GITHUB_RUN_ID").map { "s3up-\($0)" } ?? "s3up")
  }

  private func text(_ variable: String) -> String? {
    environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }

  private func token(at address: String, key: String) async throws(Failure) -> Secret {
    let url = try ServiceURL.parse(address, name: Self.variables.url)
    // Anyone who reads the request token on the way could use it.
    guard url.origin.scheme == .https || url.origin.isLoopback else {
      throw Failure(
        .configuration, "\(Self.variables.url) is not https", remedy: "the job's runner sets it: leave it as it is")
    }
    guard key.utf8.allSatisfy(ASCII.isVisible) else {
      throw Failure(
        .credentials, "\(Self.variables.token) contains a line break or a control character",
        remedy: "the job's runner sets it: leave it as it is")
    }
    var question = ServiceClient.Question("token of GitHub", .get, url.origin, path: url.path)
    question.query = url.query.filter { $0.name != "audience" } + [QueryItem("audience", settings.audience)]
    question.headers = ["Authorization": "Bearer \(key)", "Accept": "application/json; api-version=2.0"]
    return try await services.ask(question) { (answer) throws(Failure) in
      guard answer.status == 200 else {
        var failure = ServedKeys.refusal(answer, issuer: Self.issuer, secrets: [key])
        if failure.code == .credentials { failure.remedy = Self.permission }
        throw failure
      }
      // A JWT consists of letters, digits, `-`, `_` and two dots. Anything else may be an error page of GitHub.
      guard let value = JSON.parse(answer.body)?["value"]?.text, (1...Self.longestToken).contains(value.utf8.count),
        value.utf8.allSatisfy(ASCII.isVisible)
      else { throw Failure(.server, "the answer of \(Self.issuer) has no token", status: answer.status) }
      return Secret(value)
    }
  }
}
