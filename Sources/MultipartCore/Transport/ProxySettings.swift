import MultipartBasics

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
  /// The hosts that are reached directly (see `NoProxy`), and the variable that names them.
  var bypass: String?
  var bypassSource: String?
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
    bypassSource = option == nil ? variable(["no_proxy", "NO_PROXY"]) : nil
    bypass = bypassSource.flatMap { environment[$0] }
  }

  /// The proxy that was set for this URL, even if the host is exempt from it.
  func configured(for url: String) -> String? {
    let proxy = (AddressBook.isTLS(url) ? https : http).map(ASCII.trimmed)
    return proxy?.isEmpty == true ? nil : proxy
  }

  /// The proxy that a request to this URL uses; nil if it goes there directly. libcurl is told the result and reads no
  /// list of its own, so that messages, addresses and requests agree.
  func proxy(for url: String) -> String? {
    configured(for: url).flatMap { exempts(url) ? nil : $0 }
  }

  func exempts(_ url: String) -> Bool {
    guard let bypass, let endpoint = try? EndpointURL.parse(String(AddressBook.origin(of: url)), blame: .local)
    else { return false }
    return NoProxy(bypass).exempts(Origin(scheme: endpoint.scheme, host: endpoint.authority).bareHost)
  }
}
