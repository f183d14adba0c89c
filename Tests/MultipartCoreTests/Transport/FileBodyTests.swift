import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// Parts of files: if libcurl can borrow their bytes, nothing is copied; otherwise each byte is copied once.
@Suite(.timeLimit(.minutes(10))) struct FileBodyTests {
  private typealias Seen = Guarded<[[UInt8]]>

  /// A slice of a file that counts the copied and the lent bytes.
  private struct Slice: BodySource {
    struct Counts: Equatable {
      var copied: Int64 = 0
      var lent: Int64 = 0
    }

    var slice: PartSlice
    let counts = Guarded(Counts())

    var length: Int64 { slice.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
      let count = try slice.read(into: buffer, at: offset)
      counts.with { $0.copied += Int64(count) }
      return count
    }

    func lend(_ count: Int, at offset: Int64) throws(Failure) -> FilePiece? {
      let piece = try slice.lend(count, at: offset)
      counts.with { $0.lent += Int64(piece?.bytes.count ?? 0) }
      return piece
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
    "A part arrives byte for byte, over HTTP and TLS, and each byte is lent or copied once",
    arguments: [
      (0, 1), (0, 262_143), (1, 262_144), (4095, 262_145), (12_345, 3_000_001), (0, 6_000_017), (6_000_016, 1), (7, 0),
    ])
  func arrives(offset: Int, length: Int) async throws {
    let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
    let transport = try plainTransport { $0.caBundle = fake.caFile }
    for endpoint in [fake.endpoint, fake.tlsEndpoint] {
      // The second request reuses the handle, the buffer and the connection of the first.
      for _ in 0..<2 {
        let slice = slice(offset, length)
        let sent = SentCounter()
        var request = part(endpoint, slice)
        request.onSent = sent.add
        #expect(try await transport.send(request).status == 200)
        #expect(sent.sum == Int64(length))
        #expect(fake.object("key")?.bytes == Array(bytes[offset..<offset + length]))
        let all = Int64(length)
        #expect(
          slice.counts.with { $0 } == (CurlGlobal.canLend ? .init(copied: 0, lent: all) : .init(copied: all, lent: 0)))
      }
    }
  }

  @Test(
    "It arrives even if the socket fills up repeatedly, anywhere in a piece",
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

  @Test("A whole object is copied, so that its last bytes cannot change any more; a part also arrives through a proxy")
  func isCopied() async throws {
    let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
    let whole = slice(5, 1_000_001)
    let wanted = Array(bytes[5..<1_000_006])
    let request = Request(method: .put, url: fake.endpoint + "/bucket/whole", body: .source(whole))
    #expect(try await plainTransport().send(request).status == 200)
    #expect(fake.object("whole")?.bytes == wanted)
    #expect(whole.counts.with { $0.lent } == 0)
    let seen = Seen([])
    let proxy = try recorder(seen)
    let proxied = try proxiedTransport(through: proxy.url, trusting: nil)
    #expect(try await proxied.send(part("http://a.invalid", slice(5, 1_000_001))).status == 200)
    #expect(seen.with { $0 == [wanted] })
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

  @Test(
    "A file that is cut short fails its own parts and no others, on one loop and on two",
    arguments: [1, 2], [false, true])
  func neighbours(loops: Int, isSecure: Bool) async throws {
    let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
    let url = isSecure ? fake.tlsEndpoint : fake.endpoint
    let transport = try plainTransport(loops: loops) { $0.caBundle = fake.caFile }
    let path = try folder.write(randomBytes(2_000_000, seed: 3), to: "shrinking")
    let cut = try SourceFile(FilePath(path))
    try resize(path, 2 * 262_144)
    let codes = await withTaskGroup(of: [Failure.Code?].self) { group in
      for number in 0..<4 {
        group.addTask {
          var codes: [Failure.Code?] = []
          for turn in 0..<20 {
            let (source, key) = (number % 2 == 0 ? cut : file, "key\(number)-\(turn)")
            let body = PartSlice(file: source, offset: Int64(turn), length: 1_900_000)
            let request = Request(method: .put, url: "\(url)/bucket/\(key)", body: .part(body))
            codes.append(await outcome(transport, request).code)
            if source !== file {
              #expect(fake.object(key) == nil)
            } else {
              #expect(fake.object(key)?.bytes == Array(bytes[turn..<turn + 1_900_000]))
            }
          }
          return codes
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(codes.count { $0 == nil } == 40 && codes.count { $0 == .sourceChanged } == 40, "\(codes)")
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
