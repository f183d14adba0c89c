import Glibc
import Support
import Testing

@testable import MultipartCore

@Suite struct AddressBookTests {
  private static let addresses = ["10.0.0.1", "10.0.0.2", "2001:db8::3"]
  private static let host = AddressBook.Host(url: "https://Store.example/b/k?x")

  /// A book that has its answer, and how often it was asked.
  private static func book(_ addresses: [String]) async throws -> (AddressBook, AddressBook.Host, Guarded<Int>) {
    let (asked, came) = (Guarded(0), Gate())
    let book = AddressBook { _ in
      asked.with { $0 += 1 }
      came.open()
      return .found(addresses)
    }
    let host = try #require(Self.host)
    book.find(host, now: .zero)
    await came.wait()
    // The answer is written down after it was given.
    while addresses.count > 1, book.order(for: host, now: .zero) == nil { try await Task.sleep(for: .milliseconds(1)) }
    return (book, host, asked)
  }

  @Test("A host is the name and port of a URL; an address is none, for there is nothing to spread")
  func hosts() {
    #expect(Self.host?.name == "store.example" && Self.host?.port == 443)
    let plain = AddressBook.Host(url: "http://a.b:9000")
    #expect(plain?.name == "a.b" && plain?.port == 9000)
    for url in ["http://127.0.0.1:9000/k", "https://[::1]:9000/k", "https://[2001:db8::1]/", "ftp://a.b/", "http:///k"]
    {
      #expect(AddressBook.Host(url: url) == nil, "\(url)")
    }
  }

  @Test("Each connection begins with another address, and all have the others to fall back to")
  func turns() async throws {
    let (book, host, asked) = try await Self.book(Self.addresses)
    let orders = (0..<6).compactMap { _ in book.order(for: host, now: .seconds(1)) }
    #expect(Set(orders.map { $0[0] }) == Set(Self.addresses))
    #expect(orders[0] == orders[3] && orders[0] != orders[1])
    for order in orders { #expect(Set(order) == Set(Self.addresses)) }
    #expect(asked.with { $0 } == 1)
  }

  @Test("A host with one address, or one that nobody prepared for, is left to libcurl")
  func single() async throws {
    let (book, host, _) = try await Self.book(["10.0.0.1"])
    let zones = AddressBook { _ in .found(["10.0.0.1", "fe80::1%eth0"]) }
    zones.find(host, now: .zero)
    for _ in 0..<100 { #expect(zones.order(for: host, now: .seconds(1)) == nil) }
    for _ in 0..<100 { #expect(book.order(for: host, now: .seconds(1)) == nil) }
    let other = try #require(AddressBook.Host(url: "https://other.example/"))
    #expect(book.order(for: other, now: .seconds(1)) == nil)
  }

  @Test("An address that failed comes last for a minute, and the name is asked for anew at once")
  func avoided() async throws {
    let (book, host, asked) = try await Self.book(Self.addresses)
    book.avoid("10.0.0.2", of: host, now: .seconds(1))
    for _ in 0..<6 { #expect(book.order(for: host, now: .seconds(30))?.last == "10.0.0.2") }
    #expect(book.isAvoided("10.0.0.2", of: host, now: .seconds(30)))
    while asked.with({ $0 }) < 2 { try await Task.sleep(for: .milliseconds(1)) }
    let later = (0..<6).compactMap { _ in book.order(for: host, now: .seconds(62)) }
    #expect(Set(later.map { $0[0] }) == Set(Self.addresses))
    book.avoid("192.0.2.1", of: host, now: .seconds(62))
    #expect(!book.isAvoided("192.0.2.1", of: host, now: .seconds(62)), "not one of the host's")
  }

  @Test("An address with less than a quarter of the best one's rate is avoided, but not for its first part")
  func slow() async throws {
    let (book, host, _) = try await Self.book(Self.addresses)
    func part(_ address: String, _ rate: Double) { book.learn(rate, from: address, of: host, now: .seconds(1)) }
    for _ in 0..<3 { part("10.0.0.1", 100) }
    part("10.0.0.2", 10)
    #expect(!book.isAvoided("10.0.0.2", of: host, now: .seconds(1)))
    part("10.0.0.2", 10)
    #expect(book.isAvoided("10.0.0.2", of: host, now: .seconds(1)))
    for _ in 0..<3 { part("2001:db8::3", 30) }
    #expect(!book.isAvoided("2001:db8::3", of: host, now: .seconds(1)))
  }

  /// Six requests at once, each on a connection of its own, over a transport that takes `store.test` for these.
  private static func send(
    to addresses: [String], port: Int
  ) async throws -> (transport: CurlTransport, host: AddressBook.Host, statuses: [Int]) {
    var options = TransportOptions()
    options.resolve = { _ in .found(addresses) }
    let transport = try CurlTransport(options: options, loops: 1)
    let url = "http://store.test:\(port)/"
    let host = try #require(AddressBook.Host(url: url))
    transport.prepare(for: url)
    while transport.addresses.order(for: host, now: .zero) == nil { try await Task.sleep(for: .milliseconds(1)) }
    let statuses = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<6 {
        group.addTask {
          var request = Request(method: .get, url: url)
          request.freshConnection = true
          return await outcome(transport, request).status ?? 0
        }
      }
      return await group.reduce(into: [Int]()) { $0.append($1) }
    }
    return (transport, host, statuses)
  }

  @Test("Connections go to all addresses of the name alike")
  func spreads() async throws {
    let seen = Guarded<[String: Int]>([:])
    let server = try RawServer(at: INADDR_ANY) { connection, _ in
      let address = connection.localAddress
      seen.with { $0[address, default: 0] += 1 }
      while connection.readRequest() != nil { connection.answer() }
    }
    let addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
    let sent = try await Self.send(to: addresses, port: server.port)
    #expect(sent.statuses == Array(repeating: 200, count: 6))
    #expect(seen.with { $0 } == Dictionary(uniqueKeysWithValues: addresses.map { ($0, 2) }))
  }

  @Test("An address at which nobody answers costs a try of another one, and is avoided from then on")
  func deadAddress() async throws {
    let server = try RawServer { connection, _ in
      while connection.readRequest() != nil { connection.answer() }
    }
    let sent = try await Self.send(to: ["127.0.0.9", "127.0.0.1"], port: server.port)
    #expect(sent.statuses == Array(repeating: 200, count: 6))
    #expect(sent.transport.addresses.isAvoided("127.0.0.9", of: sent.host, now: .sinceBoot()))
    #expect(!sent.transport.addresses.isAvoided("127.0.0.1", of: sent.host, now: .sinceBoot()))
  }
}
