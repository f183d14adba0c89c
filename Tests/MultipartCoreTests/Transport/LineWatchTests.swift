import CKernels
import Dispatch
import Glibc
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct LineWatchTests {
  private typealias Sum = LineWatch.Sum

  @Test("A line is lossy from two lost segments in a thousand, if enough was sent over a long enough path")
  func judged() {
    #expect(Sum(sent: 1000, again: 2, shortestTrip: 50_000).isLossy)
    #expect(!Sum(sent: 1000, again: 1, shortestTrip: 50_000).isLossy)
    #expect(!Sum(sent: 399, again: 100, shortestTrip: 50_000).isLossy)
    #expect(!Sum(sent: 1000, again: 100, shortestTrip: 999).isLossy)
    #expect(!Sum().isLossy)
  }

  @Test(
    "On a long line little waits in the kernel to be sent, on a short one as much as the kernel wants",
    arguments: [true, false])
  func bounded(_ isLong: Bool) throws {
    let server = try RawServer { connection, _ in
      while connection.readBody(500) != nil { connection.write([1]) }
    }
    let sockets = LoopSockets(TransportOptions(), ledger: LineLedger(), longTrip: isLong ? 0 : 5_000_000)
    let socket = try Self.connected(to: server.port)
    defer { close(socket) }
    sockets.add(socket)
    sockets.lookAtLine(at: .zero)
    var (most, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    #expect(getsockopt(socket, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &most, &length) == 0)
    #expect((most == LoopSockets.mostUnsent) == isLong, "\(most)")
  }

  @Test("Bytes sent on closed connections stay counted, and numbers that are not connections are ignored")
  func counted() throws {
    // The answer means that the bytes were read and acknowledged.
    let server = try RawServer { connection, _ in
      while connection.readBody(500) != nil { connection.write([1]) }
    }
    let ledger = LineLedger()
    let sockets = LoopSockets(TransportOptions(), ledger: ledger)
    func send(_ fiveHundreds: Int, on socket: Int32) {
      sockets.add(socket)
      var bytes = [UInt8](repeating: 1, count: 500)
      for _ in 0..<fiveHundreds {
        #expect(write(socket, bytes, 500) == 500)
        #expect(read(socket, &bytes, 1) == 1)
      }
    }
    /// Whether the watch counts this many bytes. On some kernels the three-way handshake counts as one byte; each of at
    /// most three answers has one.
    func sees(_ count: Int64) -> Bool {
      sockets.lookAtLine(at: .zero)
      return (count...count + 7).contains(ledger.sample.delivered)
    }
    let socket = try Self.connected(to: server.port)
    send(2, on: socket)
    sockets.add(999_999)
    #expect(sees(1000))
    // The first connection is closed, and the second gets its number.
    let second = try Self.connected(to: server.port)
    #expect(dup2(second, socket) == socket)
    close(second)
    send(1, on: socket)
    #expect(sees(1500))
    #expect(ledger.sample.roundTrip > .zero)
    // Another file with the same number does not count.
    let other = try Self.connected(to: server.port)
    #expect(dup2(other, socket) == socket)
    close(other)
    defer { close(socket) }
    #expect(sees(1500))
    #expect(ledger.sample.roundTrip == .zero, "there is none left")
    #expect(ledger.sample.lost == 0 && ledger.sample.segments > 0)
  }

  @Test(
    "Where the kernel does not count acknowledged bytes, those that have left the sockets' buffers are counted",
    arguments: [true, false])
  func uncounted(_ hasInfo: Bool) throws {
    let mayRead = DispatchSemaphore(value: 0)
    let server = try RawServer { connection, _ in
      mayRead.wait()
      while connection.readBody(64 << 10) != nil {}
    }
    let ledger = LineLedger()
    let sockets = LoopSockets(TransportOptions(), ledger: ledger, read: { _ in hasInfo ? ck_line() : nil })
    let socket = try Self.connected(to: server.port)
    sockets.add(socket)
    let bytes = [UInt8](repeating: 1, count: 64 << 10)
    var written: Int64 = 0
    while case let count = send(socket, bytes, bytes.count, Int32(MSG_DONTWAIT)), count > 0 {
      sockets.wrote(Int64(count))
      written += Int64(count)
    }
    sockets.lookAtLine(at: .zero)
    let first = ledger.sample.delivered
    #expect(first > 0 && first < written, "the other side takes what fits into its buffer")
    mayRead.signal()
    #expect(Self.soon { unacknowledged(socket) == 0 })
    sockets.lookAtLine(at: .seconds(1))
    #expect(ledger.sample.delivered == written)
    close(socket)
    sockets.lookAtLine(at: .seconds(2))
    #expect(ledger.sample.delivered == written && ledger.sample.roundTrip == .zero)
  }

  @Test("What is lost on its way here shows in segments out of order: those of a round trip for each lost one")
  func incoming() throws {
    let server = try RawServer { connection, _ in connection.untilClosed() }
    let ledger = LineLedger()
    var line = ck_line()
    (line.round_trip, line.shortest, line.acknowledged) = (50_000, 50_000, 1)
    let sockets = LoopSockets(TransportOptions(), ledger: ledger, read: { _ in line })
    let socket = try Self.connected(to: server.port)
    defer { close(socket) }
    sockets.add(socket)
    sockets.lookAtLine(at: .zero)
    // A tenth of the segments of 20 round trips.
    (line.incoming, line.out_of_order) = (10_000, 1000)
    sockets.lookAtLine(at: .seconds(1))
    #expect(ledger.sample.segments == 10_000 && ledger.sample.lost == 2)
    line.incoming = 20_000
    sockets.lookAtLine(at: .seconds(2))
    #expect(ledger.sample.segments == 20_000 && ledger.sample.lost == 2, "nothing was lost since")
    // Something is missing all the time: at least one in each round trip.
    (line.incoming, line.out_of_order) = (20_100, 1200)
    sockets.lookAtLine(at: .seconds(3))
    #expect(ledger.sample.lost == 22)
  }

  private static func soon(_ holds: () -> Bool) -> Bool {
    for _ in 0..<2000 where !holds() { usleep(5000) }
    return holds()
  }

  @Test("On a lossy line existing and new connections use BBR, if the kernel lets this user choose it")
  func changes() throws {
    let server = try RawServer { connection, _ in connection.untilClosed() }
    let sockets = try (0..<3).map { _ in try Self.connected(to: server.port) }
    defer { for socket in sockets { close(socket) } }
    let system = Self.control(of: sockets[0])
    let isLet = setsockopt(sockets[2], Int32(IPPROTO_TCP), Self.tcpCongestion, "bbr", 3) == 0
    let wanted = isLet ? "bbr" : system
    let (quiet, lossy) = (Sum(sent: 1000, shortestTrip: 50_000), Sum(sent: 1000, again: 25, shortestTrip: 50_000))

    var watch = LineWatch(.auto)
    #expect(watch.prepare(sockets[1]) == nil)
    #expect(watch.judge(quiet, Self.nothing, on: [sockets[0]]) == nil)
    #expect(!watch.isHardy && Self.control(of: sockets[0]) == system && Self.control(of: sockets[1]) == system)

    let told = watch.judge(lossy, Self.nothing, on: [sockets[0]])
    #expect(told == (isLet ? "the line loses 2.50 % of the packets: its connections use BBR from now on" : nil))
    #expect(watch.isHardy == isLet && Self.control(of: sockets[0]) == wanted)
    #expect(watch.prepare(sockets[1]) == nil && Self.control(of: sockets[1]) == wanted)
    #expect(watch.judge(lossy, Self.nothing, on: [sockets[0]]) == nil, "told once")

    for control in [CongestionControl.system, .named("reno")] {
      var fixed = LineWatch(control)
      #expect(fixed.judge(lossy, Self.nothing, on: [sockets[0]]) == nil && !fixed.isHardy)
    }
  }

  private static let nothing = LineSample(at: .zero, delivered: 0)

  @Test(
    "One lost segment in a thousand is enough if losses are random, but not if they come in bursts",
    arguments: [true, false])
  func few(_ areRandom: Bool) throws {
    let server = try RawServer { connection, _ in connection.untilClosed() }
    let socket = try Self.connected(to: server.port)
    defer { close(socket) }
    try #require(setsockopt(socket, Int32(IPPROTO_TCP), Self.tcpCongestion, "cubic", 5) == 0)
    var watch = LineWatch(.auto)
    var sample = Self.nothing
    (sample.roundTrip, sample.leastTrip) = (.milliseconds(20), .milliseconds(20))
    var told: Wording?
    for look in 1...40 {
      sample.at += .milliseconds(100)
      sample.segments += 3000
      sample.lost += areRandom ? 3 : look % 10 == 0 ? 30 : 0
      let sum = Sum(sent: UInt64(sample.segments), again: UInt64(sample.lost), shortestTrip: 20_000)
      told = told ?? watch.judge(sum, sample, on: [socket])
    }
    let isLet = setsockopt(socket, Int32(IPPROTO_TCP), Self.tcpCongestion, "bbr", 3) == 0
    #expect(
      told == (areRandom && isLet ? "the line loses 0.10 % of the packets: its connections use BBR from now on" : nil))
    #expect(watch.isHardy == (areRandom && isLet))
  }

  private static let tcpCongestion: Int32 = 13

  private static func control(of socket: Int32) -> String {
    var name = [UInt8](repeating: 0, count: 16)
    var length = socklen_t(name.count)
    #expect(getsockopt(socket, Int32(IPPROTO_TCP), tcpCongestion, &name, &length) == 0)
    return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
  }

  @Test("A named congestion control is set on each connection; a missing one is reported once")
  func named() throws {
    let server = try RawServer { connection, _ in connection.untilClosed() }
    let socket = try Self.connected(to: server.port)
    defer { close(socket) }
    var reno = LineWatch(.named("reno"))
    #expect(reno.prepare(socket) == nil)
    #expect(Self.control(of: socket) == "reno")
    var nonsense = LineWatch(.named("nonsense"))
    #expect(nonsense.prepare(socket)?.contains("nonsense cannot be used") == true)
    #expect(nonsense.prepare(socket) == nil)
  }

  private static func connected(to port: Int) throws -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = in_port_t(port).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw SystemError("connect") }
    return socket
  }
}
