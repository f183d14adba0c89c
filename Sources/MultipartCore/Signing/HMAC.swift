import COpenSSL

/// The two functions SigV4 stands on, both OpenSSL's: SHA-256 (`EVP_Digest`) and `HMAC`. They write into memory of ours
/// and keep nothing.
enum SigningDigest {
  static let length = 32
  /// Looked up once (`EVP_MD_fetch`) and kept until the process ends; OpenSSL counts its references under a lock of its
  /// own and changes nothing else of it, so that every thread may use it. Nil where no provider has it.
  private nonisolated(unsafe) static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA256", nil)

  static func sha256(_ message: [UInt8]) throws(Failure) -> [UInt8] {
    var out = [UInt8](repeating: 0, count: length)
    guard let algorithm, EVP_Digest(message, message.count, &out, nil, algorithm, nil) == 1 else { throw unavailable }
    return out
  }

  static func hmac(key: [UInt8], _ message: some Collection<UInt8>) throws(Failure) -> [UInt8] {
    let message = Array(message)
    var out = [UInt8](repeating: 0, count: length)
    // The length of a key is an int to OpenSSL; a secret longer than that cannot have come out of a file we read.
    guard let algorithm, let keyLength = Int32(exactly: key.count),
      HMAC(algorithm, key, keyLength, message, message.count, &out, nil) != nil
    else { throw unavailable }
    return out
  }

  /// Seen when `OPENSSL_CONF` asks for a provider that is not installed.
  private static var unavailable: Failure {
    Failure(.local, "OpenSSL refuses SHA-256", hint: "look at OPENSSL_CONF and the providers it names")
  }
}
