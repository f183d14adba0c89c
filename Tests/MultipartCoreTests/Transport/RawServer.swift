import Foundation
import Support

/// A server with plain sockets on 127.0.0.1: a closure of the test, on its own thread, determines what a connection
/// sends and when. The server stops with its last reference: open connections are shut down and their threads joined.
final class RawServer: Sendable {
  let port: Int
  private let listener: Int32
  private let shared = Guarded(Shared())

  private struct Shared: Sendable {
    var stops = false
    var accepted = 0
    var open: Set<Int32> = []
    var threads: [PosixThread] = []
    var acceptor: PosixThread?
  }

  /// Calls `serve` with each connection and its number, from 1. The connection is closed when that returns.
  init(
    at address: in_addr_t = 0x7F00_0001, _ serve: @escaping @Sendable (RawConnection, Int) -> Void
  ) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard listener >= 0 else { throw SystemError("socket") }
    self.listener = listener
    port = try Self.bind(listener, address)
    let shared = shared
    let acceptor = try PosixThread.start {
      while true {
        let socket = accepted(on: listener)
        guard socket >= 0, shared.with({ !$0.stops }) else {
          if socket >= 0 { close(socket) }
          return
        }
        let number = shared.with { state in
          state.accepted += 1
          state.open.insert(socket)
          return state.accepted
        }
        let thread = try? PosixThread.start {
          serve(RawConnection(socket), number)
          // Closed under the lock, so that `stop` never shuts down a reused descriptor.
          shared.with { state in
            state.open.remove(socket)
            _ = close(socket)
          }
        }
        if let thread { shared.with { $0.threads.append(thread) } }
      }
    }
    shared.with { $0.acceptor = acceptor }
  }

  deinit {
    shared.with { state in
      state.stops = true
      for socket in state.open { _ = shutdown(socket, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
    shared.with { $0.acceptor.take() }?.join()
    let (threads, open) = shared.with { ($0.threads, $0.open) }
    // A connection may have been accepted in between.
    for socket in open { _ = shared.with { $0.open.contains(socket) ? shutdown(socket, Int32(SHUT_RDWR)) : 0 } }
    for thread in threads { thread.join() }
    close(listener)
  }

  var url: String { "http://127.0.0.1:\(port)" }
  var connections: Int { shared.with { $0.accepted } }

  private static func bind(_ listener: Int32, _ at: in_addr_t) throws -> Int {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = at.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        Glibc.bind(listener, generic, length) == 0 && listen(listener, 512) == 0
          && getsockname(listener, generic, &length) == 0
      }
    }
    guard bound else { throw SystemError("bind") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}

/// One connection, used by the thread that serves it. Reading returns nil once the other side has closed.
final class RawConnection {
  let socket: Int32
  private var ahead: [UInt8] = []

  init(_ socket: Int32) {
    self.socket = socket
  }

  /// A request's head up to the empty line.
  func readHead() -> String? {
    let mark: [UInt8] = [13, 10, 13, 10]
    while true {
      if let end = ahead.indices.first(where: { ahead[$0...].starts(with: mark) }) {
        defer { ahead.removeFirst(end + 4) }
        return String(decoding: ahead[..<end], as: UTF8.self)
      }
      guard let more = receive() else { return nil }
      ahead += more
    }
  }

  /// The address of this machine that the other side has connected to.
  var localAddress: String {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    guard status == 0 else { return "" }
    // The number is stored as it goes over the line: the first byte first.
    return withUnsafeBytes(of: address.sin_addr.s_addr) { $0.map { "\($0)" }.joined(separator: ".") }
  }

  func readBody(_ count: Int) -> [UInt8]? {
    while ahead.count < count {
      guard let more = receive() else { return nil }
      ahead += more
    }
    defer { ahead.removeFirst(count) }
    return Array(ahead[..<count])
  }

  /// Head and body by its Content-Length.
  func readRequest() -> (head: String, body: [UInt8])? {
    guard let head = readHead() else { return nil }
    let length = head.split(separator: "\r\n").lazy.compactMap { line -> Int? in
      let lower = line.lowercased()
      guard lower.hasPrefix("content-length:") else { return nil }
      return Int(lower.dropFirst(15).trimmingCharacters(in: .whitespaces))
    }.first
    guard let body = readBody(length ?? 0) else { return nil }
    return (head, body)
  }

  func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(socket, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  @discardableResult
  func write(_ text: String) -> Bool { write(Array(text.utf8)) }

  @discardableResult
  func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  func answer(_ body: String = "", status: String = "200 OK", headers: String = "") {
    write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
  }

  /// Waits until the other side closes, or the server stops.
  func untilClosed() {
    while receive() != nil {}
  }

  /// Waits until the other side hangs up, or the server stops, without reading anything.
  func untilHungUp() {
    var watched = pollfd(fd: socket, events: 0, revents: 0)
    while poll(&watched, 1, -1) < 0, errno == EINTR {}
  }

  /// Makes the next close reset the connection.
  func resetsOnClose() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Connects to 127.0.0.1; the caller closes it.
  static func connected(to port: Int) -> RawConnection? {
    let other = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard other >= 0 else { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(other, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard connected else {
      close(other)
      return nil
    }
    return RawConnection(other)
  }

  /// Carries bytes both ways between this connection and `port` until one side closes.
  func splice(to port: Int) {
    guard let far = RawConnection.connected(to: port) else { return }
    let other = far.socket
    defer { close(other) }
    while true {
      var watched = [socket, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&watched, 2, -1) > 0 else { return }
      if watched[0].revents != 0 {
        guard let bytes = receive(), far.write(bytes) else { return }
      }
      if watched[1].revents != 0 {
        guard let bytes = far.receive(), write(bytes) else { return }
      }
    }
  }
}
