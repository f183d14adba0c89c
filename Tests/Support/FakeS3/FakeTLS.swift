import COpenSSL
import Foundation

/// A certificate authority and a leaf for localhost, 127.0.0.1 and *.<suffix>, created for each fake store.
///
/// Owns the SSL_CTX, which OpenSSL allows many threads to share; Sendable because nothing changes it after `init`.
final class FakeTLS: @unchecked Sendable {
  let context: OpaquePointer

  /// Writes the authority's certificate to `caFile`.
  init(caFile: String, hostSuffix: String) throws {
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw TLSError(call: "SSL_CTX_new") }
    self.context = context
    let caKey = try Self.key()
    let leafKey = try Self.key()
    defer {
      EVP_PKEY_free(caKey)
      EVP_PKEY_free(leafKey)
    }
    let ca = try Self.certificate(
      name: "Fake S3 Authority", serial: 1, key: caKey, issuer: nil, signer: caKey,
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
        (NID_subject_key_identifier, "hash"),
      ])
    defer { X509_free(ca) }
    let leaf = try Self.certificate(
      name: "localhost", serial: 2, key: leafKey, issuer: ca, signer: caKey,
      extensions: [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
        (NID_ext_key_usage, "serverAuth"), (NID_authority_key_identifier, "keyid:always"),
        (NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,DNS:\(hostSuffix),DNS:*.\(hostSuffix)"),
      ])
    defer { X509_free(leaf) }
    guard SSL_CTX_use_certificate(context, leaf) == 1, SSL_CTX_use_PrivateKey(context, leafKey) == 1 else {
      throw TLSError(call: "SSL_CTX_use_certificate")
    }
    guard let file = fopen(caFile, "we") else { throw SystemError("fopen") }
    defer { fclose(file) }
    guard PEM_write_X509(file, ca) == 1 else { throw TLSError(call: "PEM_write_X509") }
  }

  deinit {
    SSL_CTX_free(context)
  }

  private static func key() throws -> OpaquePointer {
    guard let maker = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw TLSError(call: "EVP_PKEY_CTX_new_id") }
    defer { EVP_PKEY_CTX_free(maker) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(maker) == 1,
      EVP_PKEY_CTX_set_ec_paramgen_curve_nid(maker, NID_X9_62_prime256v1) == 1,
      EVP_PKEY_keygen(maker, &key) == 1, let key
    else { throw TLSError(call: "EVP_PKEY_keygen") }
    return key
  }

  private static func certificate(
    name: String, serial: Int, key: OpaquePointer, issuer: OpaquePointer?, signer: OpaquePointer,
    extensions: [(nid: Int32, value: String)]
  ) throws -> OpaquePointer {
    guard let made = X509_new() else { throw TLSError(call: "X509_new") }
    X509_set_version(made, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(made), serial)
    // The certificate is valid from an hour ago, so that a client whose clock the test turns back a little still trusts
    // it.
    X509_gmtime_adj(X509_getm_notBefore(made), -3600)
    X509_gmtime_adj(X509_getm_notAfter(made), 7 * 86400)
    X509_set_pubkey(made, key)
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC, name, -1, -1, 0)
    X509_set_issuer_name(made, X509_get_subject_name(issuer ?? made))
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer ?? made, made, nil, nil, 0)
    for (nid, value) in extensions {
      guard let part = X509V3_EXT_conf_nid(nil, &context, nid, value) else {
        X509_free(made)
        throw TLSError(call: "X509V3_EXT_conf_nid")
      }
      X509_add_ext(made, part, -1)
      X509_EXTENSION_free(part)
    }
    guard X509_sign(made, signer, EVP_sha256()) > 0 else {
      X509_free(made)
      throw TLSError(call: "X509_sign")
    }
    return made
  }
}

struct TLSError: Error {
  var call: String
}
