import COpenSSL
import CTLS
import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

private let versions = [TLS1_2_VERSION, TLS1_3_VERSION]

/// The BIO that sends the records of one SSL_write together.
@Suite(.timeLimit(.minutes(10))) struct GatherTests {
  private func expect(_ wire: TLSWire, _ count: Int) -> Int32 {
    ctls_gather_expect(UnsafeMutableRawPointer(wire.client), count)
  }

  private func same(_ one: [UInt8], _ other: [UInt8]) -> Bool { one == other }

  private func write(_ wire: TLSWire, _ bytes: [UInt8]) -> Int {
    Int(SSL_write(wire.client, bytes, Int32(bytes.count)))
  }

  /// Compares outside of #expect, because a failure that prints a hundred thousand bytes is useless.
  private func arrived(_ wire: TLSWire, _ bytes: [UInt8]) -> Bool { wire.received() == bytes }

  @Test("The records of one write are sent together, whatever its size, and none is held back", arguments: versions)
  func oneSend(version: Int32) throws {
    let wire = try TLSWire(version: version)
    for count in [16_385, 32_768, 50_000, 65_536, 262_143, 262_144] {
      let bytes = pattern(count)
      wire.forget()
      #expect(expect(wire, count) == 1)
      #expect(write(wire, bytes) == count)
      #expect(wire.writes.count == 1, "\(count)")
      #expect(arrived(wire, bytes))
    }
    // The data is larger than the buffer: one send per buffer.
    wire.forget()
    let large = pattern(1 << 20)
    #expect(expect(wire, large.count) == 1)
    #expect(write(wire, large) == large.count)
    #expect(wire.writes.count == 4)
    #expect(arrived(wire, large))
  }

  @Test("Without an announcement each record is sent by itself", arguments: versions)
  func unexpected(version: Int32) throws {
    let wire = try TLSWire(version: version)
    let bytes = pattern(65_536)
    #expect(write(wire, bytes) == bytes.count)
    #expect(wire.writes.count == 4)
    #expect(arrived(wire, bytes))
  }

  @Test("A wire that takes few bytes at a time gets every byte once, and success means that it has all of them")
  func narrowWire() throws {
    for version in versions {
      let wire = try TLSWire(version: version)
      var dice = Dice(UInt64(version))
      for round in 0..<60 {
        let bytes = pattern(Int.random(in: 1...300_000, using: &dice))
        // The count is often exactly at the edge of a record.
        let count = round % 3 == 0 ? max(1, bytes.count / 16_384) * 16_384 : bytes.count
        let piece = Array(bytes.prefix(count) + pattern(max(0, count - bytes.count)))
        if round % 7 != 6 { _ = expect(wire, piece.count) }
        var received: [UInt8] = []
        var tries = 0
        wire.room = Int.random(in: 0...40_000, using: &dice)
        while true {
          let result = write(wire, piece)
          received += wire.received()
          if result == piece.count { break }
          try #require(result == -1 && SSL_get_error(wire.client, Int32(result)) == SSL_ERROR_WANT_WRITE)
          // During a write another announcement has no effect.
          #expect(expect(wire, 16_384 * tries) == 0)
          tries += 1
          try #require(tries < 10_000)
          wire.room = Int.random(in: 0...40_000, using: &dice)
        }
        #expect(same(received, piece))
        wire.room = .max
      }
      #expect(!wire.offeredOtherBytes)
    }
  }

  @Test("After a wrong announcement no record is held back once another follows", arguments: versions)
  func wrongCount(version: Int32) throws {
    let wire = try TLSWire(version: version)
    for (said, given) in [(16_385, 100_000), (1, 70_000), (1 << 20, 200), (1 << 20, 16_000), (1 << 20, 50_000)] {
      let bytes = pattern(given)
      #expect(expect(wire, said) == 1)
      #expect(write(wire, bytes) == given)
      #expect(arrived(wire, bytes), "\(said) said, \(given) given")
    }
  }

  @Test("The server sees the end of the connection after all bytes", arguments: versions)
  func closeNotify(version: Int32) throws {
    let wire = try TLSWire(version: version)
    #expect(expect(wire, 40_000) == 1)
    #expect(write(wire, pattern(40_000)) == 40_000)
    // The bytes are announced, and never written.
    #expect(expect(wire, 1 << 20) == 1)
    #expect(SSL_shutdown(wire.client) == 0)
    #expect(wire.received().count == 40_000)
    #expect(SSL_get_shutdown(wire.server) & SSL_RECEIVED_SHUTDOWN != 0)
  }

  @Test("New keys in between, requested by either side, change nothing")
  func keyUpdate() throws {
    let wire = try TLSWire(version: TLS1_3_VERSION)
    for _ in 0..<3 {
      #expect(expect(wire, 50_000) == 1)
      #expect(write(wire, pattern(50_000)) == 50_000)
      #expect(SSL_key_update(wire.server, SSL_KEY_UPDATE_REQUESTED) == 1)
      #expect(SSL_write(wire.server, [7], 1) == 1)
      var byte: UInt8 = 0
      #expect(SSL_read(wire.client, &byte, 1) == 1)
      #expect(expect(wire, 50_000) == 1)
      #expect(write(wire, pattern(50_000)) == 50_000)
      #expect(SSL_key_update(wire.client, SSL_KEY_UPDATE_NOT_REQUESTED) == 1)
      #expect(expect(wire, 65_536) == 1)
      #expect(write(wire, pattern(65_536)) == 65_536)
      #expect(arrived(wire, pattern(50_000) + pattern(50_000) + pattern(65_536)))
    }
  }

  @Test("A renegotiation by the server succeeds")
  func renegotiation() throws {
    let wire = try TLSWire(version: TLS1_2_VERSION)
    #expect(expect(wire, 50_000) == 1)
    #expect(write(wire, pattern(50_000)) == 50_000)
    #expect(arrived(wire, pattern(50_000)))
    #expect(SSL_renegotiate(wire.server) == 1)
    #expect(SSL_do_handshake(wire.server) == 1)
    var byte: UInt8 = 0
    for _ in 0..<10 {
      _ = SSL_read(wire.client, &byte, 1)
      _ = SSL_read(wire.server, &byte, 1)
    }
    #expect(SSL_is_init_finished(wire.client) == 1)
    #expect(SSL_is_init_finished(wire.server) == 1)
    wire.forget()
    #expect(expect(wire, 50_000) == 1)
    #expect(write(wire, pattern(50_000)) == 50_000)
    #expect(wire.writes.count == 1)
    #expect(arrived(wire, pattern(50_000)))
  }

  @Test("On a broken wire the write fails, and every later one")
  func broken() throws {
    let wire = try TLSWire(version: TLS1_3_VERSION)
    _ = expect(wire, 100_000)
    wire.isBroken = true
    let result = write(wire, pattern(100_000))
    #expect(result <= 0)
    #expect(SSL_get_error(wire.client, Int32(result)) == SSL_ERROR_SYSCALL)
    #expect(write(wire, [1]) <= 0)
  }

  @Test("If a write returns after each record, nothing is collected")
  func partialWrites() throws {
    let wire = try TLSWire(version: TLS1_3_VERSION, mode: Int(SSL_MODE_ENABLE_PARTIAL_WRITE))
    #expect(expect(wire, 100_000) == 0)
    #expect(write(wire, pattern(100_000)) == 16_384)
    #expect(arrived(wire, pattern(100_000).prefix(16_384).map(\.self)))
  }

  @Test("Only the OpenSSL that this program is linked to is used")
  func sameLibrary() throws {
    let ours = String(cString: OpenSSL_version(OPENSSL_VERSION)).split(separator: " ")[1]
    #expect(ctls_is_same_openssl("OpenSSL/\(ours)") == 1)
    for other in [
      "", "GnuTLS/3.7.9", "(OpenSSL/\(ours)) GnuTLS/3.7.9", "OpenSSL/", "OpenSSL/\(ours)1",
      "OpenSSL/\(ours.dropLast())",
      "LibreSSL/3.8.2", "BoringSSL", "OpenSSL/1.1.1w",
    ] { #expect(ctls_is_same_openssl(other) == 0, "\(other)") }
    #expect(ctls_is_same_openssl(nil) == 0)
    #expect(ctls_gather_expect(nil, 1) == 0)
    #expect(ctls_prefer_aes128(nil) == 0)
  }

  @Test("AES-128-GCM comes first, the set of ciphers stays the same, and excluded ones stay excluded")
  func ciphers() throws {
    for set in [
      "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256",
      "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
    ] {
      let context = try #require(SSL_CTX_new(TLS_client_method()))
      defer { SSL_CTX_free(context) }
      #expect(SSL_CTX_set_ciphersuites(context, set) == 1)
      let before = names(context)
      let has = set.contains("AES_128_GCM")
      #expect(ctls_prefer_aes128(UnsafeMutableRawPointer(context)) == (has ? 1 : 0))
      let after = names(context)
      #expect(Set(before) == Set(after))
      #expect(has ? after.first == "TLS_AES_128_GCM_SHA256" : after == before)
      let rest = { (all: [String]) in all.filter { $0 != "TLS_AES_128_GCM_SHA256" } }
      #expect(rest(before) == rest(after))
    }
  }

  private func names(_ context: OpaquePointer) -> [String] {
    guard let session = SSL_new(context) else { return [] }
    defer { SSL_free(session) }
    var names: [String] = []
    while let name = SSL_get_cipher_list(session, Int32(names.count)) { names.append(String(cString: name)) }
    return names
  }
}
