internal import COpenSSL

/// The HMAC of SigV4. It writes into memory of the caller's and keeps nothing.
enum SigningDigest {
  /// `EVP_Q_mac`: by the provider that OpenSSL is configured to use.
  static func hmac(key: [UInt8], _ message: some Collection<UInt8>) throws(Failure) -> [UInt8] {
    let message = Array(message)
    var out = [UInt8](repeating: 0, count: ChecksumAlgorithm.sha256.digestLength)
    let done = EVP_Q_mac(
      nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &out, out.count, nil)
    guard done != nil else { throw failure("HMAC with SHA-256") }
    return out
  }

  static func failure(_ what: Wording) -> Failure {
    ERR_clear_error()
    return Failure(
      .local, "OpenSSL cannot compute \(what), which signatures need",
      remedy: "see which providers OpenSSL is configured with (openssl.cnf, OPENSSL_CONF)")
  }
}
