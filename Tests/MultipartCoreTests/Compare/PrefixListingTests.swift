import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct PrefixListingTests {
  private let said = Guarded<[String]>([])

  private var world: World {
    World.hasty { [said] level, text in if level == 1 { said.with { $0.append(text) } } }
  }

  private func listing(_ fake: FakeS3, _ prefix: String = "", tries: Int = 1) throws -> PrefixListing {
    PrefixListing(
      client: try fake.client(world), BucketAddress("bucket"), prefix: prefix, retrying: RetryPolicy(tries: tries))
  }

  /// Pages that the test has prepared.
  private func listing(
    _ answer: @escaping @Sendable (Request, Int) -> String
  ) throws -> (listing: PrefixListing, store: ScriptedStore) {
    let store = ScriptedStore { (request, number) throws(Failure) in
      Response(status: 200, body: Array("<ListBucketResult>\(answer(request, number))</ListBucketResult>".utf8))
    }
    return (
      PrefixListing(
        client: try store.client(world), BucketAddress("bucket"), prefix: "p/", retrying: RetryPolicy(tries: 1)), store
    )
  }

  private static func keys(_ keys: [String], more: String = "") -> String {
    keys.map { "<Contents><Key>\($0)</Key><Size>1</Size></Contents>" }.joined() + more
  }

  private static let goesOn = "<IsTruncated>true</IsTruncated>"

  private static func key(_ number: Int) -> String { "p/" + String(100_000 + number) }

  @Test("5,000 objects that are read along with 5,000 files take 5 requests")
  func along() async throws {
    let fake = try FakeS3()
    for number in 0..<5000 { fake.putObject(Self.key(2 * number), bytes: [UInt8(number % 7)]) }
    let listing = try listing(fake, "p/")
    // As many files without an object are between those that have one.
    for number in 0..<10_000 {
      let found = await listing.find(Self.key(number))
      guard number % 2 == 0 else {
        #expect(found == .absent)
        continue
      }
      guard case .listed(let object) = found else {
        Issue.record("\(number) was not found: \(found)")
        return
      }
      #expect(object.key == Self.key(number))
      #expect(object.size == 1)
      #expect(object.etag == fake.object(object.key).map { "\"\($0.etag)\"" })
    }
    #expect(await listing.find("p/z") == .absent)
    #expect(await listing.find("p/z") == .absent)
    #expect(fake.requests(.listObjects).count == 5)
    #expect(said.with { $0 } == [])
  }

  @Test("the files of a few folders skip the objects between them")
  func skips() async throws {
    let fake = try FakeS3(FakeOptions { $0.pageLimit = 10 })
    for folder in 0..<40 {
      for number in 0..<20 { fake.putObject("p/\(100 + folder)/\(100 + number)", bytes: [1]) }
    }
    let listing = try listing(fake, "p/")
    for key in ["p/100/100", "p/115/100", "p/115/119", "p/130/105", "p/139/119"] {
      guard case .listed(let object) = await listing.find(key) else {
        Issue.record("\(key) was not found")
        continue
      }
      #expect(object.key == key)
    }
    #expect(await listing.find("p/139/120") == .absent)
    // All pages together would be 80.
    #expect(fake.requests(.listObjects).count < 15)
  }

  @Test("keys of every kind are found in the order of their bytes")
  func hardKeys() async throws {
    let fake = try FakeS3(FakeOptions { $0.pageLimit = 2 })
    let keys = [
      "p/ a", "p/%20", "p/+", "p/a", "p/a\n", "p/a/b", "p/a<&>", "p/e\u{301}", "p/\u{E9}", "p/\u{1F4A9}", "p/\u{FF5E}",
    ]
    for key in keys { fake.putObject(key, bytes: [1]) }
    let listing = try listing(fake, "p/")
    for key in keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      guard case .listed(let object) = await listing.find(key) else {
        Issue.record("\(key) was not found")
        continue
      }
      #expect(Array(object.key.utf8) == Array(key.utf8))
    }
  }

  @Test("a key that is asked for out of order ends the use of the list, one outside its prefix does not")
  func outOfOrder() async throws {
    let fake = try FakeS3()
    for key in ["p/a", "p/b"] { fake.putObject(key, bytes: [1]) }
    let listing = try listing(fake, "p/")
    #expect(await listing.find("elsewhere") == .unknown)
    #expect(await listing.find("p/b") != .absent)
    #expect(await listing.find("p/a") == .unknown)
    #expect(await listing.find("p/b") == .unknown)
    #expect(said.with { $0 }.count == 1)
  }

  @Test("a list that is refused decides nothing, and is not requested again")
  func refused() async throws {
    let fake = try FakeS3(faults: [Fault(.init(.listObjects), .error(status: 403, code: "AccessDenied", message: "no"))]
    )
    let listing = try listing(fake, tries: 5)
    for key in ["a", "b", "c"] { #expect(await listing.find(key) == .unknown) }
    #expect(fake.requests(.listObjects).count == 1)
    #expect(said.with { $0 }.count == 1)
  }

  @Test("a list that fails once is read by the next try, one that always fails is given up")
  func failing() async throws {
    let (listing, store) = try listing { _, number in Self.keys(["p/a"]) }
    #expect(await listing.find("p/a") == .listed(ListedObject(key: "p/a", size: 1)))
    #expect(store.requests.count == 1)
    for fails in [2, 9] {
      let failing = ScriptedStore { (_, number) throws(Failure) in
        if number <= fails { return .error(503, "SlowDown") }
        return Response(status: 200, body: Array("<ListBucketResult>\(Self.keys(["a"]))</ListBucketResult>".utf8))
      }
      let listing = PrefixListing(
        client: try failing.client(world), BucketAddress("bucket"), prefix: "", retrying: RetryPolicy(tries: 3))
      #expect((await listing.find("a") == .unknown) == (fails > 2))
      #expect(failing.requests.count == 3)
    }
  }

  @Test("lists that are out of order, go in circles or never end are given up", arguments: 0..<7)
  func hostile(kind: Int) async throws {
    let (listing, store) = try listing { _, number in
      switch kind {
      case 0: Self.keys(["p/c", "p/b"])
      case 1: Self.keys(["p/a", "p/b"], more: Self.goesOn + "<NextContinuationToken>t</NextContinuationToken>")
      case 2: Self.keys([], more: Self.goesOn + "<NextContinuationToken>\(number)</NextContinuationToken>")
      case 3: Self.keys([], more: Self.goesOn)
      case 4: Self.keys(["q/a"])
      case 5: Self.keys(["p/a", "p/a"])
      default: number == 1 ? Self.keys(["p/a", "p/b"], more: Self.goesOn) : Self.keys(["p/b", "p/c"])
      }
    }
    #expect(await listing.find("p/z") == .unknown)
    #expect(await listing.find("p/zz") == .unknown)
    #expect(store.requests.count <= 10)
    #expect(said.with { $0 }.filter { $0.hasPrefix("the list of ") }.count == 1)
  }

  @Test("a missing or endless token is replaced by the last key", arguments: ["", String(repeating: "t", count: 5000)])
  func tokens(token: String) async throws {
    let (listing, store) = try listing { request, number in
      number == 1
        ? Self.keys(["p/a"], more: Self.goesOn + "<NextContinuationToken>\(token)</NextContinuationToken>")
        : Self.keys(["p/b"])
    }
    #expect(await listing.find("p/a") != .absent)
    #expect(await listing.find("p/b") == .listed(ListedObject(key: "p/b", size: 1)))
    #expect(store.requests.last?.url.contains("start-after=p%2Fa") == true)
    #expect(store.requests.last?.url.contains("continuation-token") == false)
  }

  @Test("a token is sent back as the store gave it, whatever it contains")
  func hostileToken() async throws {
    let (listing, store) = try listing { request, number in
      number == 1
        ? Self.keys(["p/a"], more: Self.goesOn + "<NextContinuationToken>&amp;x=1#\n%2F é</NextContinuationToken>")
        : Self.keys(["p/b"])
    }
    #expect(await listing.find("p/a") != .absent)
    #expect(await listing.find("p/b") != .absent)
    #expect(store.requests.last?.url.contains("continuation-token=%26x%3D1%23%0A%252F%20%C3%A9") == true)
  }
}
