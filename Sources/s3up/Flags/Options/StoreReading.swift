import MultipartBasics
import MultipartCore

extension StoreOptions {
  /// Reads how to reach the store, from the command line and the environment.
  init(_ invocation: Invocation) throws(Failure) {
    self.init()
    endpoint = try Self.endpoint(invocation)
    region = try Self.word(.region, invocation)
    profile = try invocation.text(.profile)
    addressing = try invocation.choice(.addressing)
    accelerate = invocation.toggle(.accelerate)
    dualstack = invocation.toggle(.dualstack)
    fips = invocation.toggle(.fips)
    caBundle = try invocation.path(.caBundle)?.text
    verifiesTLS = invocation.toggle(.insecure) != true
    proxy = try Self.proxy(invocation)
    requestPayer = invocation.toggle(.requestPayer) ?? false
    expectedBucketOwner = try Self.word(.expectedBucketOwner, invocation)
    stateFolder = try invocation.path(.stateDir)?.text
    payloadSigning = try invocation.choice(.payloadSigning)
    sessionEncryption = try ServerSideEncryption(invocation)
    try readCredentials(invocation)
    try readTransfer(invocation)
    for setting in Setting.allCases {
      switch invocation.last(setting.flag)?.origin {
      case .environment(let variable)?: origins[setting] = Provenance(variable, isEnvironment: true)
      case .commandLine(let name)?: origins[setting] = Provenance(name, isEnvironment: false)
      case nil: break
      }
    }
  }

  private mutating func readCredentials(_ invocation: Invocation) throws(Failure) {
    let role = try invocation.text(.githubRole)
    if role != nil, invocation.has(.cognitoIdentityPool) {
      throw Failure(
        .usage, "--cognito-identity-pool and --github-role exclude each other", remedy: "Leave one of them out.")
    }
    if let role { credentials = .github(role: role) }
    if invocation.toggle(.noSignRequest) == true { credentials = .unsigned }
    githubAudience = try invocation.text(.githubAudience)
    waitForCredentials = try invocation.duration(.waitForCredentials)
  }

  private mutating func readTransfer(_ invocation: Invocation) throws(Failure) {
    if let given = invocation.last(.concurrency), given.value.text != "auto" {
      connections = try invocation.number(.concurrency, in: Self.connectionCounts).map { .fixed($0) }
    }
    tries = try invocation.number(.retries, in: Self.tryCounts)
    stallTimeout = try invocation.duration(.stallTimeout)
    connectTimeout = try invocation.duration(.connectTimeout)
    if let given = invocation.last(.tcpCongestion) {
      switch given.value.text {
      case "auto": congestion = .auto
      case "system": congestion = .system
      case let name:
        // The kernel allows names of up to 15 bytes.
        guard (1...15).contains(name.utf8.count), name.utf8.allSatisfy(ASCII.isVisible) else {
          throw invocation.wrong(
            given, "is not the name of a congestion control",
            remedy: "Use auto, system, or a name in /proc/sys/net/ipv4/tcp_allowed_congestion_control.")
        }
        congestion = .named(name)
      }
    }
    if let given = invocation.last(.limitRate) {
      guard let rate = RateValue.parse(given.value.text) else {
        throw invocation.wrong(given, "is not a rate", remedy: RateValue.advice(given.value.text))
      }
      if case .limit(let limit) = rate { limitRate = limit }
    }
  }

  /// A value without spaces.
  private static func word(_ name: FlagName, _ invocation: Invocation) throws(Failure) -> String? {
    guard let given = invocation.last(name) else { return nil }
    let text = try invocation.text(given)
    guard !text.utf8.contains(UInt8(ascii: " ")) else {
      throw invocation.wrong(
        given, "holds a space",
        remedy: name == .region ? "A region is a code such as eu-west-1, not its name." : "Give it as one word.")
    }
    return text
  }

  private static func endpoint(_ invocation: Invocation) throws(Failure) -> String? {
    guard let given = invocation.last(.endpointURL) else { return nil }
    // The value is never shown, even if it is wrong in another way: the text before the @ is probably a password.
    guard !given.value.bytes.contains(UInt8(ascii: "@")) else {
      throw Failure(
        .usage, "\(given.origin.text): an endpoint holds no user name or password",
        remedy: "Credentials come from the environment or from --profile.")
    }
    guard let text = try word(.endpointURL, invocation) else { return nil }
    let lower = text.lowercased()
    if let quote = text.utf8.first, "\"'".utf8.contains(quote) {
      throw invocation.wrong(
        given, "is in quotes, which are part of it", remedy: "Write it without them, where it is set.")
    }
    if AWSHost.isRegion(text) {
      throw invocation.wrong(
        given, "is a region, not the address of a store",
        remedy: "Write --region \(text), and leave this out for AWS S3.")
    }
    let bare = Redaction.url("http://" + text).rest(after: "http://") ?? ""
    let remedy =
      text.holds("://") || lower.begins(with: "http") || bare.isEmpty || bare.begins(with: ":")
        || bare.begins(with: "/")
      ? "Write https://HOST or http://HOST:PORT."
      : "Write https://\(bare), or http://\(bare) if the store speaks no TLS."
    guard let rest = ["https://", "http://"].compactMap({ lower.rest(after: $0)?.utf8 }).first, let first = rest.first,
      !"/:".utf8.contains(first), !rest.contains(where: { "?#".utf8.contains($0) })
    else {
      throw invocation.wrong(given, "is not the address of a store", remedy: remedy)
    }
    return text
  }

  /// Reads the proxy. No message shows its value, which may contain a password.
  private static func proxy(_ invocation: Invocation) throws(Failure) -> String? {
    guard let given = invocation.last(.proxy) else { return nil }
    guard let text = given.value.utf8Text, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
      throw Failure(.usage, "\(given.origin.text): not an address of a proxy", remedy: "Write http://HOST:PORT.")
    }
    return text
  }
}
