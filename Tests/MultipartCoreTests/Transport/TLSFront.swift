import COpenSSL
import Foundation
import Support

extension RawConnection {
  /// Refuses a client that has no certificate, and stays open until the client closes.
  func demandCertificate(with context: OpaquePointer) {
    guard let session = SSL_new(context) else { return }
    defer { SSL_free(session) }
    SSL_set_verify(session, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    guard SSL_set_fd(session, socket) == 1 else { return }
    _ = SSL_accept(session)
    while receive() != nil {}
  }

  /// Terminates TLS and forwards the bytes in both directions between it and `port`, until one side closes.
  func unwrap(with context: OpaquePointer, to port: Int) {
    guard let session = SSL_new(context) else { return }
    defer { SSL_free(session) }
    guard SSL_set_fd(session, socket) == 1, SSL_accept(session) == 1,
      let inner = RawConnection.connected(to: port)
    else { return }
    defer { close(inner.socket) }
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      if SSL_pending(session) == 0 {
        var watched = [socket, inner.socket].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&watched, 2, -1) > 0 else { return }
        if watched[1].revents != 0 {
          guard let bytes = inner.receive(), SSL_write(session, bytes, Int32(bytes.count)) == bytes.count else {
            return
          }
        }
        guard watched[0].revents != 0 else { continue }
      }
      let count = SSL_read(session, &buffer, Int32(buffer.count))
      guard count > 0, inner.write(Array(buffer[..<Int(count)])) else { return }
    }
  }
}
