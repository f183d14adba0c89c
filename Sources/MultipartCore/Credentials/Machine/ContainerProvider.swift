import Glibc
import MultipartBasics

/// Credentials of a container: from the ECS agent at `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, or from the URL in
/// `AWS_CONTAINER_CREDENTIALS_FULL_URI`, which EKS pod identity and other launchers set.
struct ContainerProvider: CredentialProvider {
  private let environment: [String: String]
  private let services: ServiceClient

  /// Each of three tries may take five seconds: an agent that has just started fetches the role's keys first.
  private static let timeLimit = Duration.seconds(5)
  private static let tries = 3
  private static let issuer = "the container's credential service"

  init(environment: [String: String], services: ServiceClient) {
    self.environment = environment
    self.services = services
  }

  var place: String {
    "the container's credential service (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI)"
  }

  /// The credentials; nil if neither variable is set. If both are set, the relative one is used.
  func credentials() async throws(Failure) -> Credentials? {
    guard let address = try ContainerAddress(environment: environment) else { return nil }
    let (policy, world) = (RetryPolicy(tries: Self.tries), services.world)
    return try await policy.run("container credentials", in: world) { (_) async throws(Failure) in
      try await once(address)
    }
  }

  private func once(_ address: ContainerAddress) async throws(Failure) -> Credentials {
    // Read for each try: the file may have been renewed in between.
    let token = try authorization()
    var question = ServiceClient.Question("container credentials", .get, address.url.origin, path: address.url.path)
    question.query = address.url.query
    question.headers = ["Accept": "application/json"]
    question.headers.add("Authorization", token)
    question.hidesPath = true
    question.timeLimit = Self.timeLimit
    question.bypassesProxy = address.url.origin.scheme == .http
    question.unanswered = "check \(address.variable), which names this service"
    let answer = try await services.answer(to: question)
    guard answer.status == 200 else {
      // Whoever knows the path can ask for the keys, too.
      let secrets = ([token, address.url.path] + address.url.query.map(\.value)).compactMap(\.self)
      var failure = ServedKeys.refusal(answer, issuer: Self.issuer, secrets: secrets.filter { $0.utf8.count > 1 })
      failure.remedy = remedy(answer.status, address)
      throw failure
    }
    return try ServedKeys.read(answer, issuer: Self.issuer, source: "container credentials at \(address.url.origin)")
  }

  private func remedy(_ status: Int, _ address: ContainerAddress) -> Wording? {
    switch status {
    case 401, 403:
      "the authorization token was refused: check AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE or _TOKEN"
    case 400..<500: "check \(address.variable), and that the task or pod has a role"
    default: nil
    }
  }

  /// The value of the `Authorization` header. The file takes precedence and is read each time, because it is replaced
  /// during the run. A line break in it is refused: it could add another header.
  private func authorization() throws(Failure) -> String? {
    let (ofFile, ofText) = ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN")
    if let path = environment[ofFile], !path.isEmpty {
      let bytes: [UInt8]
      do throws(Failure) {
        bytes = try FilePath(path).contents(limit: 64 << 10)
      } catch {
        var failure = error
        failure.code = .credentials
        failure.message = "\(ofFile): \(error.message)"
        throw failure.ofFile
      }
      do throws(Failure) {
        return try checked(bytes, ofFile)
      } catch {
        throw error.ofFile
      }
    }
    guard let text = environment[ofText], !text.isEmpty else { return nil }
    return try checked(Array(text.utf8), ofText)
  }

  private func checked(_ bytes: [UInt8], _ name: String) throws(Failure) -> String {
    guard !bytes.isEmpty else {
      throw Failure(
        .credentials, "\(name): the authorization token is empty",
        remedy: "write the token there again, or restart the container")
    }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
      throw Failure(
        .credentials, "\(name): the authorization token contains a line break or a control character",
        remedy: "write it without a line end, as printf '%s' does")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The URL of a container's credentials, from one of the two variables.
struct ContainerAddress: Sendable {
  let url: ServiceURL
  let variable: String

  init?(environment: [String: String]) throws(Failure) {
    let (relative, full) = ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
    if let path = environment[relative], !path.isEmpty {
      guard path.begins(with: "/") else {
        throw Failure(.credentials, "\(relative) does not begin with /", remedy: "it is a path at 169.254.170.2")
      }
      url = try ServiceURL.parse("http://169.254.170.2" + path, name: relative, blame: .credentials)
      variable = relative
      return
    }
    guard let text = environment[full], !text.isEmpty else { return nil }
    url = try ServiceURL.parse(text, name: full, blame: .credentials)
    variable = full
    guard url.origin.scheme == .https || Self.isNear(url.origin) else {
      throw Failure(
        .credentials, "\(full): credentials are not requested from \(url.origin)",
        remedy: "over http only this machine and the agents of ECS (169.254.170.2) and EKS (169.254.170.23, "
          + "[fd00:ec2::23]) are allowed; use https for other hosts")
    }
  }

  /// Whether plain HTTP is allowed by AWS's rule: only for local addresses. Other names are not resolved, because the
  /// answer may change before the request. `localhost` is safe: libcurl makes it a loopback address without asking a
  /// name server.
  private static func isNear(_ origin: Origin) -> Bool {
    if origin.host.begins(with: "[") {
      let address = origin.bareHost
      var parsed = in6_addr()
      guard inet_pton(AF_INET6, address, &parsed) == 1 else { return false }
      let bytes = withUnsafeBytes(of: &parsed) { Array($0) }
      return bytes == [UInt8](repeating: 0, count: 15) + [1]
        || bytes == [0xFD, 0x00, 0x0E, 0xC2] + [UInt8](repeating: 0, count: 11) + [0x23]
    }
    let name = origin.bareHost
    if name == "localhost" { return true }
    // Only four decimal numbers are accepted: programs disagree on `127.1` and `0x7f000001`.
    var parsed = in_addr()
    guard inet_pton(AF_INET, name, &parsed) == 1 else { return false }
    let bytes = withUnsafeBytes(of: &parsed) { Array($0) }
    return bytes[0] == 127 || bytes == [169, 254, 170, 2] || bytes == [169, 254, 170, 23]
  }
}
