import MultipartCore

/// How to reach the store.
struct ConnectionOptions: Sendable, Equatable {
  var endpointURL: String?
  var region: String?
  /// Nil if not given.
  var addressing: Addressing?
  var accelerate: Bool?
  var dualstack: Bool?
  var fips: Bool?
  var caBundle: Argument?
  var insecure = false
  var proxy: String?
  var requestPayer = false
  var expectedBucketOwner: String?

  init() {}

  init(_ invocation: Invocation) throws(Failure) {
    endpointURL = try Self.endpoint(invocation)
    region = try Self.word(.region, invocation)
    addressing = try invocation.choice(.addressing)
    accelerate = invocation.toggle(.accelerate)
    dualstack = invocation.toggle(.dualstack)
    fips = invocation.toggle(.fips)
    caBundle = try invocation.path(.caBundle)
    insecure = invocation.toggle(.insecure) ?? false
    proxy = try Self.proxy(invocation)
    requestPayer = invocation.toggle(.requestPayer) ?? false
    expectedBucketOwner = try Self.word(.expectedBucketOwner, invocation)
  }

  /// A value without spaces.
  private static func word(_ name: FlagName, _ invocation: Invocation) throws(Failure) -> String? {
    guard let given = invocation.last(name) else { return nil }
    let text = try invocation.text(given)
    guard !text.utf8.contains(UInt8(ascii: " ")) else {
      throw invocation.wrong(given, "holds a space", remedy: "Give it as one word.")
    }
    return text
  }

  private static func endpoint(_ invocation: Invocation) throws(Failure) -> String? {
    guard let given = invocation.last(.endpointURL) else { return nil }
    // Never shown, even if it is wrong in another way: the text before the @ is probably a password.
    guard !given.value.bytes.contains(UInt8(ascii: "@")) else {
      throw Failure(
        .usage, "\(given.origin.text): an endpoint holds no user name or password",
        remedy: "Credentials come from the environment or from --profile.")
    }
    guard let text = try word(.endpointURL, invocation) else { return nil }
    let lower = text.lowercased()
    let remedy = "Write https://HOST or http://HOST:PORT."
    guard let rest = ["https://", "http://"].compactMap({ lower.rest(after: $0)?.utf8 }).first, let first = rest.first,
      !"/:".utf8.contains(first), !rest.contains(where: { "?#".utf8.contains($0) })
    else {
      throw invocation.wrong(given, "is not the address of a store", remedy: remedy)
    }
    return text
  }

  /// No message shows its value, which may contain a password.
  private static func proxy(_ invocation: Invocation) throws(Failure) -> String? {
    guard let given = invocation.last(.proxy) else { return nil }
    guard let text = given.value.utf8Text, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
      throw Failure(.usage, "\(given.origin.text): not an address of a proxy", remedy: "Write http://HOST:PORT.")
    }
    return text
  }
}

/// The credentials to use.
struct CredentialOptions: Sendable, Equatable {
  var profile: String?
  var noSignRequest = false
  /// How long to wait for new credentials.
  var patience: Duration?
  /// The role that a GitHub Actions job assumes.
  var githubRole: String?
  /// The audience of GitHub's token.
  var githubAudience: String?
  var cognito: CognitoOptions?

  init() {}

  init(_ invocation: Invocation) throws(Failure) {
    profile = try invocation.text(.profile)
    noSignRequest = invocation.toggle(.noSignRequest) ?? false
    patience = try invocation.duration(.waitForCredentials)
    githubRole = try invocation.text(.githubRole)
    githubAudience = try invocation.text(.githubAudience)
    cognito = try CognitoOptions(invocation)
    if cognito != nil, githubRole != nil {
      throw Failure(
        .usage, "--cognito-identity-pool and --github-role exclude each other", remedy: "Leave one of them out.")
    }
  }
}
