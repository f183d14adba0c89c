internal import CCurl
import MultipartBasics

/// The addresses of the hosts that a run sends to, so that its connections are spread over all of them and slow or
/// unreachable ones are avoided. Shared by the loops.
///
/// libcurl uses the first address of its list for every new connection. Before each request it gets the list in a
/// different order; a request on an existing connection ignores it.
final class AddressBook: Sendable {
  private struct Entry: Sendable {
    let name: String
    let port: Int
    var addresses: [String] = []
    var askedAt: Duration?
    var isAsking = false
    var next = 0
    var avoided: [String: Duration] = [:]
    /// Average bytes per second of the connections to each address; recent ones count more.
    var rates: [String: Double] = [:]

    init(_ endpoint: EndpointURL) {
      name = endpoint.host
      port = endpoint.port ?? endpoint.scheme.defaultPort
    }

    func isAvoided(_ address: String, _ now: Duration) -> Bool { (avoided[address] ?? now) > now }

    mutating func avoid(_ address: String, _ now: Duration) {
      avoided[address] = now + AddressBook.avoidance
      rates[address] = nil
    }

    /// Takes a new list of addresses: what was known about addresses that are gone is deleted, and so is what is
    /// outdated.
    mutating func take(_ listed: [String], _ now: Duration) {
      addresses = listed
      avoided = avoided.filter { $0.value > now }
      rates = rates.filter { listed.contains($0.key) }
    }

    /// All addresses, each time starting with a different one, and the avoided ones last.
    mutating func nextOrder(_ now: Duration) -> [String]? {
      guard addresses.count > 1 else { return nil }
      let start = next % addresses.count
      next = start + 1
      let turned = addresses[start...] + addresses[..<start]
      return turned.filter { !isAvoided($0, now) } + turned.filter { isAvoided($0, now) }
    }
  }

  private let entries = Locked<[String: Entry]>([:])
  private let lookUp: HostLookup.LookUp

  /// How long libcurl remembers a name.
  private static let lifetime: Duration = .seconds(60)
  private static let avoidance: Duration = .seconds(60)
  /// An address is slow if its rate is below this fraction of the best one's.
  private static let slow = 0.25

  init(lookUp: @escaping HostLookup.LookUp) {
    self.lookUp = lookUp
  }

