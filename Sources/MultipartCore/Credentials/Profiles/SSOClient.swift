import MultipartBasics

/// The two calls of AWS's IAM Identity Center: renew a token, and get the keys of a role for it.
struct SSOClient: Sendable {
  let services: ServiceClient
  /// The host `portal.sso.<region>`.
  let portal: ServiceAddress
  /// The host `oidc.<region>`.
  let oidc: ServiceAddress

  /// Calls GetRoleCredentials.
  func credentials(
    account: String, role: String, token: Secret, source: String
  ) async throws(Failure) -> Credentials {
    let name = "GetRoleCredentials of SSO"
    var question = ServiceClient.Question(name, .get, portal.origin, path: portal.basePath + "/federation/credentials")
    question.unanswered = portal.unanswered
    question.query = [QueryItem("role_name", role), QueryItem("account_id", account)]
    question.headers = ["x-amz-sso_bearer_token": token.reveal(), "Accept": "application/json"]
    let answer = try await services.ask(question) { answer throws(Failure) in
      try ServiceClient.settled(answer, to: name)
    }
    guard answer.status == 200 else {
      throw Self.refusal(
        answer, "SSO refused the role \(SafeText.oneLine(role)) of account \(SafeText.oneLine(account))")
    }
    let given = JSON.parse(answer.body)?["roleCredentials"]
    // In milliseconds.
    let end = given?["expiration"]?.integer.map { Timestamp(seconds: $0 / 1000) }
    return try IssuedKeys.credentials(
      id: given?["accessKeyId"]?.text, secret: given?["secretAccessKey"]?.text, token: given?["sessionToken"]?.text,
      expiration: end, issuer: name, source: source)
  }

  /// Calls CreateToken. Never retried: if the answer is lost, the refresh token has been used up and is refused.
  func renew(_ token: SSOToken, _ renewal: SSOToken.Renewal) async throws(Failure) -> SSOToken {
    let name = "CreateToken of SSO"
    var question = ServiceClient.Question(name, .post, oidc.origin, path: oidc.basePath + "/token")
    question.unanswered = oidc.unanswered
    question.headers = ["Content-Type": "application/json", "Accept": "application/json"]
    let fields = JSON.object([
      ("clientId", .string(renewal.clientID)), ("clientSecret", .string(renewal.clientSecret.reveal())),
      ("grantType", .string("refresh_token")), ("refreshToken", .string(renewal.refreshToken.reveal())),
    ])
    question.body = Array(fields.encoded.utf8)
    question.secrets = [renewal.clientSecret, renewal.refreshToken, token.accessToken]
    let answer = try ServiceClient.settled(await services.answer(to: question), to: name)
    guard answer.status == 200 else { throw Self.refusal(answer, "SSO refused to renew the login") }
    let given = JSON.parse(answer.body)
    // No session lasts longer than a week.
    guard let access = given?["accessToken"]?.text, let seconds = given?["expiresIn"]?.integer(in: 1...Int64(604_800)),
      let renewed = token.renewed(
        accessToken: access, refreshToken: given?["refreshToken"]?.text,
        until: Timestamp(seconds: services.world.now().seconds + seconds))
    else { throw Failure(.server, "\(name) returned no token") }
    return renewed
  }

  /// The code is in a header, or in the body as `error` (OIDC) or `__type`.
  private static func refusal(_ answer: Response, _ what: String) -> Failure {
    let body = JSON.parse(answer.body)
    let written = answer.headers["x-amzn-ErrorType"] ?? body?["error"]?.text ?? body?["__type"]?.text
    // Forms of the code: `UnauthorizedException:http://…`, `com.amazonaws#UnauthorizedException`.
    let code = written.flatMap { $0.words(between: "#").last?.words(between: ":").first.map(String.init) }
    let said = body?["message"]?.text ?? body?["error_description"]?.text
    let text = said.map { Redaction.sentence($0, secrets: []) }
    return Failure(
      ServiceClient.meaning(of: answer.status), what + (text.map { ": \($0)" } ?? ""), status: answer.status,
      s3Code: code.map { SafeText.oneLine($0, limit: 80) }, requestID: S3ErrorBody.requestID(answer.headers))
  }
}
