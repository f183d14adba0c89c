import Glibc
import Support
import Testing

@testable import MultipartCore

@Suite struct LineWatchTests {
  private typealias Sum = LineWatch.Sum

  @Test("A line is lossy from two in a thousand on, when enough was sent over a way that is long enough")
  func judged() {
    #expect(Sum(sent: 1000, again: 2, shortestTrip: 50_000).isLossy)
    #expect(!Sum(sent: 1000, again: 1, shortestTrip: 50_000).isLossy)
    #expect(!Sum(sent: 399, again: 100, shortestTrip: 50_000).isLossy)
    #expect(!Sum(sent: 1000, again: 100, shortestTrip: 999).isLossy)
    #expect(!Sum().isLossy)
  }

  @Test("What went out on closed connections stays counted, and numbers that are no connections are passed over")
  func counted() throws {
    let server = try RawServer { connection, _ in connection.untilClosed() }
    let ledger = LineLedger()
    let sockets = LoopSockets(TransportOptions(), ledger: ledger)
    func send(_ count: Int) throws -> Int32 {
      let socket = try Self.connected(to: server.port)
      sockets.add(socket)
      let bytes = [UInt8](repeating: 1, count: count)
      #expect(write(socket, bytes, count) == count)
      return socket
    }
    /// Looks until the other side has acknowledged so much.
    func sees(_ count: Int64) -> Bool {
      for turn in 1...2000 {
        sockets.lookAtLine(at: .milliseconds(turn))
        // The three-way handshake counts as a byte on some kernels.
        if (count...count + 4).contains(ledger.sample.delivered) { return true }
        usleep(1000)
      }
      return false
    }
    let first = try send(1000)
    sockets.add(999_999)
    #expect(sees(1000))
    close(first)
    #expect(sees(1000))
    // The kernel gives the lowest free number, so the second has that of the first.
    let second = try send(500)
    defer { close(second) }
    #expect(sees(1500))
    #expect(ledger.sample.roundTrip > .zero)
    #expect(!ledger.sample.isLossy)
  }

  @Test("A congestion control that is named is set on each connection; one that the kernel lacks is told once")
  func named() throws {
    let server = try RawServer { connection, _ in connection.untilClosed() }
    let socket = try Self.connected(to: server.port)
    defer { close(socket) }
    var reno = LineWatch(.named("reno"))
    #expect(reno.prepare(socket) == nil)
    var name = [UInt8](repeating: 0, count: 16)
    var length = socklen_t(name.count)
    #expect(getsockopt(socket, Int32(IPPROTO_TCP), 13 /* TCP_CONGESTION */, &name, &length) == 0)
    #expect(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self) == "reno")
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
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw SystemError("connect") }
    return socket
  }
}
