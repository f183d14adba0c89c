import Glibc
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct AddressBookTests {
  private static let addresses = ["10.0.0.1", "10.0.0.2", "2001:db8::3"]
  private static let url = "https://store.example/b/k?x"
  private static let origin = "https://store.example"

  /// A book that has its addresses, and a list of the names that it looked up.
  private static func book(
    _ addresses: [String], for url: String = url
  ) -> (book: AddressBook, asked: Guarded<[String]>) {
    let asked = Guarded<[String]>([])
    let book = AddressBook(lookUp: { name, answer in
      asked.with { $0.append(name) }
      answer(.found(addresses))
    })
    book.find(url, now: .zero)
    return (book, asked)
  }

  @Test("A host is identified by the URL before its path; an address is not looked up")
  func hosts() {
    for (url, origin) in [
      (Self.url, Self.origin), ("http://a.b:9000", "http://a.b:9000"), ("http://a.b/", "http://a.b"),
      ("http://a.b?x=1/2", "http://a.b"), ("https://a.b#x", "https://a.b"), ("nonsense", "nonsense"),
    ] { #expect(AddressBook.origin(of: url) == origin) }
    for (url, host) in [(Self.url, "store.example:443"), ("http://a.b:9000/k", "a.b:9000"), ("http://a.b", "a.b:80")] {
      #expect(Self.book(Self.addresses, for: url).book.route(for: url, now: .zero)?.host == host)
    }
    for url in ["http://127.0.0.1:9000/k", "https://[::1]:9000/k", "https://[2001:db8::1]/", "ftp://a.b/", "http:///k"]
    {
      #expect(Self.book(Self.addresses, for: url).asked.with { $0 } == [], "\(url)")
    }
  }

  @Test("Each connection begins with another address, and has the others to fall back to")
  func rounds() {
    let (book, asked) = Self.book(Self.addresses)
    let orders = (0..<6).compactMap { _ in book.route(for: Self.url, now: .seconds(1))?.order }
    #expect(Set(orders.map { $0[0] }) == Set(Self.addresses))
    #expect(orders[0] == orders[3] && orders[0] != orders[1])
    for order in orders { #expect(Set(order) == Set(Self.addresses)) }
    #expect(asked.with { $0 } == ["store.example"])
  }

  @Test("If a name's addresses change every minute for a day, no old ones remain")
  func rotation() {
    let round = Guarded(0)
    let book = AddressBook(lookUp: { _, answer in
      let number = round.with { round in
        round += 1
        return round
      }
      answer(.found((0..<8).map { "10.\(number / 200).\(number % 200).\($0)" }))
    })
    book.find(Self.url, now: .zero)
    for minute in 1...1440 {
      let now = Duration.seconds(61 * minute)
      _ = book.route(for: Self.url, now: now)
      for address in book.route(for: Self.url, now: now)?.order ?? [] {
        book.learn(1e6, from: address, of: Self.origin, now: now)
        if address.hasSuffix(".3") { book.avoid(address, of: Self.origin, now: now) }
      }
      #expect(book.count(of: Self.origin) <= 9)
    }
    #expect(round.with { $0 } > 1000)
  }

  @Test("A host with one address, or without a lookup, is left to libcurl")
  func single() {
    for addresses in [["10.0.0.1"], ["10.0.0.1", "fe80::1%eth0"], []] {
      let book = Self.book(addresses).book
      for _ in 0..<100 { #expect(book.route(for: Self.url, now: .seconds(1)) == nil) }
    }
    let book = Self.book(Self.addresses).book
    #expect(book.route(for: "https://other.example/", now: .seconds(1)) == nil)
  }

  @Test(
    "During a lookup libcurl chooses the address, and there is no second lookup; a failed lookup keeps what was known")
  func unanswered() {
    let answers = Guarded<[@Sendable (HostLookup.Lookup) -> Void]>([])
    let book = AddressBook(lookUp: { _, answer in answers.with { $0.append(answer) } })
    // The closures and the book refer to each other.
    defer { answers.with { $0.removeAll() } }
    book.find(Self.url, now: .zero)
    for second in 0..<100 { #expect(book.route(for: Self.url, now: .seconds(second)) == nil) }
    #expect(answers.with { $0.count } == 1)
    answers.with { $0[0] }(.found(Self.addresses))
    #expect(book.route(for: Self.url, now: .seconds(61)) != nil)
    #expect(answers.with { $0.count } == 2)
    answers.with { $0[1] }(.refused(EAI_AGAIN))
    #expect(book.route(for: Self.url, now: .seconds(62)) != nil)
    #expect(answers.with { $0.count } == 2)
  }

  @Test("An address that failed comes last for a minute, and the name is looked up again at once")
  func avoided() {
    let (book, asked) = Self.book(Self.addresses)
    func orders(_ second: Int) -> [[String]] {
      (0..<6).compactMap { _ in book.route(for: Self.url, now: .seconds(second))?.order }
    }
    book.avoid("10.0.0.2", of: Self.origin, now: .seconds(1))
    #expect(orders(30).allSatisfy { $0.last == "10.0.0.2" })
    #expect(book.isAvoided("10.0.0.2", of: Self.origin, now: .seconds(30)))
    #expect(asked.with { $0.count } == 2)
    #expect(Set(orders(62).map { $0[0] }) == Set(Self.addresses))
    book.avoid("192.0.2.1", of: Self.origin, now: .seconds(62))
    #expect(!book.isAvoided("192.0.2.1", of: Self.origin, now: .seconds(62)), "not one of the host's")
  }

  @Test("If none answered, the addresses are forgotten and looked up again")
  func forgotten() {
    let answers = Guarded<[@Sendable (HostLookup.Lookup) -> Void]>([])
    let book = AddressBook(lookUp: { _, answer in answers.with { $0.append(answer) } })
    // The closures and the book refer to each other.
    defer { answers.with { $0.removeAll() } }
    book.find(Self.url, now: .zero)
    answers.with { $0[0] }(.found(Self.addresses))
    book.forget(Self.origin)
    #expect(book.route(for: Self.url, now: .seconds(1)) == nil)
    #expect(answers.with { $0.count } == 2)
  }

  @Test("An address with less than a quarter of the best one's rate is avoided, but not for its first part")
  func slow() {
    let book = Self.book(Self.addresses).book
    func part(_ address: String, _ rate: Double) { book.learn(rate, from: address, of: Self.origin, now: .seconds(1)) }
    for _ in 0..<3 { part("10.0.0.1", 100) }
    part("10.0.0.2", 10)
    #expect(!book.isAvoided("10.0.0.2", of: Self.origin, now: .seconds(1)))
    part("10.0.0.2", 10)
    #expect(book.isAvoided("10.0.0.2", of: Self.origin, now: .seconds(1)))
    for _ in 0..<3 { part("2001:db8::3", 30) }
    #expect(!book.isAvoided("2001:db8::3", of: Self.origin, now: .seconds(1)))
  }

  /// Six concurrent requests, each on its own connection, over a transport that uses these addresses for `store.test`.
  private static func send(
    to addresses: [String], port: Int
  ) async throws -> (transport: CurlTransport, origin: String, statuses: [Int]) {
    let transport = try plainTransport { $0.lookUp = { _, answer in answer(.found(addresses)) } }
    let url = "http://store.test:\(port)"
    transport.prepare(for: url)
    let statuses = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<6 {
        group.addTask {
          var request = Request(method: .get, url: url + "/")
          request.freshConnection = true
          return await outcome(transport, request).status ?? 0
        }
      }
      return await group.reduce(into: [Int]()) { $0.append($1) }
    }
    return (transport, url, statuses)
  }

  @Test("Connections are spread evenly over the addresses of the name")
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

  @Test("After an address that does not answer another one is tried, and the first is avoided from then on")
  func deadAddress() async throws {
    let server = try RawServer { connection, _ in
      while connection.readRequest() != nil { connection.answer() }
    }
    let sent = try await Self.send(to: ["127.0.0.9", "127.0.0.1"], port: server.port)
    #expect(sent.statuses == Array(repeating: 200, count: 6))
    #expect(sent.transport.addresses.isAvoided("127.0.0.9", of: sent.origin, now: .sinceBoot()))
    #expect(!sent.transport.addresses.isAvoided("127.0.0.1", of: sent.origin, now: .sinceBoot()))
  }

  @Test("A kept connection to an address that is now avoided serves only the next request")
  func keptConnection() async throws {
    let seen = Guarded<[String]>([])
    let server = try RawServer(at: INADDR_ANY) { connection, _ in
      while connection.readRequest() != nil {
        seen.with { $0.append(connection.localAddress) }
        connection.answer()
      }
    }
    let addresses = ["127.0.0.2", "127.0.0.3"]
    let transport = try plainTransport { $0.lookUp = { _, answer in answer(.found(addresses)) } }
    let url = "http://store.test:\(server.port)"
    transport.prepare(for: url)
    func send() async throws -> String {
      _ = try await transport.send(Request(method: .get, url: url + "/"))
      return seen.with { $0.last ?? "" }
    }
    let first = try await send()
    #expect(try await send() == first && server.connections == 1)
    transport.addresses.avoid(first, of: url, now: .sinceBoot())
    #expect(try await send() == first && server.connections == 1)
    #expect(try await send() == addresses.first { $0 != first } && server.connections == 2)
  }
}
