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
  private static let schemes = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]

  /// Throws if libcurl could not use the address: then no try would help, and libcurl would call it a connection that
  /// broke. Whatever it accepts is accepted: a path, a zone, a final dot.
  static func check(_ address: String, source: ProxySource) throws(Failure) {
    guard let mistake = mistake(in: address) else { return }
    throw Failure(
      { if case .setting = source { .usage } else { .configuration } }(),
      "\(source.words) is not the address of a proxy: it \(mistake)", remedy: "write it like http://proxy.example:3128")
  }

  private static func mistake(in address: String) -> String? {
    let (user, rest) = divided(address)
    if let scheme = address.cut(at: "://")?.before {
      guard schemes.contains(scheme.lowercased()) else { return "has a scheme that no proxy has" }
    } else if schemes.contains(where: { address.lowercased().begins(with: $0 + ":/") }) {
      return "has one slash instead of two"
    }
    guard address.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      return "contains a blank or a control character"
    }
    if user?.contains(where: isAfterHost) ?? false {
      return "has a user name or a password with a /, ? or #, which must be percent-encoded"
    }
    let place = rest.prefix { !isAfterHost($0) }
    let isBracketed = place.first == UInt8(ascii: "[")
    guard !isBracketed || place.contains(UInt8(ascii: "]")) else { return "has a bracket that is not closed" }
    let end = isBracketed ? place.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : place.firstIndex(of: colon)
    let host = place[..<(end ?? place.endIndex)]
    guard !host.isEmpty else { return "has no host" }
    let port = place[host.endIndex...]
    guard port.isEmpty || port.first == colon && (port.count == 1 || Int(port.dropFirst(), in: 1...65535) != nil) else {
      return "has a port that is not a number from 1 to 65535"
    }
    return nil
  }

  private static let colon = UInt8(ascii: ":")

  private static func isAfterHost(_ byte: UInt8) -> Bool { "/?#".utf8.contains(byte) }
}

extension ProxySettings {
  /// Throws if the caller's own setting, which applies to all requests, cannot be a proxy.
  func check() throws(Failure) {
    if let http, !http.isEmpty { try ProxyName.check(ASCII.trimmed(http), source: httpSource) }
  }

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
