internal import CCurl

/// The addresses of the hosts that a run sends to, so that its connections are spread over all of them and those that
/// are slow or do not answer are avoided. Shared by the loops.
///
/// libcurl takes the first address of its list for every connection. Before a request goes out it is given the list in
/// another order; a request on a connection that there is already pays no heed to it.
final class AddressBook: Sendable {
  struct Host: Hashable, Sendable {
    /// As it stands in the URL, in small letters.
    var name: String
    var port: Int

    /// Nil for what has nothing to spread: an address.
    init?(url: String) {
      guard let parts = Self.split(url), parts.name.utf8.contains(where: { !(0x30...0x39).contains($0) && $0 != 0x2E })
      else { return nil }
      name = parts.name.lowercased()
      port = parts.port
    }

    private static func split(_ url: String) -> (name: String, port: Int)? {
      let isTLS = url.utf8.starts(with: "https://".utf8)
      guard isTLS || url.utf8.starts(with: "http://".utf8) else { return nil }
      let rest = url.utf8.dropFirst(isTLS ? 8 : 7)
      guard
        let authority = Substring(rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }).split(
          separator: "@", omittingEmptySubsequences: false
        ).last, !authority.hasPrefix("[")
      else { return nil }
      let pieces = authority.split(separator: ":", omittingEmptySubsequences: false)
      guard let name = pieces.first, !name.isEmpty, pieces.count <= 2 else { return nil }
      let port = pieces.count == 2 ? Int(pieces[1]) : isTLS ? 443 : 80
      return port.map { (String(name), $0) }
    }
  }

  private struct Entry: Sendable {
    var addresses: [String] = []
    var askedAt: Duration?
    var isAsking = false
    var next = 0
    var avoided: [String: Duration] = [:]
    /// Bytes a second of each connection to it, the younger the heavier.
    var rates: [String: Double] = [:]
  }

  private let entries = Locked<[Host: Entry]>([:])
  private let resolve: @Sendable (String) -> HostLookup.Lookup

  /// As long as libcurl remembers a name.
  private static let lifetime: Duration = .seconds(60)
  private static let avoidance: Duration = .seconds(60)
  /// An address with less than so much of the best one's rate is slow.
  private static let slow = 0.25

  init(resolve: @escaping @Sendable (String) -> HostLookup.Lookup) {
    self.resolve = resolve
  }

  /// Asks for the addresses, before they are wanted.
  func find(_ host: Host, now: Duration) {
    entries.withLock { entries in
      if entries[host] == nil { entries[host] = Entry() }
    }
    _ = order(for: host, now: now)
  }

  /// The order in which the next connection tries the addresses; nil while they are not known, or there is one only.
  func order(for host: Host, now: Duration) -> [String]? {
    let (order, asks) = entries.withLock { entries in
      guard var entry = entries[host] else { return (nil as [String]?, false) }
      let isOld = entry.askedAt.map { now - $0 > Self.lifetime } ?? true
      let asks = isOld && !entry.isAsking
      if asks { (entry.isAsking, entry.askedAt) = (true, now) }
      let order = Self.order(&entry, now)
      entries[host] = entry
      return (order, asks)
    }
    if asks { ask(host) }
    return order
  }

  private static func order(_ entry: inout Entry, _ now: Duration) -> [String]? {
    guard entry.addresses.count > 1 else { return nil }
    let start = entry.next % entry.addresses.count
    entry.next = start + 1
    let turned = entry.addresses[start...] + entry.addresses[..<start]
    let (good, bad) = (
      turned.filter { entry.avoided[$0].map { $0 <= now } ?? true },
      turned.filter { entry.avoided[$0].map { $0 > now } ?? false }
    )
    return good + bad
  }

  /// On a thread of its own: the question may take its time, and nobody waits for the answer.
  private func ask(_ host: Host) {
    let begun = HostLookup.detach { [self] in
      let answer = resolve(host.name)
      entries.withLock { entries in
        entries[host]?.isAsking = false
        // Those with a zone (`fe80::1%eth0`) libcurl's list has no form for.
        if case .found(let all) = answer {
          entries[host]?.addresses = all.filter { !$0.utf8.contains(UInt8(ascii: "%")) }
        }
      }
    }
    if !begun { entries.withLock { $0[host]?.isAsking = false } }
  }

  /// An address that failed, stalled or could not be reached comes last for a minute, and the name is asked for anew.
  func avoid(_ address: String, of host: Host, now: Duration) {
    entries.withLock { entries in
      guard entries[host]?.addresses.contains(address) == true else { return }
      entries[host]?.avoided[address] = now + Self.avoidance
      entries[host]?.rates[address] = nil
      entries[host]?.askedAt = nil
    }
  }

  /// The addresses are not to be trusted any more: none answered.
  func forget(_ host: Host) {
    entries.withLock { entries in
      entries[host]?.addresses = []
      entries[host]?.askedAt = nil
    }
  }

  func isAvoided(_ address: String, of host: Host, now: Duration) -> Bool {
    entries.withLock { ($0[host]?.avoided[address] ?? now) > now }
  }

  /// What a connection to the address brought; one that is far behind the best is avoided from then on.
  func learn(_ rate: Double, from address: String, of host: Host, now: Duration) {
    entries.withLock { entries in
      guard var entry = entries[host], entry.addresses.count > 1, entry.addresses.contains(address) else { return }
      let before = entry.rates[address]
      entry.rates[address] = before.map { $0 * 0.7 + rate * 0.3 } ?? rate
      let best = entry.rates.filter { $0.key != address }.values.max() ?? 0
      // The first part on a connection is slow in any case.
      let isSlow = before != nil && (entry.rates[address] ?? 0) < best * Self.slow
      if isSlow {
        entry.avoided[address] = now + Self.avoidance
        entry.rates[address] = nil
      }
      entries[host] = entry
    }
  }
}

/// The way of one request, where its host has several addresses.
struct Route {
  var host: AddressBook.Host
  var order: [String]
  var book: AddressBook
}

extension Transfer {
  /// Less says nothing about a line.
  private static let leastForRate: Int64 = 1 << 20

  func teachRoute(_ result: Result<Response, Failure>, code: CURLcode) {
    guard let route else { return }
    let now = uptime()
    if code == CURLE_COULDNT_CONNECT { return route.book.forget(route.host) }
    guard case .success = result else {
      if case .failure(let failure) = result, failure.code == .network || failure.code == .tls { avoidAddress() }
      return
    }
    guard let peer else { return }
    // A connection of its own that did not go to the first: that one did not answer.
    if easy.long(CURLINFO_NUM_CONNECTS) > 0, let first = route.order.first, !first.utf8.elementsEqual(peer.utf8) {
      route.book.avoid(first, of: route.host, now: now)
    }
    let seconds = Double(easy.offset(CURLINFO_TOTAL_TIME_T) - easy.offset(CURLINFO_PRETRANSFER_TIME_T)) / 1_000_000
    let sent = easy.offset(CURLINFO_SIZE_UPLOAD_T)
    guard sent >= Self.leastForRate, seconds > 0 else { return }
    route.book.learn(Double(sent) / seconds, from: peer, of: route.host, now: now)
  }

  /// The one that the request went to, if it came so far.
  func avoidAddress() {
    guard let route, let peer else { return }
    route.book.avoid(peer, of: route.host, now: uptime())
  }
}
