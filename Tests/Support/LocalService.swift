import Foundation
@testable package import MultipartCore

/// An HTTP service on 127.0.0.1 whose answers are a closure of the test, and which records the requests: it replaces
/// STS, SSO and other services that issue credentials. It stops with its last reference.
///
///     let sts = try LocalService { _ in .init(200, "<…>") }
///     … AWS_ENDPOINT_URL_STS=sts.url …
///     #expect(sts.asked.first?.form["Action"] == "AssumeRole")
package final class LocalService: Sendable {
  package struct Asked: Sendable {
    package let method: String
    /// The target as it was sent, with its query.
    package let target: String
    package let headers: HeaderList
    package let body: [UInt8]

    package var text: String { String(decoding: body, as: UTF8.self) }
    package var path: String { String(target.prefix { $0 != "?" }) }
    /// The name and value of each pair of a form body.
    package var form: [String: String] { Self.pairs(text) }
    package var query: [String: String] { Self.pairs(String(target.drop { $0 != "?" }.dropFirst())) }

    private static func pairs(_ text: String) -> [String: String] {
      var pairs: [String: String] = [:]
      for pair in text.split(separator: "&") {
        let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
          $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
        }
        if words.count == 2 { pairs[words[0]] = words[1] }
      }
      return pairs
    }
  }

  package struct Reply: Sendable {
    package var status: Int
    package var headers: HeaderList
    package var body: [UInt8]
    package var manner: Manner

    package init(_ status: Int, _ body: String = "", headers: HeaderList = [:], _ manner: Manner = .whole) {
      self.manner = manner
      self.status = status
      self.headers = headers
      self.body = Array(body.utf8)
    }
  }

  /// How an answer is sent.
  package enum Manner: Sendable {
    case whole
    /// The connection ends in the middle of the body.
    case half
    /// Nothing is sent, and the connection stays open.
    case hang
    /// The connection ends without an answer.
    case close
  }

  package let port: Int
  private let address: String
  private let listener: Int32
  private let state: Guarded<State>

  private struct State: Sendable {
    var stops = false
    var asked: [Asked] = []
    var open: Set<Int32> = []
    var threads: [PosixThread] = []
    var acceptor: PosixThread?
  }

  /// Listens on loopback with a port that the kernel chooses, or at a given address, which needs a network namespace.
  package init(
    address: String = "127.0.0.1", port wanted: Int = 0, _ reply: @escaping @Sendable (Asked) -> Reply
  ) throws {
    self.address = address
    (listener, port) = try Self.listen(address, wanted)
    let (state, listener) = (Guarded(State()), listener)
    self.state = state
    let acceptor = try PosixThread.start {
      while true {
        let socket = accepted(on: listener)
        guard socket >= 0 else { return }
        guard state.with({ $0.stops ? false : $0.open.insert(socket).inserted }) else {
          close(socket)
          return
        }
        let thread = try? PosixThread.start {
          while let asked = Self.read(socket) {
            state.with { $0.asked.append(asked) }
            guard Self.write(reply(asked), to: socket) else { break }
          }
          // Closed under the lock, so that stopping never shuts down a reused descriptor.
          state.with { state in
            state.open.remove(socket)
            _ = close(socket)
          }
        }
        if let thread { state.with { $0.threads.append(thread) } }
      }
    }
    state.with { $0.acceptor = acceptor }
  }

  deinit {
    state.with { state in
      state.stops = true
      for socket in state.open { _ = shutdown(socket, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
    state.with { $0.acceptor.take() }?.join()
    for thread in state.with({ $0.threads }) { thread.join() }
    close(listener)
  }

  package var url: String { "http://\(address.contains(":") ? "[\(address)]" : address):\(port)" }
  package var asked: [Asked] { state.with { $0.asked } }

  private static func listen(_ address: String, _ port: Int) throws -> (Int32, Int) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, String(port), &hints, &found) == 0, let found else { throw SystemError("getaddrinfo") }
    defer { freeaddrinfo(found) }
    let listener = socket(found.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard listener >= 0 else { throw SystemError("socket") }
    var bound = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let ready = withUnsafeMutablePointer(to: &bound) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(listener, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 && Glibc.listen(listener, 64) == 0
          && getsockname(listener, generic, &length) == 0
      }
    }
    guard ready else {
      let error = SystemError("bind")
      close(listener)
      throw error
    }
    // The port is at the same offset in both address families.
    return (listener, Int(UInt16(bigEndian: bound.sin6_port)))
  }

  /// Reads one request with its body by Content-Length; clients here never send ahead of an answer.
  private static func read(_ socket: Int32) -> Asked? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    let mark = Array("\r\n\r\n".utf8)
    while true {
      if let end = bytes.firstRange(of: mark) {
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        guard words.count == 3 else { return nil }
        var headers = HeaderList()
        for line in lines.dropFirst() {
          guard let colon = line.firstIndex(of: ":") else { continue }
          headers.add(String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        let length = headers["Content-Length"].flatMap { Int($0) } ?? 0
        if bytes.count - end.upperBound >= length {
          return Asked(method: words[0], target: words[1], headers: headers, body: Array(bytes[end.upperBound...]))
        }
      }
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0, bytes.count < 1 << 20 else { return nil }
      bytes += buffer[..<count]
    }
  }

  private static func write(_ reply: Reply, to socket: Int32) -> Bool {
    var head = "HTTP/1.1 \(reply.status) X\r\nContent-Length: \(reply.body.count)\r\n"
    for field in reply.headers.fields { head += "\(field.name): \(field.value)\r\n" }
    var rest = (Array((head + "\r\n").utf8) + reply.body)[...]
    switch reply.manner {
    case .whole: break
    case .half: rest = rest.dropLast((reply.body.count + 1) / 2)
    case .close: return false
    case .hang:
      var byte: UInt8 = 0
      while recv(socket, &byte, 1, 0) > 0 {}
      return false
    }
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return reply.manner == .whole
  }
}
