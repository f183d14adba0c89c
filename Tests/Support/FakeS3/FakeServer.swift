import Foundation
import MultipartBasics
@testable import MultipartCore

/// The part of the fake store that its threads share: sockets, threads and the guarded state.
///
/// Sendable because the stored properties are constants, or behind `Guarded`.
final class FakeServer: Sendable {
  let state: Guarded<FakeState>
  let hostSuffix: String
  let port: Int
  let tlsPort: Int
  private let listeners: [(socket: Int32, secure: Bool)]
  /// A pipe whose read end is watched by every wait; its write end is closed when the server stops.
  private let stopper: (read: Int32, write: Int32)
  let tls: FakeTLS
  private let threads = Guarded(Threads())
  private let clock = ContinuousClock()
  private let epoch = ContinuousClock.now

  private struct Threads: Sendable {
    var acceptor: PosixThread?
    var connections: [Int: PosixThread] = [:]
    var sockets: [Int: Int32] = [:]
    var ended: [Int] = []
  }

  init(options: FakeOptions, faults: [Fault], caFile: String) throws {
    state = Guarded(FakeState(options: options, faults: faults))
    hostSuffix = options.hostSuffix
    tls = try FakeTLS(caFile: caFile, hostSuffix: options.hostSuffix)
    let plain = try Self.listen(options.address, options.port)
    let secure: (socket: Int32, port: Int)
    do { secure = try Self.listen(options.address, 0) } catch {
      close(plain.socket)
      throw error
    }
    listeners = [(plain.socket, false), (secure.socket, true)]
    port = plain.port
    tlsPort = secure.port
    stopper = try makePipe()
    let acceptor = try PosixThread.start { [self] in accept() }
    threads.with { $0.acceptor = acceptor }
  }

  /// Stops the server, once; returns when every thread has ended.
  func stop() {
    close(stopper.write)
    threads.with { $0.acceptor.take() }?.join()
    let rest = threads.with { threads in
      defer { threads.connections = [:] }
      return Array(threads.connections.values)
    }
    for thread in rest { thread.join() }
    for listener in listeners { close(listener.socket) }
    close(stopper.read)
  }

