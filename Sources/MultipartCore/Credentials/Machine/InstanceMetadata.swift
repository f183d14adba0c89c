import MultipartBasics

/// The metadata service of an EC2 machine, in version 2 only: a PUT returns a session token, which every request
/// carries.
///
/// There is one per run: the token is shared, and a machine without the service waits for its timeout only once.
final class InstanceMetadata: Sendable {
  private let services: ServiceClient
  private let environment: [String: String]
  private let profile: @Sendable () throws(Failure) -> Profile?
  private let state = Locked(State())

  private struct State: Sendable {
    var settings: InstanceMetadataSettings?
    var token: (text: Secret, ends: Duration)?
    /// The service is treated as absent until this uptime.
    var absentUntil: Duration?
    var wasThere = false
    /// Why there are no credentials, if there is a service.
    var refusal: String?
  }

  /// The longest lifetime that IMDS allows.
  private static let tokenSeconds: Int64 = 21_600
  /// A token is replaced this long before it expires.
  private static let tokenMargin = Duration.seconds(60)
  /// A service that did not respond is not asked again for this long.
  private static let absence = Duration.seconds(30)
  private static let issuer = "the instance metadata service"

  /// `profile` is called only when the service is about to be asked.
  init(
    services: ServiceClient, environment: [String: String],
    profile: @escaping @Sendable () throws(Failure) -> Profile? = { () throws(Failure) in nil }
  ) {
    self.services = services
    self.environment = environment
    self.profile = profile
  }

  /// The machine's region; nil without the service, or if it does not say.
  func region() async throws(Failure) -> String? {
    let path = "/latest/meta-data/placement/region"
    let name = try await get(path, "region of the instance") { $0.status == 200 ? Self.word($0.body) : nil }
    guard let name = name ?? nil, BucketName.isLabel(name) else { return nil }
    return name
  }

  /// The name of the machine's role; nil without the service, or without a role.
  func role() async throws(Failure) -> String? {
    let name = try await get(Self.rolePath, "role of the instance") { (answer) throws(Failure) -> String? in
      if answer.status == 404 || (answer.status == 200 && answer.body.allSatisfy { $0 <= 0x20 }) { return nil }
      guard answer.status == 200 else { throw ServedKeys.refusal(answer, issuer: Self.issuer) }
      guard let name = Self.word(answer.body) else {
        throw Failure(.server, "\(Self.issuer) returned no name of a role")
      }
      return name
    }
    guard let answered = name else { return nil }
    if answered == nil {
      services.world.log(1, "this instance has no role")
      state.withLock { $0.refusal = "it says that this instance has no role" }
    }
    return answered
  }

  /// Why it has no credentials, if there is a service.
  var refusal: String? { state.withLock { $0.refusal } }

  /// The credentials of that role as they are served, even if they have expired.
  func credentials(of role: String) async throws(Failure) -> Credentials? {
    let source = "role \(role) of this instance (IMDS at \(try settings().origin))"
    let path = Self.rolePath + PercentEncoding.query(role)
    return try await get(path, "credentials of the instance") { (answer) throws(Failure) in
      guard answer.status == 200 else {
        var failure = ServedKeys.refusal(answer, issuer: Self.issuer)
        failure.remedy = "check the role \(role) that the instance has"
        throw failure
      }
      return try ServedKeys.read(answer, issuer: Self.issuer, source: source)
    }
  }

  func settings() throws(Failure) -> InstanceMetadataSettings {
    if let known = state.withLock({ $0.settings }) { return known }
    // The profile is not read if a variable has switched off the service.
    let isOff = try InstanceMetadataSettings(environment: environment, profile: nil).isDisabled
    let read = try InstanceMetadataSettings(environment: environment, profile: isOff ? nil : try profile())
    state.withLock { $0.settings = read }
    return read
  }

  private static let rolePath = "/latest/meta-data/iam/security-credentials/"

  // MARK: - Asking

