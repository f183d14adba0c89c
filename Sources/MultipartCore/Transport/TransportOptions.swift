import MultipartBasics

/// Options for all requests of a run.
struct TransportOptions: Sendable {
  var connectTimeout: Duration = .seconds(10)
  /// A PEM file of certificates to trust instead of the system's.
  var caBundle: String?
  /// The system's certificates; nil leaves them to libcurl. A closure, because libcurl may not be initialised yet.
  var systemTrust: @Sendable () -> SystemTrust? = { .ofSystem }
  var verifiesTLS = true
  var proxy = ProxySettings()
  /// How many idle connections each loop keeps.
  var connections = 8
  var userAgent = "s3up"
  var limiter: RateLimiter?
  /// Looks up the addresses of a name.
  var lookUp = HostLookup.onThread
  var congestion = CongestionControl.auto
  /// The secrets to remove from everything that is received.
  var secrets = SecretsInUse()
  /// Receives findings about the line, for the log.
  var note: @Sendable (Wording) -> Void = { _ in }

  init() {}
}

/// Where a proxy was set.
enum ProxySource: Sendable, Equatable {
  /// The caller's own setting, in the caller's words.
  case setting(Wording)
  /// One of the usual variables.
  case variable(String)

  var words: Wording {
    switch self {
    case .setting(let name): name
    case .variable(let name): "\(name)"
    }
  }
}

/// Which proxy a request uses, from a setting or the usual variables.
struct ProxySettings: Sendable, Equatable {
  var http: String?
  var https: String?
  /// Hosts that are reached directly, separated by commas, in libcurl's syntax.
  var bypass: String?
  var httpSource = ProxySource.setting("\(.proxy)")
  var httpsSource = ProxySource.setting("\(.proxy)")

  init() {}

  /// A setting applies to both schemes and overrides the environment; `name` is the caller's name for it.
  init(option: String?, name: Wording = "\(.proxy)", environment: [String: String]) {
    func variable(_ names: [String]) -> String? { names.first { environment[$0].map { !$0.isEmpty } ?? false } }
    // In a CGI program a client sets HTTP_PROXY with its Proxy header, so it is ignored there.
    let isCGI = environment["REQUEST_METHOD"] != nil
    let all = ["all_proxy", "ALL_PROXY"]
    let (plain, tls) = (
      variable(["http_proxy"] + (isCGI ? [] : ["HTTP_PROXY"]) + all), variable(["https_proxy", "HTTPS_PROXY"] + all)
    )
    http = option ?? plain.flatMap { environment[$0] }
    https = option ?? tls.flatMap { environment[$0] }
    httpSource = option == nil ? plain.map { .variable($0) } ?? httpSource : .setting(name)
    httpsSource = option == nil ? tls.map { .variable($0) } ?? httpsSource : .setting(name)
    bypass = option == nil ? variable(["no_proxy", "NO_PROXY"]).flatMap { environment[$0] } : nil
  }

  func proxy(for url: String) -> String? {
    url.begins(with: "https:") ? https : http
  }
}