  /// Ends every existing connection, whatever it is doing.
  func dropConnections() {
    threads.with { threads in
      for socket in threads.sockets.values { _ = shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  func cut(_ connection: Int) {
    threads.with { threads in
      if let socket = threads.sockets[connection] { _ = shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  private static func listen(_ host: UInt32, _ port: Int) throws -> (socket: Int32, port: Int) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard listener >= 0 else { throw SystemError("socket") }
    tame(listener)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = host.bigEndian
    address.sin_port = in_port_t(port).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(listener, generic, length) == 0 && Glibc.listen(listener, 512) == 0
          && getsockname(listener, generic, &length) == 0
      }
    }
    guard code else {
      let error = SystemError("bind")
      close(listener)
      throw error
    }
    return (listener, Int(UInt16(bigEndian: address.sin_port)))
  }

  private func accept() {
    while true {
      var watched = listeners.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
      watched.append(pollfd(fd: stopper.read, events: Int16(POLLIN), revents: 0))
      poll(&watched, nfds_t(watched.count), -1)
      if watched[watched.count - 1].revents != 0 { return }
      for (at, listener) in listeners.enumerated() where watched[at].revents != 0 {
        let socket = accepted(on: listener.socket)
        guard socket >= 0 else { continue }
        tame(socket)
        serve(socket, secure: listener.secure)
      }
      reap()
    }
  }

  private func serve(_ socket: Int32, secure: Bool) {
    var one: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    let id = state.with { state -> Int? in
      guard state.counters.openConnections < state.options.maximumConnections else { return nil }
      state.counters.connections += 1
      state.counters.openConnections += 1
      return state.counters.connections
    }
    guard let id else {
      close(socket)
      return
    }
    // The lock is held until the thread is in the table, so that it cannot end before that.
    let started = threads.with { threads -> Bool in
      threads.connections[id] = try? PosixThread.start { [self] in
        // The handshake runs on the connection's thread: a client that does not speak TLS blocks no other.
        if let stream = try? FakeStream(socket: socket, stopper: stopper.read, tls: secure ? tls : nil) {
          self.threads.with { $0.sockets[id] = socket }
          FakeConnection(server: self, stream: stream, id: id, secure: secure).run()
          // The socket is removed before the stream closes it and its number is reused.
          withExtendedLifetime(stream) { self.threads.with { $0.sockets[id] = nil } }
        }
        state.with { $0.counters.openConnections -= 1 }
        self.threads.with { $0.ended.append(id) }
      }
      return threads.connections[id] != nil
    }
    if !started {
      close(socket)
      state.with { $0.counters.openConnections -= 1 }
    }
  }

  /// Joins the threads whose connections have ended.
  private func reap() {
    let ended = threads.with { threads in
      defer { threads.ended = [] }
      return threads.ended.compactMap { threads.connections.removeValue(forKey: $0) }
    }
    for thread in ended { thread.join() }
  }

  // MARK: the log

  func arrived(_ head: HTTPHead, _ route: FakeRoute, connection: Int) -> (index: Int, fault: Fault.Action?) {
    let began = clock.now - epoch
    return state.with { state in
      var entry = LoggedRequest(
        index: state.log.count, operation: route.operation, method: head.method, rawPath: head.rawPath,
        rawQuery: head.rawQuery, query: Dictionary(head.query.map { ($0.name, $0.value) }) { a, _ in a },
        headers: head.headers, bucket: route.bucket, key: route.key, uploadID: route.uploadID,
        partNumber: route.partNumber, connection: connection, secure: head.secure, began: began)
      var fault: Fault.Action?
      // All counters advance, even those of faults after the one that fires.
      for at in state.faults.indices where state.faults[at].fires(on: route, head.headers) {
        fault = fault ?? state.faults[at].fault.action
      }
      entry.fault = fault?.name
      state.log.append(entry)
      state.counters.requests += 1
      state.counters.runningRequests += 1
      state.counters.mostRunningRequests = max(state.counters.mostRunningRequests, state.counters.runningRequests)
      if route.operation == .uploadPart {
        state.runningParts += 1
        state.counters.mostRunningParts = max(state.counters.mostRunningParts, state.runningParts)
      }
      return (entry.index, fault)
    }
  }

  /// Logs the answer before it is sent, so that a client that has the answer finds it in the log.
  func answering(_ index: Int, _ exchange: FakeExchange) {
    state.with { state in
      state.log[index].status = exchange.status
      state.log[index].errorCode = exchange.errorCode
      state.log[index].bodyLength = exchange.received
    }
  }

  func left(_ index: Int, _ exchange: FakeExchange) {
    let ended = clock.now - epoch
    state.with { state in
      state.log[index].bodyLength = exchange.received
      state.log[index].ended = ended
      state.counters.runningRequests -= 1
      state.counters.bodyBytes += exchange.received
      if state.log[index].operation == .uploadPart { state.runningParts -= 1 }
    }
  }

  // MARK: Headers of every answer

  func commonHeaders(_ answer: HTTPAnswer) -> HeaderList {
    let (number, now) = state.with { ($0.next(), $0.now) }
    var headers = HeaderList()
    headers.add("x-amz-request-id", Self.requestID(number))
    headers.add("x-amz-id-2", base64(FakeHash.sha256.of("id-2 \(number)".utf8)))
    headers.add("Date", Self.httpDate(now))
    headers.add("Server", "AmazonS3")
    if answer.mayHaveBody { headers.add("Content-Length", String(answer.body.count)) }
    if answer.close { headers.add("Connection", "close") }
    return headers
  }

  static func requestID(_ number: Int) -> String {
    String(hex(FakeHash.md5.of("request \(number)".utf8)).uppercased().prefix(16))
  }

  static func httpDate(_ moment: Timestamp) -> String {
    var seconds = time_t(moment.seconds)
    var fields = tm()
    gmtime_r(&seconds, &fields)
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &fields)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func answer(_ error: FakeS3Error, headOnly: Bool) -> HTTPAnswer {
    var headers = error.headers
    let kind = state.with { $0.options.errorBodies }
    var body = ""
    switch kind {
    case .xml:
      headers.set("Content-Type", "application/xml")
      var fields = [XMLNode("Code", error.code), XMLNode("Message", error.message)]
      fields += error.details.map { XMLNode($0.name, $0.value) }
      fields.append(XMLNode("HostId", "host-id-of-the-fake"))
      body = XMLNode("Error", fields).document(namespace: false)
    case .html:
      headers.set("Content-Type", "text/html")
      body =
        "<html><head><title>\(error.status)</title></head><body><h1>\(error.status) \(error.code)<br></body></html>"
    case .empty: break
    }
    var answer = HTTPAnswer(error.status, headers: headers, body: Data(body.utf8))
    answer.headOnly = headOnly
    answer.errorCode = error.code
    return answer
  }
}