  /// The value that `read` returns for the answer; nil if there is no service. A 401 means that the session token has
  /// expired: then it is renewed once.
  private func get<Value: Sendable>(
    _ path: String, _ name: String, _ read: @Sendable (Response) throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    for isLast in [false, true] {
      guard let token = try await token() else { return nil }
      let settings = try settings()
      var question = ServiceClient.Question(name, .get, settings.origin, path: settings.basePath + path)
      question.headers = ["x-aws-ec2-metadata-token": token.reveal()]
      let value = try await ask(question, settings) { (answer) throws(Failure) -> Value? in
        answer.status == 401 && !isLast ? nil : try read(answer)
      }
      if let value { return value }
      // Another caller may already have renewed it.
      state.withLock { if $0.token?.text == token { $0.token = nil } }
    }
    return nil
  }

  private func token() async throws(Failure) -> Secret? {
    let settings = try settings()
    guard !settings.isDisabled else { return nil }
    let now = services.world.uptime()
    if let known = state.withLock({ $0.token }), known.ends > now { return known.text }
    let (isAbsent, wasThere) = state.withLock { ($0.absentUntil.map { $0 > now } ?? false, $0.wasThere) }
    guard !isAbsent else { return nil }
    var question = ServiceClient.Question(
      "token of the instance metadata", .put, settings.origin, path: settings.basePath + "/latest/api/token")
    question.headers = ["x-aws-ec2-metadata-token-ttl-seconds": String(Self.tokenSeconds)]
    let answer: Response
    do throws(Failure) {
      answer = try await ask(question, settings) { $0 }
    } catch {
      // If the service has answered in this run, this is a fault; otherwise the service is treated as absent.
      guard !wasThere, error.code == .network || error.code == .stalled else { throw error }
      if error.triedInVain == nil {
        state.withLock {
          $0.refusal =
            "it accepts connections, but gives no token: in a container, the hop limit of this instance's metadata may be 1"
        }
      }
      return absent(settings, error.message)
    }
    guard answer.status == 200, let text = Self.word(answer.body) else {
      let why =
        answer.status == 200 ? "its answer is not a token" : "it answered \(answer.status) to the request for a token"
      state.withLock { $0.refusal = why }
      return absent(settings, "\(why)")
    }
    let said =
      answer.headers["x-aws-ec2-metadata-token-ttl-seconds"].flatMap { Int64($0, in: .min ... .max) }
      ?? Self.tokenSeconds
    let seconds = min(max(said, 0), Self.tokenSeconds)
    let token = Secret(text)
    state.withLock { state in
      (state.wasThere, state.refusal) = (true, nil)
      state.token = (token, now + .seconds(seconds) - Self.tokenMargin)
    }
    return token
  }

  private func absent(_ settings: InstanceMetadataSettings, _ why: Wording) -> Secret? {
    services.world.log(1, "no instance metadata at \(settings.origin): \(why)")
    let until = services.world.uptime() + Self.absence
    state.withLock { $0.absentUntil = until }
    return nil
  }

  /// Asks with hardly any wait between the tries: on a machine without the service only the timeouts cost time. A
  /// truncated or garbled answer counts as a failed try.
  private func ask<Value: Sendable>(
    _ question: ServiceClient.Question, _ settings: InstanceMetadataSettings,
    _ read: @Sendable (Response) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    var question = question
    question.timeLimit = settings.timeLimit
    question.bypassesProxy = true
    var policy = RetryPolicy(tries: settings.tries)
    policy.base = .milliseconds(20)
    policy.longestRetryAfter = .seconds(1)
    return try await services.ask(question, retrying: policy) { (answer) throws(Failure) in
      guard ServiceClient.meaning(of: answer.status) == .credentials else {
        throw ServedKeys.refusal(answer, issuer: Self.issuer)
      }
      return try read(answer)
    }
  }

  /// The first line of an answer, if it is one word of printable ASCII: the form of tokens and names.
  private static func word(_ body: [UInt8]) -> String? {
    let first = body.drop { $0 <= 0x20 }.prefix { $0 != 0x0A && $0 != 0x0D }
    guard (1...4096).contains(first.count), first.allSatisfy({ ASCII.isVisible($0) && $0 != UInt8(ascii: "<") })
    else { return nil }
    return String(decoding: first, as: UTF8.self)
  }
}
