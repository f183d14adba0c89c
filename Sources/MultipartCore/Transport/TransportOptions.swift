/// What holds for every request of a run, whatever it asks for.
package struct TransportOptions: Sendable {
  package var connectTimeout: Duration = .seconds(10)
  /// A PEM file of certificates to trust instead of the system's.
  package var caBundle: String?
  /// The system's, where it keeps them as a folder too; nil leaves the matter to libcurl. Asked for when it is wanted,
  /// for libcurl may not be set up yet.
  package var systemTrust: @Sendable () -> SystemTrust? = { .ofLibcurl }
  package var verifiesTLS = true
  package var proxy = ProxySettings()
  /// How many idle connections each loop keeps.
  package var connections = 8
  package var userAgent = "s3up"
  package var limiter: RateLimiter?
  /// Asks for the addresses of a name.
  package var lookUp = HostLookup.onThread
  package var congestion = CongestionControl.auto
  /// Kept out of all that comes in.
  package var secrets = SecretsInUse()
  /// What was found out about the line, for the log.
  package var note: @Sendable (Wording) -> Void = { _ in }

  package init() {}
}

/// What named a proxy.
package enum ProxySource: Sendable, Equatable {
  /// The caller's own setting, as he shows it.
  case setting(Wording)
  /// One of the variables that every tool reads.
  case variable(String)

  var words: Wording {
    switch self {
    case .setting(let name): name
    case .variable(let name): "\(name)"
    }
  }
}

/// Which proxy a request goes through, from a setting or the variables every tool reads.
package struct ProxySettings: Sendable, Equatable {
  package var http: String?
  package var https: String?
  /// Hosts that are reached directly, separated by commas, as libcurl reads them.
  package var bypass: String?
  package var httpSource = ProxySource.setting("\(.proxy)")
  package var httpsSource = ProxySource.setting("\(.proxy)")

  package init() {}

  /// The setting serves both schemes and beats the environment; `name` is what it was said by.
  package init(option: String?, name: Wording = "\(.proxy)", environment: [String: String]) {
    func variable(_ names: [String]) -> String? { names.first { environment[$0].map { !$0.isEmpty } ?? false } }
    // In a CGI program HTTP_PROXY comes from a request's Proxy header, so it is believed only elsewhere.
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

  package func proxy(for url: String) -> String? {
    url.utf8.starts(with: "https:".utf8) ? https : http
  }
}
