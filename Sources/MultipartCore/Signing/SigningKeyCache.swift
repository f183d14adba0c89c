internal import COpenSSL
import MultipartBasics

/// Derives a signing key once per (secret, day, region, service) instead of once per request; shared by all threads.
final class SigningKeyCache: Sendable {
  private struct Entry: Sendable {
    var secret: Secret
    var scope: SigV4.Scope
    var key: SigV4.SigningKey
  }

  /// Enough for midnight, new keys and a second region: a run uses two or three at a time.
  private static let capacity = 8

  private let entries = Locked<[Entry]>([])

  init() {}

  func key(secret: Secret, scope: SigV4.Scope) throws(Failure) -> SigV4.SigningKey {
    let known = entries.withLock { entries in
      entries.first { $0.scope == scope && $0.secret == secret }?.key
    }
    if let known { return known }
    // Derived outside the lock: two threads that miss at once both compute the key, but neither waits.
    let key = try SigV4.signingKey(secret: secret, scope: scope)
    entries.withLock { entries in
      guard !entries.contains(where: { $0.scope == scope && $0.secret == secret }) else { return }
      if entries.count == Self.capacity { entries.removeFirst() }
      entries.append(Entry(secret: secret, scope: scope, key: key))
    }
    return key
  }

  /// How many keys are cached.
  var count: Int { entries.withLock { $0.count } }
}

/// The HMAC of SigV4, which writes into the caller's memory and keeps nothing.
enum SigningDigest {
  /// Computes the HMAC with `EVP_Q_mac`, by the provider that OpenSSL is configured to use.
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
