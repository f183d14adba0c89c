import Glibc
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
    guard let address = settings.proxy(for: origin.description), !address.isEmpty else { return nil }
    let name = ProxyName(address, source: origin.scheme == .https ? settings.httpsSource : settings.httpSource)
    host = name.host
    let exempts = ["no_proxy", "NO_PROXY"].first { environment[$0].map { !$0.isEmpty } ?? false }
    proxy = Examination.Proxy(
      address: name.address, source: name.source, bypassedBy: settings.exempts(origin) ? exempts ?? "NO_PROXY" : nil)
  }
}

/// Determines which hosts are reached without the proxy, as libcurl reads `NO_PROXY`: names including their subdomains,
/// addresses, blocks of IPv4 addresses, or a single `*`.
extension ProxySettings {
  func exempts(_ origin: Origin) -> Bool {
    guard let bypass else { return false }
    let host = Array(origin.bareHost.lowercased().utf8)
    if bypass.utf8.elementsEqual("*".utf8) { return true }
    return bypass.lowercased().utf8.split { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }.contains { word in
      var entry = Array(word)
      while entry.first == UInt8(ascii: ".") { entry.removeFirst() }
      while entry.last == UInt8(ascii: ".") { entry.removeLast() }
      guard !entry.isEmpty else { return false }
      if host == entry || Array("[".utf8) + host + Array("]".utf8) == entry { return true }
      if let address = Self.number(host) { return Self.block(entry).map { $0.mask & address == $0.base } ?? false }
      return host.count > entry.count && host.suffix(entry.count).elementsEqual(entry)
        && host[host.count - entry.count - 1] == UInt8(ascii: ".")
    }
  }

  private static func number(_ text: [UInt8]) -> UInt32? {
    var address = in_addr()
    guard inet_pton(AF_INET, String(decoding: text, as: UTF8.self), &address) == 1 else { return nil }
    return UInt32(bigEndian: address.s_addr)
  }

  /// Parses a block such as `10.0.0.0/8`.
  private static func block(_ text: [UInt8]) -> (base: UInt32, mask: UInt32)? {
    let sides = text.split(separator: UInt8(ascii: "/"), maxSplits: 1)
    guard sides.count == 2, let base = number(Array(sides[0])),
      let bits = Int(sides[1], in: 0...32)
    else { return nil }
    let mask = bits == 0 ? 0 : UInt32.max << UInt32(32 - bits)
    return (base & mask, mask)
  }
}
