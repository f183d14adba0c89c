import MultipartBasics

/// The two calls of a Cognito identity pool, which return an identity and its credentials. Neither is signed.
struct CognitoIdentityClient: Sendable {
  typealias Logins = [(provider: String, token: Secret)]

  private let services: ServiceClient
  private let address: ServiceAddress

  init(services: ServiceClient, address: ServiceAddress) {
    self.services = services
    self.address = address
  }

  var origin: Origin { address.origin }
  var world: World { services.world }

  /// Calls `GetId`, which creates an identity for a guest, or returns the existing one of a signed-in user.
  func identity(in pool: CognitoPool, logins: Logins) async throws(Failure) -> String {
    try await ask("GetId", ("IdentityPoolId", .string(pool.id)), logins) { (answer) throws(Failure) in
      guard let id = answer["IdentityId"]?.text, CognitoPool.isIdentity(id) else {
        throw Failure(.server, "GetId of Cognito returned no identity")
      }
      return id
    }
  }

  /// Calls `GetCredentialsForIdentity`.
  func credentials(of identity: String, logins: Logins, source: String) async throws(Failure) -> Credentials {
    try await ask("GetCredentialsForIdentity", ("IdentityId", .string(identity)), logins) { (answer) throws(Failure) in
      let given = answer["Credentials"]
      return try IssuedKeys.credentials(
        id: given?["AccessKeyId"]?.text, secret: given?["SecretKey"]?.text, token: given?["SessionToken"]?.text,
        expiration: given?["Expiration"]?.double.flatMap(Self.moment),
        issuer: "GetCredentialsForIdentity of Cognito", source: source)
    }
  }

  /// The time for seconds since 1970, with a fraction.
  private static func moment(_ seconds: Double) -> Timestamp? {
    guard seconds >= 0, seconds < 1e12 else { return nil }
    return Timestamp(seconds: Int64(seconds))
  }

  private func ask<Value: Sendable>(
    _ action: String, _ field: (String, JSON), _ logins: Logins,
    _ read: @Sendable (JSON) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    var fields = [field]
    if !logins.isEmpty {
      let tokens = Dictionary(logins.map { ($0.provider, JSON.string($0.token.reveal())) }) { $1 }
      fields.append(("Logins", .sorted(tokens)))
    }
    var question = ServiceClient.Question("\(action) of Cognito", .post, address.origin, path: address.basePath + "/")
    question.headers = [
      "Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "AWSCognitoIdentityService.\(action)",
    ]
    question.body = Array(JSON.object(fields).encoded.utf8)
    question.secrets = logins.map(\.token)
    question.unanswered = address.unanswered
    let secrets = logins.map { $0.token.reveal() }
    // Cognito reports throttling as a 400: only its answer shows whether to retry.
    return try await services.ask(question) { (answer) throws(Failure) in
      guard answer.status == 200 else { throw Self.refusal(answer, action: action, secrets: secrets) }
      guard let json = JSON.parse(answer.body) else {
        throw Failure(.server, "the answer to \(action) of Cognito is not JSON", status: answer.status)
      }
      return try read(json)
    }
  }

  private static func refusal(_ answer: Response, action: String, secrets: [String]) -> Failure {
    let json = JSON.parse(answer.body)
    let code = code(json?["__type"]?.text ?? answer.headers["x-amzn-errortype"])
    let text = (json?["message"] ?? json?["Message"])?.text.map { Redaction.sentence($0, secrets: secrets) }
    let what = text.map { $0.isEmpty ? "" : ": \($0)" } ?? ""
    return Failure(
      meaning(code, status: answer.status), "Cognito refused \(action)" + what, status: answer.status, s3Code: code,
      requestID: S3ErrorBody.requestID(answer.headers), remedy: remedy(code, hasLogins: !secrets.isEmpty))
  }

  /// The code in an error: `com.amazonaws.cognito#NotAuthorizedException:http://…` is `NotAuthorizedException`.
  private static func code(_ text: String?) -> String? {
    guard let text else { return nil }
    let name = text.utf8.prefix { $0 != UInt8(ascii: ":") }.split(separator: UInt8(ascii: "#")).last ?? [][...]
    guard (1...128).contains(name.count), name.allSatisfy(ASCII.isAlphanumeric) else { return nil }
    return String(decoding: name, as: UTF8.self)
  }

  private static func meaning(_ code: String?, status: Int) -> Failure.Code {
    switch code {
    case "TooManyRequestsException", "ThrottlingException": .throttled
    // The identity provider did not answer Cognito, or two requests collided.
    case "InternalErrorException", "ExternalServiceException", "ConcurrentModificationException": .server
    default: ServiceClient.meaning(of: status)
    }
  }

  private static func remedy(_ code: String?, hasLogins: Bool) -> Wording? {
    switch code {
    case "NotAuthorizedException":
      hasLogins
        ? "the token may have expired, or the pool does not trust its provider: get a new token"
        : "the pool allows no guests: log in, and name the token's file with \(.cognitoLogin)"
    case "ResourceNotFoundException": "check the id of the pool and its region"
    case "InvalidIdentityPoolConfigurationException":
      "the pool has no role for \(hasLogins ? "users who have logged in" : "guests"), or may not assume it"
    case "InvalidParameterException": "check the pool's id and the names of the providers"
    default: nil
    }
  }
}
