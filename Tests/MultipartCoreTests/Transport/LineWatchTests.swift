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
    #expect(!Sum(sent: 1000, again: 100, shortestTrip: 4_999).isLossy)
    #expect(!Sum().isLossy)
  }

  @Test("Numbers that are no connections are forgotten, and a quiet line is left as it is")
  func forgets() throws {
    let server = try RawServer { connection, _ in connection.untilClosed() }
    let socket = try Self.connected(to: server.port)
    defer { close(socket) }
    var watch = LineWatch(.auto)
    var sockets: Set<Int32> = [socket, 999_999]
    #expect(watch.look(at: &sockets) == nil)
    #expect(sockets == [socket])
    #expect(watch.chosen == nil)
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
