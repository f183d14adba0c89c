internal import CKernels

/// What a server said in a TLS handshake that failed, by OpenSSL's own callbacks: libcurl tells it in a sentence only. Owns
/// one share of what C counts, the connection's `SSL_CTX` the other.
final class Handshake {
  private let pointer: OpaquePointer

  /// Nil where libcurl's OpenSSL is not ours, or memory ends.
  init?(context: UnsafeMutableRawPointer?) {
    guard let pointer = ck_handshake_watch(context) else { return nil }
    self.pointer = pointer
  }

  deinit { ck_handshake_release(pointer) }

  /// The first bytes that came were no record of TLS.
  var isForeign: Bool { ck_handshake_is_foreign(pointer) != 0 }

  /// The fatal alert that the server sent.
  var alert: Int? {
    let number = ck_handshake_alert(pointer)
    return number < 0 ? nil : Int(number)
  }

  /// Names of RFC 8446, 6.2, for those by which a server refuses a client, now and the next time.
  static let refusals = [
    40: "handshake_failure", 42: "bad_certificate", 43: "unsupported_certificate", 46: "certificate_unknown",
    48: "unknown_ca", 49: "access_denied", 70: "protocol_version", 71: "insufficient_security",
    112: "unrecognized_name",
    116: "certificate_required",
  ]
}
