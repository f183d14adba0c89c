import MultipartCore

/// The proxy that requests to a store go through, or would but for an exemption.
struct ProxyRoute: Sendable {
  let proxy: Examination.Proxy
  private let host: String

  /// Whose addresses matter; nil when the store is reached directly.
  var usedHost: String? { proxy.bypassedBy == nil ? host : nil }

  /// Nil when none is set.
  init?(_ session: Session, _ origin: Origin) {
    let environment = session.environment
    let settings = ProxySettings(session.invocation, environment)
    guard let address = settings.proxy(for: origin.description), !address.isEmpty else { return nil }
    let name = ProxyName(address, source: origin.scheme == .https ? settings.httpsSource : settings.httpSource)
    host = name.host
    let exempts = ["no_proxy", "NO_PROXY"].first { environment[$0].map { !$0.isEmpty } ?? false }
    proxy = Examination.Proxy(
      address: name.address, source: name.source, bypassedBy: settings.exempts(origin) ? exempts ?? "NO_PROXY" : nil)
  }
}

extension ProxySettings {
  init(_ invocation: Invocation, _ environment: [String: String]) {
    let given = invocation.last(.proxy)
    self.init(option: given?.value.text, name: "\(given?.origin.text ?? "")", environment: environment)
  }
}
