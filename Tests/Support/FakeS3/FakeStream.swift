import COpenSSL
import Foundation

/// Why a stream cannot be read or written any more.
enum StreamEnd: Error {
  case closed, stopped, idle
}

/// One accepted connection, plain or TLS, on a non-blocking socket; used only by its own thread.
///
/// Every wait also watches `stopper`, a descriptor that becomes readable, and stays so, when the server stops.
final class FakeStream {
  private var socket: Int32
  private let stopper: Int32
  private var tls: OpaquePointer?
  /// Bytes that were received after the requested ones.
  private var ahead: [UInt8] = []
  /// The milliseconds without a byte after which a connection ends.
  private let idle: Int32 = 120_000

  init(socket: Int32, stopper: Int32, tls: FakeTLS?) throws(StreamEnd) {
    self.socket = socket
    self.stopper = stopper
    if let tls { try startTLS(tls) }
  }

  func startTLS(_ tls: FakeTLS) throws(StreamEnd) {
    guard let session = SSL_new(tls.context) else { throw .closed }
    self.tls = session
    SSL_set_fd(session, socket)
    while true {
      let code = SSL_accept(session)
      if code == 1 { return }
      try waitTLS(session, code)
    }
  }

  deinit {
    SSL_free(tls)
    if socket >= 0 { close(socket) }
  }

  /// Reads up to the empty line, which is not returned; nil if there are more than `limit` bytes before it.
  func readHead(limit: Int) throws(StreamEnd) -> [UInt8]? {
    let mark: [UInt8] = [13, 10, 13, 10]
    var searched = 0
    while true {
      while searched + 4 <= ahead.count {
        if ahead[searched] == 13, ahead[searched..<searched + 4].elementsEqual(mark) {
          let head = Array(ahead[..<searched])
          ahead.removeFirst(searched + 4)
          return head
        }
        searched += 1
      }
      // The first byte is that of a TLS handshake: servers answer at once that this is not HTTP.
      guard ahead.count <= limit, ahead.first != 0x16 else { return nil }
      var chunk = [UInt8](repeating: 0, count: 16 << 10)
      let count = try receive(into: &chunk)
      guard count > 0 else { throw .closed }
      ahead += chunk[..<count]
    }
  }

  /// Reads some bytes; 0 at the end of the stream.
  func read(_ into: UnsafeMutableRawBufferPointer) throws(StreamEnd) -> Int {
    guard !ahead.isEmpty else { return try receive(into) }
    let count = min(ahead.count, into.count)
    ahead.withUnsafeBytes { into.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    ahead.removeFirst(count)
    return count
  }

  private func receive(into chunk: inout [UInt8]) throws(StreamEnd) -> Int {
    let result = chunk.withUnsafeMutableBytes { bytes -> Result<Int, StreamEnd> in
      do throws(StreamEnd) { return .success(try receive(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func receive(_ into: UnsafeMutableRawBufferPointer) throws(StreamEnd) -> Int {
    while true {
      if let tls {
        let count = SSL_read(tls, into.baseAddress, Int32(clamping: into.count))
        if count > 0 { return Int(count) }
        if SSL_get_error(tls, count) == SSL_ERROR_ZERO_RETURN { return 0 }
        try waitTLS(tls, count)
      } else {
        let count = recv(socket, into.baseAddress, into.count, 0)
        if count >= 0 { return count }
        guard errno == EAGAIN || errno == EINTR else { throw .closed }
        try wait(for: Int16(POLLIN))
      }
    }
  }

  func write(_ bytes: some ContiguousBytes) throws(StreamEnd) {
    let result = bytes.withUnsafeBytes { whole -> Result<Void, StreamEnd> in
      do throws(StreamEnd) { return .success(try send(whole)) } catch { return .failure(error) }
    }
    try result.get()
  }

  private func send(_ whole: UnsafeRawBufferPointer) throws(StreamEnd) {
    var at = 0
    while at < whole.count, let base = whole.baseAddress {
      if let tls {
        let count = SSL_write(tls, base + at, Int32(clamping: whole.count - at))
        if count > 0 { at += Int(count) } else { try waitTLS(tls, count) }
      } else {
        let count = Glibc.send(socket, base + at, whole.count - at, Int32(MSG_NOSIGNAL))
        if count >= 0 {
          at += count
        } else {
          guard errno == EAGAIN || errno == EINTR else { throw .closed }
          try wait(for: Int16(POLLOUT))
        }
      }
    }
  }

  private func waitTLS(_ tls: OpaquePointer, _ code: Int32) throws(StreamEnd) {
    let reason = SSL_get_error(tls, code)
    ERR_clear_error()
    switch reason {
    case SSL_ERROR_WANT_READ: try wait(for: Int16(POLLIN))
    case SSL_ERROR_WANT_WRITE: try wait(for: Int16(POLLOUT))
    default: throw .closed
    }
  }

  private func wait(for events: Int16) throws(StreamEnd) {
    var watched = [pollfd(fd: socket, events: events, revents: 0), stopped]
    let count = poll(&watched, 2, idle)
    if watched[1].revents != 0 { throw .stopped }
    if count == 0 { throw .idle }
  }

  private var stopped: pollfd { pollfd(fd: stopper, events: Int16(POLLIN), revents: 0) }

  /// Waits for `milliseconds`, or forever if nil. Ends early, by throwing, when the peer has gone or the server stops.
  func pause(milliseconds: Int?) throws(StreamEnd) {
    // Unread bytes must not end the pause, so only the peer's hang-up is watched.
    var watched = [pollfd(fd: socket, events: 0x2000 /* POLLRDHUP */, revents: 0), stopped]
    let count = poll(&watched, 2, milliseconds.map { Int32(clamping: $0) } ?? -1)
    if watched[1].revents != 0 { throw .stopped }
    if count > 0 { throw .closed }
  }

  /// Resets the connection (RST); unsent data is lost.
  func reset() {
    var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    close(socket)
    socket = -1
  }

  func shutdownWriting() {
    if let tls {
      SSL_shutdown(tls)
      ERR_clear_error()
    }
    shutdown(socket, Int32(SHUT_WR))
  }

  /// Reads and drops what the peer still sends, so that closing does not reset what the peer has not read yet.
  func drain(limit: Int) {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    var rest = limit - ahead.count
    ahead = []
    while rest > 0 {
      let count = (try? receive(into: &chunk)) ?? 0
      if count == 0 { return }
      rest -= count
    }
  }
}
