import MultipartBasics

/// A proxy as messages may show it: without the user name and password that its URL may contain.
struct ProxyName: Sendable, Equatable {
  /// The address, such as `http://proxy.example:8080`.
  let address: String
  /// The host, without scheme, port and brackets.
  let host: String
  let source: ProxySource

  init(_ address: String, source: ProxySource) {
    let parts = address.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let hasScheme = parts.count >= 3 && parts[0].last == UInt8(ascii: ":") && parts[1].isEmpty
    let authority = hasScheme ? parts[2] : parts[0]
    let place = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
    let shown = SafeText.oneLine(String(decoding: Array(place), as: UTF8.self))
    host = Origin(scheme: .http, host: shown).bareHost
    self.address = (hasScheme ? String(decoding: Array(parts[0]), as: UTF8.self) + "//" : "http://") + shown
    self.source = source
  }

  /// How to avoid the proxy. The environment cannot exclude hosts from a proxy that a setting names.
  func wayRound(for host: String) -> Wording {
    switch source {
    case .setting(let name): "check the proxy, or leave \(name) out"
    case .variable(let name): "check the proxy (\(name)), or bypass it: export NO_PROXY=\(host)"
    }
  }
}

extension ProxySettings {
  /// The proxy that a request to this URL uses; nil if it goes there directly.
  func named(for url: String) -> ProxyName? {
    guard let address = proxy(for: url), !address.isEmpty,
      let endpoint = try? EndpointURL.parse(String(AddressBook.origin(of: url)), blame: .local),
      !exempts(Origin(scheme: endpoint.scheme, host: endpoint.authority))
    else { return nil }
    return ProxyName(address, source: endpoint.scheme == .https ? httpsSource : httpSource)
  }
}
