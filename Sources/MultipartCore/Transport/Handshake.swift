internal import CTLS

/// Why a server refused a TLS handshake, from OpenSSL's callbacks: libcurl reports it only as a sentence. Owns one
/// reference to the C object; the connection's `SSL_CTX` owns the other.
final class Handshake {
  private let pointer: OpaquePointer

  /// Nil without memory, or if libcurl uses a different OpenSSL from this program.
  init?(context: UnsafeMutableRawPointer?) {
    guard let pointer = ctls_handshake_watch(context) else { return nil }
    self.pointer = pointer
  }

  deinit { ctls_handshake_release(pointer) }

  /// Whether the first bytes received were not a TLS record.
  var isForeign: Bool { ctls_handshake_is_foreign(pointer) != 0 }

  /// The fatal alert that the server sent.
  var alert: Int? {
    let number = ctls_handshake_alert(pointer)
    return number < 0 ? nil : Int(number)
  }

  /// The alerts with which a server permanently refuses a client, with their names in RFC 8446, 6.2.
  static let refusals = [
    40: "handshake_failure", 42: "bad_certificate", 43: "unsupported_certificate", 46: "certificate_unknown",
    48: "unknown_ca", 49: "access_denied", 70: "protocol_version", 71: "insufficient_security",
    112: "unrecognized_name",
    certificateRequired: "certificate_required",
  ]
  static let certificateRequired = 116
}
