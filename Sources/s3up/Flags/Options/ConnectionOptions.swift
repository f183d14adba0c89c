import MultipartCore

/// The way to the store.
struct ConnectionOptions: Sendable, Equatable {
  var endpointURL: String?
  var region: String?
  /// Nil: nobody said.
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

  /// A text without spaces.
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
    // Not shown again, also where it is wrong in another way: what stands before the @ is most likely a password.
    guard !given.value.bytes.contains(UInt8(ascii: "@")) else {
      throw Failure(
        .usage, "\(given.origin.text): an endpoint holds no user name or password",
        remedy: "Credentials come from the environment or from --profile.")
    }
    guard let text = try word(.endpointURL, invocation) else { return nil }
    let lower = text.lowercased()
    let remedy = "Write https://HOST or http://HOST:PORT."
    guard let scheme = ["https://", "http://"].first(where: { lower.hasPrefix($0) }) else {
      throw invocation.wrong(given, "is no address of a store", remedy: remedy)
    }
    let rest = text.dropFirst(scheme.count)
    guard let first = rest.first, first != "/", first != ":", !rest.contains("?"), !rest.contains("#") else {
      throw invocation.wrong(given, "is no address of a store", remedy: remedy)
    }
    return text
  }

  /// Its value is in no message: it may hold a password.
  private static func proxy(_ invocation: Invocation) throws(Failure) -> String? {
    guard let given = invocation.last(.proxy) else { return nil }
    guard let text = given.value.utf8Text, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
      throw Failure(.usage, "\(given.origin.text): not an address of a proxy", remedy: "Write http://HOST:PORT.")
    }
    return text
  }
}

/// Whose credentials sign.
struct CredentialOptions: Sendable, Equatable {
  var profile: String?
  var noSignRequest = false
  /// How long new credentials are waited for.
  var patience: Duration?
  /// The role that a job of GitHub takes on.
  var githubRole: String?
  /// For whom its token is.
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
