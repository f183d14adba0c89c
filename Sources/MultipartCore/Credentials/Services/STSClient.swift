import MultipartBasics

/// AWS's Security Token Service: assumes a role, with an identity token or with keys that may assume it.
///
/// ```swift
/// let sts = STSClient(services: services, address: try places.address(of: .sts, region: region))
/// let found = try await sts.assumeRoleWithWebIdentity(role: role, sessionName: "build-7", token: token)
/// ```
struct STSClient: Sendable {
  let services: ServiceClient
  let address: ServiceAddress

  /// The parameters of AssumeRole. All but the role and the name may be left to STS.
  struct Role: Sendable {
    var arn: String
    var sessionName: String
    var duration: Duration?
    var externalID: String?
    var mfaSerial: String?
    var mfaCode: Secret?
  }

  /// Assumes a role by a request signed by `credentials`. `source` is the source of the result.
  func assumeRole(
    _ role: Role, signedBy credentials: Credentials, source: String? = nil
  ) async throws(Failure) -> Credentials {
    var form = Self.form("AssumeRole", role.arn, role.sessionName, role.duration)
    if let id = role.externalID { form.append(("ExternalId", id)) }
    if let serial = role.mfaSerial { form.append(("SerialNumber", serial)) }
    if let code = role.mfaCode { form.append(("TokenCode", code.reveal())) }
    let signer = SigV4Signer(region: address.region, service: "sts")
    return try await ask(
      "AssumeRole", form, role: role.arn, signedBy: (signer, credentials), source: source ?? "role \(role.arn)")
  }

  /// Assumes a role by a request that is not signed: the identity provider's token authenticates.
  func assumeRoleWithWebIdentity(
    role: String, sessionName: String, token: Secret, duration: Duration? = nil, source: String? = nil
  ) async throws(Failure) -> Credentials {
    var form = Self.form("AssumeRoleWithWebIdentity", role, sessionName, duration)
    form.append(("WebIdentityToken", token.reveal()))
    return try await ask(
      "AssumeRoleWithWebIdentity", form, role: role, secrets: [token], signedBy: nil, source: source ?? "role \(role)")
  }

  /// A session name that AWS accepts (`[\w+=,.@-]{2,64}`), made from one that was chosen freely; other characters
  /// become `-`.
  static func sessionName(from text: String) -> String {
    let bytes = text.utf8.prefix(64).map { byte in
      ASCII.isAlphanumeric(byte) || "_+=,.@-".utf8.contains(byte) ? byte : UInt8(ascii: "-")
    }
    return bytes.count < 2 ? "s3up" : String(decoding: bytes, as: UTF8.self)
  }

  private static func form(
    _ action: String, _ role: String, _ sessionName: String, _ duration: Duration?
  ) -> [(String, String)] {
    var form = [
      ("Action", action), ("Version", "2011-06-15"), ("RoleArn", role), ("RoleSessionName", sessionName),
    ]
    if let duration { form.append(("DurationSeconds", String(duration.components.seconds))) }
    return form
  }

  private func ask(
    _ action: String, _ form: [(String, String)], role: String, secrets: [Secret] = [],
    signedBy signature: ServiceClient.Signature?, source: String
  ) async throws(Failure) -> Credentials {
    let now = services.world.now
    return try await ask(action, form, secrets: secrets, signedBy: signature) { (answer, name) throws(Failure) in
      guard answer.status == 200 else {
        throw STSRefusal.failure(answer, action: action, role: role, by: signature?.credentials, at: now())
      }
      return try Self.read(answer, name: name, source: source)
    }
  }

  /// Asks with retries of the whole exchange: some of STS's 400 responses are worth a retry.
  func ask<Value: Sendable>(
    _ action: String, _ form: [(String, String)], secrets: [Secret] = [], signedBy signature: ServiceClient.Signature?,
    limit: Duration? = nil, _ read: @Sendable (_ answer: Response, _ name: String) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let name = "\(action) of STS"
    var question = ServiceClient.Question(name, .post, address.origin, path: address.basePath + "/")
    question.headers = ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8", "Accept": "text/xml"]
    question.body = Array(
      form.map { "\(PercentEncoding.query($0.0))=\(PercentEncoding.query($0.1))" }.joined(separator: "&").utf8)
    question.secrets = secrets
    question.timeLimit = limit ?? question.timeLimit
    question.unanswered = address.unanswered
    let asked = question
    return try await services.retry.run(name, in: services.world) { (_) async throws(Failure) in
      try read(try await answer(to: asked, signature), name)
    }
  }

  /// Sends the request. If a signature was refused because the clock is wrong, it is signed once more by the clock of
  /// STS.
  private func answer(
    to question: ServiceClient.Question, _ signature: ServiceClient.Signature?
  ) async throws(Failure) -> Response {
    let world = services.world
    let answer = try ServiceClient.settled(
      await services.answer(to: question, signedBy: signature), to: question.name)
    guard signature != nil, let behind = STSRefusal.secondsBehind(answer, world.now()) else { return answer }
    world.log(1, "\(STSRefusal.words(of: behind)): signing again by the clock of STS")
    let time = Timestamp(seconds: world.now().seconds + behind)
    return try ServiceClient.settled(
      await services.answer(to: question, signedBy: signature, at: time), to: question.name)
  }

  private static func read(_ answer: Response, name: String, source: String) throws(Failure) -> Credentials {
    let given: XMLElement?
    do {
      given = try XMLReader.read(answer.body).first("Credentials")
    } catch {
      throw Failure(.server, "the answer to \(name) is not XML of STS", status: answer.status)
    }
    return try IssuedKeys.credentials(
      id: given?.string("AccessKeyId"), secret: given?.string("SecretAccessKey"), token: given?.string("SessionToken"),
      expiration: try IssuedKeys.expiration(given?.string("Expiration"), name), issuer: name, source: source)
  }
}

/// The identity of the credentials, as STS reports it.
struct CallerIdentity: Sendable, Equatable {
  var account: String
  var arn: String
}

extension STSClient {
  /// Calls `GetCallerIdentity`, which needs no permission: it fails only if the credentials are wrong.
  func callerIdentity(
    signedBy credentials: Credentials, limit: Duration = .seconds(5)
  ) async throws(Failure) -> CallerIdentity {
    let action = "GetCallerIdentity"
    let signer = SigV4Signer(region: address.region, service: "sts")
    let (form, now) = ([("Action", action), ("Version", "2011-06-15")], services.world.now)
    let signature = (signer: signer, credentials: credentials)
    return try await ask(action, form, signedBy: signature, limit: limit) { (answer, name) throws(Failure) in
      guard answer.status == 200 else {
        var failure = STSRefusal.failure(
          answer, action: action, role: "these credentials", by: credentials, at: now())
        // The remedy for AssumeRole does not apply here.
        if failure.s3Code == "AccessDenied" { failure.remedy = nil }
        throw failure
      }
      func text(_ tree: XMLTree, _ name: String) -> String? {
        tree.first(name).map { SafeText.oneLine(ASCII.trimmed($0.text)) }.flatMap { $0.isEmpty ? nil : $0 }
      }
      guard let tree = try? XMLReader.read(answer.body), let account = text(tree, "Account"),
        let arn = text(tree, "Arn")
      else { throw Failure(.server, "the answer to \(name) contains no identity", status: answer.status) }
      return CallerIdentity(account: account, arn: arn)
    }
  }
}
