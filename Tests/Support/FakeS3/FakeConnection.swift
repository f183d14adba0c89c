import Foundation
@testable import MultipartCore

/// Serves the requests of one connection in order, on its own thread.
final class FakeConnection {
  private let server: FakeServer
  private let stream: FakeStream
  private let id: Int
  private var secure: Bool
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)

  init(server: FakeServer, stream: FakeStream, id: Int, secure: Bool) {
    self.server = server
    self.stream = stream
    self.id = id
    self.secure = secure
  }

  deinit { buffer.deallocate() }

  func run() {
    while let more = try? serveOne(), more {}
  }

  /// Serves one request; false if the connection is to end.
  private func serveOne() throws(StreamEnd) -> Bool {
    // The limit of 16 KiB is more than S3 accepts, and less than a client may send by mistake.
    guard let bytes = try stream.readHead(limit: 16 << 10) else {
      return try refuse(FakeS3Error(.requestHeaderSectionTooLarge, "Your request header section exceeds the maximum."))
    }
    if !secure, bytes.starts(with: "CONNECT ".utf8) { return try becomeTunnelsEnd() }
    guard let head = HTTPHead.parse(bytes, secure: secure) else {
      return try refuse(FakeS3Error(.invalidRequest, "Bad Request"))
    }
    let route = FakeRoute(head, hostSuffix: server.hostSuffix)
    let (index, fault) = server.arrived(head, route, connection: id)
    var exchange = FakeExchange(
      server: server, stream: stream, buffer: buffer, head: head, route: route, fault: fault, index: index)
    do throws(StreamEnd) {
      let more = try exchange.run()
      server.left(index, exchange)
      return more
    } catch {
      server.left(index, exchange)
      throw error
    }
  }

  /// For a client that uses the fake as its proxy, it plays every host, over TLS.
  private func becomeTunnelsEnd() throws(StreamEnd) -> Bool {
    try stream.write(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8))
    try stream.startTLS(server.tls)
    secure = true
    return true
  }

  private func refuse(_ error: FakeS3Error) throws(StreamEnd) -> Bool {
    var answer = server.answer(error, headOnly: false)
    answer.close = true
    try stream.write(answer.head(extra: server.commonHeaders(answer)))
    try stream.write(answer.body)
    stream.shutdownWriting()
    stream.drain(limit: 1 << 20)
    return false
  }
}
