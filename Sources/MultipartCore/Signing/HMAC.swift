internal import CKernels

/// The two functions SigV4 stands on, SHA-256 and HMAC. They write into memory of ours and keep nothing.
enum SigningDigest {
  static func sha256(_ message: [UInt8]) throws(Failure) -> [UInt8] { try Digest.sha256(message) }

  static func hmac(key: [UInt8], _ message: some Collection<UInt8>) throws(Failure) -> [UInt8] {
    let message = Array(message)
    var out = [UInt8](repeating: 0, count: Int(CK_DIGEST_LENGTH))
    guard ck_hmac(key, key.count, message, message.count, &out) == 1 else {
      throw Failure(.local, "OpenSSL refuses SHA-256")
    }
    return out
  }
}
