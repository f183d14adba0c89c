import COpenSSL

/// The two functions SigV4 stands on, by OpenSSL: `HMAC` and `EVP_Digest` with `EVP_sha256`. Both write into memory
/// of ours and keep nothing.
enum SigningDigest {
  static let length = 32

  static func sha256(_ message: [UInt8]) throws(Failure) -> [UInt8] {
    var out = [UInt8](repeating: 0, count: length)
    guard EVP_Digest(message, message.count, &out, nil, EVP_sha256(), nil) == 1 else { throw unavailable }
    return out
  }

  static func hmac(key: [UInt8], _ message: String) throws(Failure) -> [UInt8] {
    let message = Array(message.utf8)
    var out = [UInt8](repeating: 0, count: length)
    // The length of a key is an int to OpenSSL; a secret longer than that cannot have come out of a file we read.
    guard let keyLength = Int32(exactly: key.count),
      HMAC(EVP_sha256(), key, keyLength, message, message.count, &out, nil) != nil
    else { throw unavailable }
    return out
  }

  static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let out = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: out, as: UTF8.self)
  }

  /// Seen when `OPENSSL_CONF` asks for a provider that is not installed.
  private static var unavailable: Failure {
    Failure(.local, "OpenSSL refuses SHA-256", hint: "look at OPENSSL_CONF and the providers it names")
  }
}
