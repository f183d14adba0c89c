import Glibc
import MultipartBasics

/// The list of hosts that are reached without a proxy, as in `NO_PROXY`: names including their subdomains, addresses,
/// blocks of addresses such as `10.0.0.0/8` or `fd00::/8`, or `*` for all.
struct NoProxy {
  private let entries: [[UInt8]]

  init(_ list: String) {
    entries = list.lowercased().utf8.split { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }.compactMap { word in
      var entry = Array(word)[...]
      while entry.first == UInt8(ascii: ".") { entry.removeFirst() }
      while entry.last == UInt8(ascii: ".") { entry.removeLast() }
      return entry.isEmpty ? nil : Array(entry)
    }
  }

  /// The host is without a port, and an IPv6 address without brackets.
  func exempts(_ host: String) -> Bool {
    let host = Array(host.lowercased().utf8)
    let address = Self.address(host[...])
    return entries.contains { entry in
      if entry == Array("*".utf8) || entry == host { return true }
      if let address { return Self.block(entry).map { $0.contains(address) } ?? false }
      return host.count > entry.count && host.suffix(entry.count).elementsEqual(entry)
        && host[host.count - entry.count - 1] == UInt8(ascii: ".")
    }
  }

  private struct Block {
    let base: [UInt8]
    let bits: Int

    func contains(_ address: [UInt8]) -> Bool {
      guard address.count == base.count else { return false }
      return (0..<bits).allSatisfy { bit in
        let mask = UInt8(0x80) >> (bit % 8)
        return address[bit / 8] & mask == base[bit / 8] & mask
      }
    }
  }

  /// Parses an address, or a block of them, each with or without brackets.
  private static func block(_ entry: [UInt8]) -> Block? {
    let sides = entry.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
    var text = sides[0]
    if text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") { text = text.dropFirst().dropLast() }
    guard let base = address(text) else { return nil }
    let whole = base.count * 8
    guard let bits = sides.count == 1 ? whole : Int(sides[1], in: 0...whole) else { return nil }
    return Block(base: base, bits: bits)
  }

  /// The bytes of an IPv4 or IPv6 address; nil if the text is neither.
  private static func address(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let text = String(decoding: text, as: UTF8.self)
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
    var six = in6_addr()
    if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: &six) { Array($0) } }
    return nil
  }
}
