internal import CKernels

/// The HMAC of SigV4. It writes into memory of the caller's and keeps nothing.
enum SigningDigest {
  static func hmac(key: [UInt8], _ message: some Collection<UInt8>) throws(Failure) -> [UInt8] {
    let message = Array(message)
    var out = [UInt8](repeating: 0, count: Int(CK_DIGEST_LENGTH))
    guard ck_hmac(key, key.count, message, message.count, &out) == 1 else {
      throw Failure(.local, "OpenSSL refuses SHA-256")
    }
    return out
  }
}
