/// How to reach a store, and whose credentials sign the requests. A nil value is taken from AWS's environment
/// variables, then from the profile in the shared AWS files, then from AWS's defaults.
///
///     var options = StoreOptions(endpoint: "https://s3.example.com")
///     options.limitRate = .bytesPerSecond(10 << 20)
public struct StoreOptions: Sendable {
  /// Whose credentials sign the requests.
  public enum CredentialChoice: Sendable {
    /// The first credentials found in AWS's order: environment, profile, container, instance metadata.
    case chain
    /// Requests are not signed.
    case unsigned
    /// These credentials, for as long as the store is in use.
    case keys(Credentials)
    /// A GitHub Actions job assumes this role with its OIDC token.
    case github(role: String)
    /// A guest or a user of a Cognito identity pool.
    case cognito(CognitoIdentity)
    /// Called for the first request, and again when the credentials it returned are about to expire.
    case source(@Sendable () async throws -> Credentials)
  }

  /// How many requests are in flight at once.
  public enum Connections: Sendable, Equatable {
    /// As many as make the upload faster, determined while it runs.
    case adaptive
    /// Always this many.
    case fixed(Int)

    /// The most that `adaptive` uses for large objects.
    public static let most = ConnectionBounds.most
    /// The most that `adaptive` uses for large objects if losses limit each connection.
    public static let mostWhenLossy = ConnectionBounds.mostWhenLossy
    /// The most that `adaptive` uses while objects are small.
    public static let mostForSmall = ConnectionBounds.mostForSmall
  }

  /// The address of the store, such as `https://s3.example.com`; not needed for AWS.
  public var endpoint: String?
  /// The bucket's region. On AWS it is looked up if neither the variables nor the profile name one.
  public var region: String?
  /// The profile in the shared AWS files.
  public var profile: String?
  /// Whether the bucket's name is part of the host name or of the path.
  public var addressing: Addressing?
  /// Uses S3 Transfer Acceleration, which must be enabled for the bucket.
  public var accelerate: Bool?
  /// Uses AWS's dual-stack endpoints, which also have IPv6 addresses.
  public var dualstack: Bool?
  /// Uses AWS's endpoints with FIPS 140 validated cryptography.
  public var fips: Bool?
  /// Whose credentials sign the requests.
  public var credentials = CredentialChoice.chain
  /// The audience of the GitHub token; nil: that of AWS STS.
  public var githubAudience: String?
  /// How long to wait for new credentials after the store has refused the current ones; nil: fail at once.
  public var waitForCredentials: Duration?
  /// A PEM file of certificates to trust instead of the system's.
  public var caBundle: String?
  /// False accepts any certificate: anyone on the network path can then read and change everything.
  public var verifiesTLS = true
  /// The proxy, as `http://HOST:PORT`; nil: what `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
  public var proxy: String?
  /// Agrees to pay for requests to a requester-pays bucket.
  public var requestPayer = false
  /// The account that must own the bucket; otherwise the store refuses every request.
  public var expectedBucketOwner: String?
  /// Whether signatures cover the SHA-256 of each body; nil: only where TLS does not protect it.
  public var payloadSigning: PayloadSigning?
  /// The encryption of everything that is written to a directory bucket (S3 Express).
  public var sessionEncryption: ServerSideEncryption?
  /// How many requests are sent at once; nil: adaptive.
  public var connections: Connections?
  /// How many bytes per second may be sent; nil: no limit.
  public var limitRate: RateLimit?
  /// How often one request is tried, including the first time; nil: 10.
  public var tries: Int?
  /// How long a request may transfer no byte before it is aborted and tried again; nil: 30 seconds.
  public var stallTimeout: Duration?
  /// How long to wait for a connection; nil: 10 seconds.
  public var connectTimeout: Duration?
  /// The TCP congestion control of the connections, where the kernel lets this user choose it.
  public var congestion = CongestionControl.auto
  /// The folder for records of unfinished uploads and for what was learned about stores; nil: `$XDG_STATE_HOME/s3up`,
  /// else `~/.local/state/s3up`. With an empty path nothing is stored, and no upload can be resumed.
  public var stateFolder: String?
  /// The environment variables to use; nil: those of this process when the store is opened.
  public var environment: [String: String]?
  /// Receives log messages: level 0 is for everyone, 1 gives details, 2 shows each request. Secrets are left out.
  public var log: (@Sendable (_ level: Int, _ message: Wording) -> Void)?
  /// Collects what happens over time, to be written as a trace; nil: nothing is collected.
  public var timeline: Timeline?

  /// The clock, random numbers, variables and log to use in place of the process's clock, of `environment` and of `log`.
  /// Stores that share one keep each other's secrets out of the log.
  public var world: World?
  /// Asks a person for the code of a device (MFA); nil: a profile that needs one cannot be used.
  public var askCode: (@Sendable (_ prompt: String) async throws(Failure) -> Secret)?
  /// What requests say in `User-Agent`.
  public var userAgent = "MultipartCore"
  /// The option or the variable that each value came from, for messages.
  public var origins: [Setting: Provenance] = [:]

  /// Options with this endpoint and region, and defaults otherwise.
  public init(endpoint: String? = nil, region: String? = nil) {
    self.endpoint = endpoint
    self.region = region
  }

  /// Where a value came from: an option that was typed, or a variable.
  public struct Provenance: Sendable, Equatable {
    var name: String
    var isEnvironment: Bool

    /// An option or a variable of this name.
    public init(_ name: String, isEnvironment: Bool) {
      self.name = name
      self.isEnvironment = isEnvironment
    }
  }
}
