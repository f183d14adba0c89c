import COpenSSL
import CTLS
import Foundation
@testable import MultipartCore
import Support
import Testing

/// Bodies over TLS as libcurl sends them: collected records, and sessions that are resumed.
@Suite(.timeLimit(.minutes(10))) struct CurlTLSBodyTests {
  private static func put(_ url: String, _ length: Int64) -> Request {
    Request(method: .put, url: url, body: .source(CountingBody(length: length)))
  }

  // It runs in its own process, because the counters are per process.
  @Test("Records of bodies are collected, also on a kept connection, and arrive unchanged; small bodies need nothing")
  func gathered() async throws {
    await #expect(processExitsWith: .success) {
      let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
      let caFile = fake.caFile
      let transport = try plainTransport { $0.caBundle = caFile }
      for length in [0, 1, 16_384] as [Int64] { try await Self.send(length, to: fake, over: transport) }
      guard ctls_gather_connections() == 0 else { exit(2) }
      for length in [16_385, 262_144, 3_000_001, 16_384, 2_097_152] as [Int64] {
        try await Self.send(length, to: fake, over: transport)
      }
      guard ctls_gather_connections() == 1 else { exit(3) }
    }
  }

  @Test("They are collected through a tunnel too")
  func tunnelled() async throws {
    await #expect(processExitsWith: .success) {
      let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
      let proxy = try RawServer { connection, _ in
        guard connection.readHead() != nil else { return }
        connection.write("HTTP/1.1 200 Connection established\r\n\r\n")
        connection.splice(to: fake.tlsPort)
      }
      let transport = try proxiedTransport(through: proxy.url, trusting: fake.caFile)
      try await Self.send(3_000_001, to: fake, over: transport)
      guard ctls_gather_connections() == 1, proxy.connections == 1 else { exit(3) }
    }
  }

  @Test("They are collected through an https proxy too, whose certificate is verified with the same bundle")
  func tunnelledOverTLS() async throws {
    await #expect(processExitsWith: .success) {
      let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
      let context = Guarded(UInt(bitPattern: fake.tlsContext))
      let proxy = try RawServer { connection, _ in
        guard connection.readHead() != nil else { return }
        connection.write("HTTP/1.1 200 Connection established\r\n\r\n")
        connection.splice(to: fake.tlsPort)
      }
      let front = try RawServer { connection, _ in
        guard let context = OpaquePointer(bitPattern: context.with { $0 }) else { return }
        connection.unwrap(with: context, to: proxy.port)
      }
      let url = "https://127.0.0.1:\(front.port)"
      let blind = try proxiedTransport(through: url, trusting: nil)
      let refused = await outcome(blind, Self.put(fake.tlsEndpoint + "/bucket/key", 1))
      guard refused.code == .tls, proxy.connections == 0 else { exit(4) }
      let transport = try proxiedTransport(through: url, trusting: fake.caFile)
      for length in [3_000_001, 262_144, 5] as [Int64] { try await Self.send(length, to: fake, over: transport) }
      guard ctls_gather_connections() == 1, proxy.connections == 1 else { exit(3) }
    }
  }

  /// Ends the process unless the store received exactly these bytes.
  private static func send(_ length: Int64, to fake: FakeS3, over transport: CurlTransport) async throws {
    let status = try await transport.send(put(fake.tlsEndpoint + "/bucket/key", length)).status
    guard status == 200, fake.object("key")?.bytes == CountingBody.bytes(Int(length)) else { exit(1) }
  }

  @Test("An answer during the body is the answer, and the transport continues")
  func earlyAnswer() async throws {
    let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
    let caFile = fake.caFile
    let transport = try plainTransport { $0.caBundle = caFile }
    // The store refuses the request by its headers, and does not wait for the body.
    var request = Self.put(fake.tlsEndpoint + "/nobucket/key", 64 << 20)
    request.headers.add("x-amz-checksum-crc32", "not base64")
    let refused = await outcome(transport, request)
    #expect(refused.status.map { $0 >= 400 } ?? (refused.code == .network))
    #expect(try await transport.send(Self.put(fake.tlsEndpoint + "/bucket/key", 3_000_001)).status == 200)
    let arrived = fake.object("key")?.bytes == CountingBody.bytes(3_000_001)
    #expect(arrived)
  }

  @Test("Later connections of a loop resume the first one's TLS session, whichever transfer opens them")
  func resumed() async throws {
    let fake = try FakeS3(FakeOptions { $0.allowsAnonymous = true })
    let caFile = fake.caFile
    let transport = try plainTransport { $0.caBundle = caFile }
    #expect(try await transport.send(Self.put(fake.tlsEndpoint + "/bucket/key", 10)).status == 200)
    let hits = { SSL_CTX_ctrl(fake.tlsContext, SSL_CTRL_SESS_HIT, 0, nil) }
    #expect(hits() == 0)
    // This request occupies the transfer that created the session, so that the next request uses another one.
    let came = Gate()
    let silent = try RawServer { connection, _ in
      came.open()
      connection.untilClosed()
    }
    let waiting = Task { await outcome(transport, Request(method: .get, url: silent.url + "/")) }
    await came.wait()
    var request = Self.put(fake.tlsEndpoint + "/bucket/other", 1 << 20)
    request.freshConnection = true
    #expect(try await transport.send(request).status == 200)
    #expect(hits() == 1)
    transport.stop()
    #expect(await waiting.value.code == .interrupted)
  }

  @Test("A server without its own order of ciphers is asked for AES-128-GCM first")
  func cipher() async throws {
    let fake = try FakeS3()
    let caFile = fake.caFile
    let transport = try plainTransport { $0.caBundle = caFile }
    SSL_CTX_set_info_callback(fake.tlsContext) { session, place, _ in
      guard place & SSL_CB_HANDSHAKE_DONE != 0, let name = SSL_CIPHER_get_name(SSL_get_current_cipher(session))
      else { return }
      lastCipher.with { $0 = String(cString: name) }
    }
    #expect(await outcome(transport, Request(method: .get, url: fake.tlsEndpoint + "/bucket")).status == 403)
    #expect(lastCipher.with { $0 } == "TLS_AES_128_GCM_SHA256")
  }
}

/// The cipher of the last handshake of the server above.
private let lastCipher = Guarded<String?>(nil)
