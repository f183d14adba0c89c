import MultipartBasics

/// A proxy as messages may show it: without the user name and password that its URL may contain.
struct ProxyName: Sendable, Equatable {
  /// The address, such as `http://proxy.example:8080`.
  let address: String
  /// The host, without scheme, port and brackets.
  let host: String
  let source: ProxySource

  init(_ address: String, source: ProxySource) {
    let place = Self.divided(address).place.prefix { $0 != UInt8(ascii: "/") }
    let shown = SafeText.oneLine(String(decoding: place, as: UTF8.self))
    host = Origin(scheme: .http, host: shown).bareHost
    self.address = (address.cut(at: "://")?.before ?? "http") + "://" + shown
    self.source = source
  }

  /// The user with password, if there is one, and what follows it. A proxy's address has no path, so that the last `@`
  /// ends the user, even if the password has a slash that is not percent-encoded.
  private static func divided(_ address: String) -> (user: ArraySlice<UInt8>?, place: ArraySlice<UInt8>) {
    let rest = Array((address.cut(at: "://")?.after ?? address[...]).utf8)[...]
    guard let at = rest.lastIndex(of: UInt8(ascii: "@")) else { return (nil, rest) }
    return (rest[..<at], rest[(at + 1)...])
  }

  /// The password in a proxy's address.
  static func password(in address: String) -> [UInt8]? {
    guard let user = divided(address).user, let colon = user.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    return SentSecrets.decoded(Array(user[(colon + 1)...]))
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
  /// The proxy that a request to this URL uses, for messages; nil if it goes there directly.
  func named(for url: String) -> ProxyName? {
    proxy(for: url).map { ProxyName($0, source: AddressBook.isTLS(url) ? httpsSource : httpSource) }
  }
}
