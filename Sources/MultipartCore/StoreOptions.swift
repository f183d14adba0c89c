/// How a store is reached, and who signs. What is nil here is looked up in AWS's variables of `environment`, then in the
/// profile of the shared files, and has AWS's default at last.
///
///     var options = StoreOptions(endpoint: "https://s3.example.com")
///     options.limitRate = 10 << 20
public struct StoreOptions: Sendable {
  /// Whose credentials sign.
  public enum Credentialing: Sendable {
    /// AWS's chain: environment, profile, container, machine.
    case chain
    /// Requests are not signed.
    case unsigned
    case keys(Credentials)
    /// A job of GitHub Actions takes on this role.
    case github(role: String)
    /// Asked anew whenever the credentials that it gave have nearly expired.
    case source(@Sendable () async throws -> Credentials)
  }

  /// How many requests are out at once.
  public enum Connections: Sendable, Equatable {
    /// As many as the line takes, found out on the way.
    case adaptive
    case fixed(Int)
  }

  /// `https://host`, for any store but AWS.
  public var endpoint: String?
  /// Of the bucket; nil at AWS: asked of the bucket where nobody says.
  public var region: String?
  /// Of the shared AWS files.
  public var profile: String?
  /// Where the bucket's name goes.
  public var addressing: Addressing?
  /// S3 Transfer Acceleration, which the bucket must allow.
  public var accelerate: Bool?
  /// AWS's endpoints that have IPv6 addresses too.
  public var dualstack: Bool?
  /// AWS's endpoints with FIPS 140 validated cryptography.
  public var fips: Bool?
  /// Whose.
  public var credentials = Credentialing.chain
  /// For whom a token of GitHub's is; nil: STS.
  public var githubAudience: String?
  /// How long a run waits for new credentials when the ones it has are refused; nil: it does not.
  public var credentialPatience: Duration?
  /// A PEM file of certificates to trust instead of the system's.
  public var caBundle: String?
  /// False accepts any certificate: whoever sits in between can then read and change everything.
  public var verifiesTLS = true
  /// `http://HOST:PORT`; nil: as `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
  public var proxy: String?
  /// Accept to pay for the requests to a requester-pays bucket.
  public var requestPayer = false
  /// The account that the bucket has to belong to.
  public var expectedBucketOwner: String?
  /// Nil: where nothing else guards the body.
  public var payloadSigning: PayloadSigning?
  /// Of a directory bucket (S3 Express): how all that is written in its sessions is encrypted.
  public var sessionEncryption: ServerSideEncryption?
  /// Nil: adaptive.
  public var connections: Connections?
  /// Bytes a second; nil: as fast as it goes.
  public var limitRate: Int64?
  /// Tries of one request, the first included.
  public var tries: Int?
  /// How long a transfer may stand still.
  public var stallTimeout: Duration?
  /// How long a connection may take to be made.
  public var connectTimeout: Duration?
  /// Of the connections, where the kernel lets this user choose.
  public var congestion = CongestionControl.auto
  /// Where records of unfinished uploads are kept, and what was learnt of stores; nil: `$XDG_STATE_HOME/s3up`, else
  /// `~/.local/state/s3up`; empty: nowhere, and nothing can be resumed.
  public var stateFolder: String?
  /// Where AWS's variables, those of a proxy, and `HOME` are looked up; nil: this process's own, as they are then.
  public var environment: [String: String]?
  /// What everybody should see (level 0), and what `-v` (1) and `-vv` (2) of s3up show. Holds no secret.
  public var log: @Sendable (_ level: Int, _ message: Wording) -> Void = { _, _ in }

  /// Who said what, where a program knows more of it than that it was the caller.
  package var origins: [Setting: Provenance] = [:]
  package var hooks = Hooks()

  /// Nil: as AWS's variables and the profile say.
  public init(endpoint: String? = nil, region: String? = nil) {
    self.endpoint = endpoint
    self.region = region
  }

  /// Where a value came from: an option that somebody typed, a variable.
  package struct Provenance: Sendable, Equatable {
    package var name: String
    package var isEnvironment: Bool

    package init(_ name: String, isEnvironment: Bool) {
      self.name = name
      self.isEnvironment = isEnvironment
    }
  }

  /// What a program with a terminal has besides.
  package struct Hooks: Sendable {
    /// Time and dice of a test, and the log's levels.
    package var world: World?
    /// Asks a person for the code of a device.
    package var askCode: (@Sendable (_ prompt: String) async throws(Failure) -> Secret)?
    /// Stands instead of the chain: an identity pool, whose identity names a place in the bucket too.
    package var provider: (any CredentialProvider)?
    package var userAgent = "MultipartCore"

    package init() {}
  }
}
