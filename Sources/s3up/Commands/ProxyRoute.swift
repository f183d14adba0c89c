import MultipartCore

/// The proxy that requests to a store go through, or would but for an exemption.
struct ProxyRoute: Sendable {
  let proxy: Examination.Proxy
  private let host: String

  /// Whose addresses matter; nil when the store is reached directly.
  var usedHost: String? { proxy.bypassedBy == nil ? host : nil }

  /// Nil when none is set.
  init?(_ session: Session, _ origin: Origin) {
    let (given, environment) = (session.invocation.last(.proxy), session.environment)
    let settings = ProxySettings(option: given?.value.text, environment: environment)
    guard let address = origin.scheme == .https ? settings.https : settings.http, !address.isEmpty else { return nil }
    let names = origin.scheme == .https ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"]
    func first(_ names: [String]) -> String? { names.first { environment[$0].map { !$0.isEmpty } ?? false } }
    let source =
      given?.origin.text ?? names.first { environment[$0] == address } ?? first(["all_proxy", "ALL_PROXY"]) ?? "--proxy"
    // What stands before the @ is a password's.
    let parts = address.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let hasScheme = parts.count >= 3 && parts[0].last == UInt8(ascii: ":") && parts[1].isEmpty
    let authority = hasScheme ? parts[2] : parts[0]
    let place = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
    let shown = String(decoding: Array(place), as: UTF8.self)
    host = Origin(scheme: .http, host: shown).bareHost
    let scheme = hasScheme ? String(decoding: Array(parts[0]), as: UTF8.self) + "//" : "http://"
    proxy = Examination.Proxy(
      address: scheme + shown, source: source,
      bypassedBy: settings.exempts(origin) ? first(["no_proxy", "NO_PROXY"]) ?? "NO_PROXY" : nil)
  }
}