  /// The part of a URL that identifies its host here: everything before the path.
  static func origin(of url: String) -> Substring {
    var slashes = 0
    let end = url.utf8.firstIndex { byte in
      if byte == UInt8(ascii: "/") { slashes += 1 }
      // A URL may have a query without a path.
      return slashes == 3 || (slashes == 2 && (byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")))
    }
    return url[..<(end ?? url.endIndex)]
  }

  /// Whether the URL's scheme is https, in upper or lower case.
  static func isTLS(_ url: String) -> Bool {
    String(decoding: url.utf8.prefix(6), as: UTF8.self).lowercased() == "https:"
  }

  /// Starts looking up the addresses of a URL's host before they are needed, unless the host is an address.
  func find(_ url: String, now: Duration) {
    let origin = String(Self.origin(of: url))
    guard let endpoint = try? EndpointURL.parse(origin, blame: .local), !endpoint.isAddress else { return }
    entries.withLock { $0[origin] = $0[origin] ?? Entry(endpoint) }
    _ = route(for: url, now: now)
  }

  /// The route of the next connection: the order in which it tries the addresses. Nil while they are not known, or if
  /// there is only one.
  func route(for url: String, now: Duration) -> Route? {
    let origin = String(Self.origin(of: url))
    let (route, asks) = entries.withLock { entries in
      guard var entry = entries[origin] else { return (nil as Route?, nil as String?) }
      let isOld = entry.askedAt.map { now - $0 > Self.lifetime } ?? true
      let asks = isOld && !entry.isAsking
      if asks { (entry.isAsking, entry.askedAt) = (true, now) }
      let route = entry.nextOrder(now).map {
        Route(book: self, origin: origin, host: "\(entry.name):\(entry.port)", order: $0)
      }
      entries[origin] = entry
      return (route, asks ? entry.name : nil)
    }
    if let asks { ask(asks, for: origin, now: now) }
    return route
  }

  private func ask(_ name: String, for origin: String, now: Duration) {
    lookUp(name) { [self] answer in
      entries.withLock { entries in
        entries[origin]?.isAsking = false
        // libcurl's list has no syntax for addresses with a zone (`fe80::1%eth0`).
        if case .found(let all) = answer {
          entries[origin]?.take(all.filter { !$0.utf8.contains(UInt8(ascii: "%")) }, now)
        }
      }
    }
  }

  /// An address that failed, stalled or could not be reached comes last for a minute, and the name is looked up again.
  func avoid(_ address: String, of origin: String, now: Duration) {
    entries.withLock { entries in
      guard entries[origin]?.addresses.contains(address) == true else { return }
      entries[origin]?.avoid(address, now)
      entries[origin]?.askedAt = nil
    }
  }

  /// Forgets the addresses, because none of them responded.
  func forget(_ origin: String) {
    entries.withLock { entries in
      entries[origin]?.addresses = []
      entries[origin]?.askedAt = nil
    }
  }

  /// How many addresses of a host have something recorded about them.
  func count(of origin: String) -> Int {
    entries.withLock { entries in
      entries[origin].map { Set($0.addresses).union($0.avoided.keys).union($0.rates.keys).count } ?? 0
    }
  }

  func isAvoided(_ address: String, of origin: String, now: Duration) -> Bool {
    entries.withLock { $0[origin]?.isAvoided(address, now) ?? false }
  }

  /// Records the rate of a connection to the address; an address far below the best one is avoided from then on.
  func learn(_ rate: Double, from address: String, of origin: String, now: Duration) {
    entries.withLock { entries in
      guard var entry = entries[origin], entry.addresses.count > 1, entry.addresses.contains(address) else { return }
      let before = entry.rates[address]
      let mean = before.map { $0 * 0.7 + rate * 0.3 } ?? rate
      entry.rates[address] = mean
      let best = entry.rates.filter { $0.key != address }.values.max() ?? 0
      // The first part on a connection is always slow.
      if before != nil, mean < best * Self.slow { entry.avoid(address, now) }
      entries[origin] = entry
    }
  }
}

/// The order of addresses for one request to a host that has several.
struct Route {
  var book: AddressBook
  var origin: String
  /// The name, a colon and the port, as in libcurl's list of addresses.
  var host: String
  var order: [String]
}

extension Transfer {
  /// Fewer bytes say nothing about the line.
  private static let leastForRate: Int64 = 1 << 20

  func teachRoute(_ result: Result<Response, Failure>, code: CURLcode) {
    guard let route else { return }
    let now = uptime()
    if code == CURLE_COULDNT_CONNECT { return route.book.forget(route.origin) }
    guard case .success = result else {
      if case .failure(let failure) = result, failure.code == .network || failure.code == .tls { avoidAddress() }
      return
    }
    guard let peer else { return }
    // A new connection that did not go to the first address: that address did not respond.
    if easy.long(CURLINFO_NUM_CONNECTS) > 0, let first = route.order.first, !first.utf8.elementsEqual(peer.utf8) {
      route.book.avoid(first, of: route.origin, now: now)
    }
    let seconds = Double(easy.offset(CURLINFO_TOTAL_TIME_T) - easy.offset(CURLINFO_PRETRANSFER_TIME_T)) / 1_000_000
    let sent = easy.offset(CURLINFO_SIZE_UPLOAD_T)
    guard sent >= Self.leastForRate, seconds > 0 else { return }
    route.book.learn(Double(sent) / seconds, from: peer, of: route.origin, now: now)
  }

  /// Avoids the address that the request went to, if it got that far.
  func avoidAddress() {
    guard let route, let peer else { return }
    route.book.avoid(peer, of: route.origin, now: uptime())
  }
}
