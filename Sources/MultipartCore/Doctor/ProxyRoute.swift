import MultipartBasics

/// The proxy for requests to a store, even if the store is exempt from it.
struct ProxyRoute: Sendable {
  let proxy: Examination.Proxy
  private let host: String

  /// The proxy's host, which needs to be resolved; nil if the store is reached directly.
  var usedHost: String? { proxy.bypassedBy == nil ? host : nil }

  /// Nil if no proxy is set.
  init?(_ options: StoreOptions, _ environment: [String: String], _ origin: Origin) {
    let settings = options.proxySettings(environment)
    guard let address = settings.configured(for: origin.description) else { return nil }
    let name = ProxyName(address, source: origin.scheme == .https ? settings.httpsSource : settings.httpSource)
    host = name.host
    proxy = Examination.Proxy(
      address: name.address, source: name.source,
      bypassedBy: settings.exempts(origin.description) ? settings.bypassSource : nil)
  }
}
