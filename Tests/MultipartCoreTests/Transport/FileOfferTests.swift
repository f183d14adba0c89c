import Foundation
import Support
import Testing

@testable import MultipartCore

/// Parts that go out of their file without being read into memory first.
@Suite(.timeLimit(.minutes(10)), .enabled(if: FileOffer.isPossible, "libcurl's calls of send are not ours"))
struct FileOfferTests {
  private typealias Seen = Guarded<[[UInt8]]>

  /// A slice of a file that says where its bytes are.
  private struct Slice: BodySource {
    var slice: PartSlice
    var isRead = false
    var hasPlace = true

    var length: Int64 { slice.length }
    var place: FilePlace? { hasPlace ? slice.place : nil }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
      guard isRead else { throw Failure(.local, "the bytes were read") }
      return try slice.read(into: buffer, at: offset)
    }
  }

  private let folder: TemporaryDirectory
  private let bytes = randomBytes(6_000_017, seed: 41)
  private let file: SourceFile

  init() throws {
    folder = try TemporaryDirectory()
    file = try SourceFile(FilePath(folder.write(bytes, to: "file")))
  }

  private func slice(_ offset: Int, _ length: Int) -> Slice {
    Slice(slice: PartSlice(file: file, offset: Int64(offset), length: Int64(length)))
  }

  private func part(_ url: String, _ slice: Slice) -> Request {
    Request(method: .put, url: url + "/bucket/key", body: .part(slice))
  }

  private func recorder(_ seen: Seen) throws -> RawServer {
    try RawServer { connection, _ in
      while let request = connection.readRequest() {
        seen.with { $0.append(request.body) }
        connection.answer("ok")
      }
    }
  }

  @Test(
    "A part arrives byte for byte without being read into memory",
    arguments: [
      (0, 1), (0, 262_143), (1, 262_144), (4095, 262_145), (12_345, 3_000_001), (0, 6_000_017), (6_000_016, 1), (7, 0),
    ])
  func arrives(offset: Int, length: Int) async throws {
    let seen = Seen([])
    let server = try recorder(seen)
    let transport = try plainTransport()
    // The second time on the handle, the buffer and the connection of the first.
    for _ in 0..<2 {
      let sent = SentCounter()
      var request = part(server.url, slice(offset, length))
      request.onSent = sent.add
      #expect(try await transport.send(request).status == 200)
      #expect(sent.sum == Int64(length))
    }
    #expect(server.connections == 1)
    #expect(seen.with { $0.map { $0 == Array(bytes[offset..<offset + length]) } } == [true, true])
  }

  @Test(
    "It does even if the socket fills up repeatedly, anywhere in a piece",
    arguments: [(4096, 90_001), (20_000, 700_001), (150_000, 4_000_003)] as [(Int32, Int)])
  func little(room: Int32, length: Int) async throws {
    let seen = Seen([])
    let server = try RawServer { connection, _ in
      var room = room
      setsockopt(connection.socket, SOL_SOCKET, SO_RCVBUF, &room, 4)
      guard let request = connection.readRequest() else { return }
      seen.with { $0.append(request.body) }
      connection.answer("ok")
    }
    let transport = try plainTransport()
    #expect(try await transport.send(part(server.url, slice(11, length))).status == 200)
    #expect(seen.with { $0.first == Array(bytes[11..<11 + length]) })
  }

  @Test(
    "Many concurrent parts on one loop, with a rate limit, are not mixed up", arguments: [nil, 16 << 20] as [Int64?])
  func many(rate: Int64?) async throws {
    let seen = Seen([])
    let server = try recorder(seen)
    let transport = try plainTransport {
      if let rate { $0.limiter = RateLimiter(rate: rate, now: .sinceBoot()) }
    }
    let parts = (0..<20).map { number in slice(number * 250_000, 300_000 + number) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for part in parts { group.addTask { try await transport.send(self.part(server.url, part)).status } }
      for try await status in group { #expect(status == 200) }
    }
    for part in parts {
      let wanted = Array(bytes[Int(part.slice.offset)..<Int(part.slice.offset + part.length)])
      #expect(seen.with { $0.filter { $0 == wanted }.count } == 1)
    }
  }

  @Test("Over TLS, through a proxy, and for a whole object the bytes are read, and arrive")
  func isRead() async throws {
    let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
    let seen = Seen([])
    let proxy = try recorder(seen)
    var read = slice(5, 1_000_001)
    read.isRead = true
    let wanted = Array(bytes[5..<1_000_006])
    let secure = try plainTransport { $0.caBundle = fake.caFile }
    #expect(try await secure.send(part(fake.tlsEndpoint, read)).status == 200)
    #expect(fake.object("key")?.bytes == wanted)
    #expect(
      try await proxiedTransport(through: proxy.url, trusting: nil).send(part("http://a.invalid", read)).status == 200)
    #expect(seen.with { $0 == [wanted] })
    let whole = Request(method: .put, url: fake.endpoint + "/bucket/whole", body: .source(read))
    #expect(try await plainTransport().send(whole).status == 200)
    #expect(fake.object("whole")?.bytes == wanted)
    read.hasPlace = false
    #expect(try await plainTransport().send(part(fake.endpoint, read)).status == 200)
    #expect(fake.object("key")?.bytes == wanted)
  }

  @Test(
    "A file that is cut short fails its request, and the next one on the loop succeeds",
    arguments: [0, 900_000])
  func shrinks(to size: Int) async throws {
    let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
    let transport = try plainTransport()
    let path = try folder.write(randomBytes(2_000_000, seed: 3), to: "shrinking")
    let cut = Slice(slice: PartSlice(file: try SourceFile(FilePath(path)), offset: 0, length: 2_000_000))
    try resize(path, size)
    let result = await outcome(transport, part(fake.endpoint, cut))
    #expect(result.code == .sourceChanged)
    #expect(result.message?.contains("shrank") == true)
    #expect(fake.object("key") == nil)
    #expect(try await transport.send(part(fake.endpoint, slice(1, 400_000))).status == 200)
    #expect(fake.object("key")?.bytes == Array(bytes[1..<400_001]))
  }

  @Test("A part that fails does not affect the others")
  func neighbours() async throws {
    let seen = Seen([])
    let server = try recorder(seen)
    let transport = try plainTransport()
    let path = try folder.write(randomBytes(2_000_000, seed: 3), to: "shrinking")
    let cut = Slice(slice: PartSlice(file: try SourceFile(FilePath(path)), offset: 0, length: 2_000_000))
    try resize(path, 2 * 262_144)
    let plain = [UInt8](repeating: 0x42, count: 300_000)
    let codes = await withTaskGroup(of: [Failure.Code?].self) { group in
      for number in 0..<4 {
        let whole = Request(method: .put, url: server.url + "/k", body: .bytes(plain))
        let request = number % 2 == 0 ? part(server.url, cut) : whole
        group.addTask {
          var codes: [Failure.Code?] = []
          for _ in 0..<50 { codes.append(await outcome(transport, request).code) }
          return codes
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(codes.count { $0 == nil } == 100 && codes.count { $0 == .sourceChanged } == 100, "\(codes)")
    #expect(seen.with { $0.count == 100 && $0.allSatisfy { $0 == plain } })
  }

  /// Both ends of a connection; only what the test reads is read.
  private func connection() throws -> (near: Int32, far: Int32) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw SystemError("socketpair")
    }
    return (ends[0], ends[1])
  }

  private func arrived(_ socket: Int32, _ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    return Array(bytes[..<max(0, recv(socket, &bytes, count, Int32(MSG_DONTWAIT)))])
  }

  /// libcurl frees the buffer of a failed request and serves others before the caller learns of it.
  @Test("Another connection sends its own bytes from the same memory; a reused descriptor is a new connection")
  func sameMemory() throws {
    let (first, second) = (try connection(), try connection())
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 16)
    defer {
      memory.deallocate()
      for socket in [first.far, second.near, second.far] { close(socket) }
    }
    let offer = try #require(FileOffer(FilePlace(file: file, offset: 10)))
    memory.copyBytes(from: Array(repeating: 7, count: 1000))
    #expect(offer.stands(for: memory))
    // Nobody's memory would go out with it.
    #expect(memory.allSatisfy { $0 == 0 })
    #expect(FileOffer.send(UnsafeRawBufferPointer(rebasing: memory[..<400]), to: first.near) == 400)
    #expect(arrived(first.far, 400) == Array(bytes[10..<410]))
    // Another request has the memory now.
    memory.copyBytes(from: Array(repeating: 9, count: 1000))
    #expect(FileOffer.send(UnsafeRawBufferPointer(rebasing: memory[400...]), to: second.near) == 600)
    #expect(FileOffer.send(UnsafeRawBufferPointer(memory), to: second.near) == 1000)
    #expect(arrived(second.far, 1600) == Array(repeating: 9, count: 1600))
    // The offer's own connection may only continue where it was.
    #expect(FileOffer.send(UnsafeRawBufferPointer(memory), to: first.near) == -1 && errno == EIO)
    #expect(offer.isPending)
    #expect(FileOffer.close(first.near) == 0)
    #expect(dup2(second.near, first.near) == first.near)
    defer { close(first.near) }
    #expect(FileOffer.send(UnsafeRawBufferPointer(rebasing: memory[400...]), to: first.near) == 600)
    #expect(arrived(second.far, 600) == Array(repeating: 9, count: 600))
    #expect(offer.isPending)
  }

  /// The first piece uses up the rate limit, and nothing is added, because the clock stands still.
  @Test("If the rate limit allows nothing in the middle of a piece, its rest is sent anyway")
  func rateGivesNothing() throws {
    let line = try connection()
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 16)
    defer {
      memory.deallocate()
      for socket in [line.near, line.far] { close(socket) }
    }
    var options = TransportOptions()
    options.limiter = RateLimiter(rate: 1_000_000, now: .zero)
    let sockets = LoopSockets(options, ledger: LineLedger())
    let made = Transfer(sockets: sockets, sessions: TLSSessions(), uptime: { .seconds(1) })
    let transfer = try #require(made)
    let request = part("http://127.0.0.1", slice(3, 500_000))
    transfer.begin(1, request, options: options, asksAddresses: false, route: nil)
    let given = transfer.read(into: memory)
    try #require((1000..<100_000).contains(given))
    #expect(FileOffer.send(UnsafeRawBufferPointer(rebasing: memory[..<(given - 100)]), to: line.near) == given - 100)
    let asked = UnsafeMutableRawBufferPointer(rebasing: memory[100...])
    #expect(transfer.read(into: asked) == 0x1000_0001)  // CURL_READFUNC_PAUSE
    #expect(FileOffer.send(UnsafeRawBufferPointer(rebasing: memory[..<100]), to: line.near) == 100)
    #expect(arrived(line.far, given) == Array(bytes[3..<(3 + given)]))
    transfer.end()
  }

  /// libcurl moves a small rest to the front of its buffer and asks for more after it; the rate limit may allow nothing then.
  @Test("The rest of a piece is found where libcurl moves it, with and without more after it", arguments: [0, 300])
  func moved(more: Int) throws {
    let line = try connection()
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 16)
    defer {
      memory.deallocate()
      for socket in [line.near, line.far] { close(socket) }
    }
    let offer = try #require(FileOffer(FilePlace(file: file, offset: 5)))
    #expect(offer.stands(for: memory))
    #expect(FileOffer.send(UnsafeRawBufferPointer(rebasing: memory[..<900]), to: line.near) == 900)
    #expect(!offer.stands(for: UnsafeMutableRawBufferPointer(rebasing: memory[50..<100])))
    #expect(offer.stands(for: UnsafeMutableRawBufferPointer(rebasing: memory[100..<100 + more])))
    #expect(FileOffer.send(UnsafeRawBufferPointer(rebasing: memory[..<(100 + more)]), to: line.near) == 100 + more)
    #expect(arrived(line.far, 1000 + more) == Array(bytes[5..<1005 + more]))
    #expect(!offer.isPending)
  }

  @Test("An offer whose first bytes were not sent at once belongs to no connection")
  func notAtOnce() throws {
    let (first, second) = (try connection(), try connection())
    defer { for socket in [first.near, first.far, second.near, second.far] { close(socket) } }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 16)
    defer { memory.deallocate() }
    let offer = try #require(FileOffer(FilePlace(file: file, offset: 0)))
    #expect(offer.stands(for: memory))
    #expect([UInt8]([1, 2, 3]).withUnsafeBytes { FileOffer.send($0, to: second.near) } == 3)
    #expect(FileOffer.send(UnsafeRawBufferPointer(memory), to: first.near) == -1 && errno == EIO)
  }

  @Test("A request that ends in the middle of a part leaves nothing of it to the next one")
  func ends() async throws {
    let seen = Seen([])
    let server = try RawServer { connection, number in
      guard number > 1 else {
        guard connection.readHead() != nil, connection.readBody(100_000) != nil else { return }
        return connection.untilClosed()
      }
      while let request = connection.readRequest() {
        seen.with { $0.append(request.body) }
        connection.answer("ok")
      }
    }
    let transport = try plainTransport()
    var stalling = part(server.url, slice(0, 6_000_017))
    stalling.stallTimeout = .milliseconds(1200)
    let result = try await finishes("a stalled part", within: .seconds(60)) { [stalling] in
      await outcome(transport, stalling)
    }
    #expect(result.code == .stalled, "\(result)")
    for _ in 0..<2 { #expect(try await transport.send(part(server.url, slice(100, 700_000))).status == 200) }
    #expect(seen.with { $0.allSatisfy { $0 == Array(bytes[100..<700_100]) } && $0.count == 2 })
  }

  @Test("If a kept connection has been closed, the part is sent again from its beginning")
  func staleConnection() async throws {
    let seen = Seen([])
    let server = try RawServer { connection, number in
      guard let first = connection.readRequest() else { return }
      seen.with { $0.append(first.body) }
      connection.answer("\(number)")
      guard number == 1 else { return }
      _ = connection.readHead()
      connection.resetsOnClose()
    }
    let transport = try plainTransport()
    let request = part(server.url, slice(3, 300_000))
    _ = try await transport.send(request)
    let result = await outcome(transport, request)
    if result.status == 200 {
      #expect(seen.with { $0.map { $0 == Array(bytes[3..<300_003]) } } == [true, true])
    } else {
      #expect(result.code == .network)
    }
  }

  @Test("A server that closes the connection causes a network failure, not a signal")
  func hangsUp() async throws {
    let server = try RawServer { connection, _ in
      guard connection.readHead() != nil else { return }
      connection.resetsOnClose()
    }
    let transport = try plainTransport()
    for _ in 0..<5 {
      #expect(await outcome(transport, part(server.url, slice(0, 6_000_017))).code == .network)
    }
  }
}
