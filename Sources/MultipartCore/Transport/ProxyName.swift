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

extension ProxyName {
  /// Those of libcurl.
  private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  /// Throws if the address cannot be a proxy's: then no try would help. libcurl would call it a broken connection.
  static func check(_ address: String, source: ProxySource) throws(Failure) {
    let code: Failure.Code = if case .setting = source { .usage } else { .configuration }
    let form: Wording = "write it like http://proxy.example:3128"
    let scheme = address.cut(at: "://")?.before.lowercased()
    guard scheme.map(schemes.contains) ?? true else {
      throw Failure(code, "\(source.words) has a scheme that no proxy has", remedy: form)
    }
    let place = "http://" + String(decoding: divided(address).place, as: UTF8.self)
    do throws(Failure) {
      let parsed = try EndpointURL.parse(place, blame: code, called: "the address", form: form)
      // `http:/proxy` would be the host `http`.
      guard scheme != nil || parsed.path.isEmpty else { throw Failure(code, "the address has a path", remedy: form) }
    } catch {
      throw Failure(code, "\(source.words) is not a proxy's address: " + error.message, remedy: error.remedy)
    }
  }
}

extension ProxySettings {
  /// Throws if the proxy that a request to this URL uses cannot be one.
  func check(for url: String) throws(Failure) {
    guard let proxy = proxy(for: url) else { return }
    try ProxyName.check(proxy, source: AddressBook.isTLS(url) ? httpsSource : httpSource)
  }

  /// The proxy that a request to this URL uses, for messages; nil if it goes there directly.
  func named(for url: String) -> ProxyName? {
    proxy(for: url).map { ProxyName($0, source: AddressBook.isTLS(url) ? httpsSource : httpSource) }
  }
}
