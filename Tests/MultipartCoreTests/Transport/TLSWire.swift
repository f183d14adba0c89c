import COpenSSL
import Support

/// A TLS connection without sockets: the client's bytes goes through a BIO of the test, which records the size of each
/// write and accepts no more than it has room for, into the server's memory.
///
/// Used only by the test's thread.
final class TLSWire {
  let client: OpaquePointer
  let server: OpaquePointer
  private let toServer: OpaquePointer
  /// How many bytes the wire still accepts.
  var room = Int.max
  /// Whether every further write fails.
  var isBroken = false
  /// The number of bytes of each write that was accepted.
  private(set) var writes: [Int] = []
  /// The refused data, which must be offered again unchanged: pointer and length.
  private var refused: (start: UnsafeRawPointer?, count: Int)?
  private(set) var offeredOtherBytes = false
  private let context: OpaquePointer
  private let method: OpaquePointer
  private let store: FakeS3

  init(version: Int32, mode: Int = 0) throws {
    store = try FakeS3()
    guard let context = SSL_CTX_new(TLS_client_method()), let client = SSL_new(context),
      let server = SSL_new(store.tlsContext), let toServer = BIO_new(BIO_s_mem()), let toClient = BIO_new(BIO_s_mem()),
      let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire"), let wire = Self.bio(method)
    else { throw TLSWireError() }
    (self.context, self.client, self.server, self.toServer, self.method) = (context, client, server, toServer, method)
    SSL_ctrl(client, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
    SSL_ctrl(client, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
    SSL_ctrl(client, SSL_CTRL_MODE, mode, nil)
    BIO_set_data(wire, Unmanaged.passUnretained(self).toOpaque())
    BIO_up_ref(toClient)
    SSL_set0_rbio(client, toClient)
    SSL_set0_wbio(client, wire)
    SSL_set0_rbio(server, toServer)
    SSL_set0_wbio(server, toClient)
    SSL_set_connect_state(client)
    SSL_set_accept_state(server)
    try handshake()
  }

  deinit {
    SSL_free(client)
    SSL_free(server)
    SSL_CTX_free(context)
    BIO_meth_free(method)
  }

  func handshake() throws {
    for _ in 0..<20 {
      let done = (SSL_do_handshake(client), SSL_do_handshake(server))
      if done == (1, 1) {
        // The server's data after the handshake: tickets.
        var byte: UInt8 = 0
        _ = SSL_read(client, &byte, 1)
        writes = []
        return
      }
    }
    throw TLSWireError()
  }

  func forget() { writes = [] }

  /// Everything that the server has received, decrypted.
  func received() -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 20_000)
    while true {
      let count = SSL_read(server, &buffer, Int32(buffer.count))
      guard count > 0 else { return all }
      all += buffer[..<Int(count)]
    }
  }

  /// -1 and "retry" if there is no room; part of the bytes if there is some.
  private func take(_ data: UnsafeRawPointer?, _ count: Int, _ bio: OpaquePointer?) -> Int32 {
    BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY)
    guard !isBroken else { return -1 }
    if let refused, refused.start != data || refused.count != count { offeredOtherBytes = true }
    refused = nil
    guard room > 0 else {
      refused = (data, count)
      BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
      return -1
    }
    let taken = min(room, count)
    room -= taken
    writes.append(taken)
    return BIO_write(toServer, data, Int32(taken))
  }

  private static func bio(_ method: OpaquePointer) -> OpaquePointer? {
    BIO_meth_set_write(method) { bio, data, count in
      guard let context = BIO_get_data(bio) else { return -1 }
      return Unmanaged<TLSWire>.fromOpaque(context).takeUnretainedValue().take(data, Int(count), bio)
    }
    BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
    BIO_meth_set_create(method) { bio in
      BIO_set_init(bio, 1)
      return 1
    }
    return BIO_new(method)
  }
}

struct TLSWireError: Error {}
