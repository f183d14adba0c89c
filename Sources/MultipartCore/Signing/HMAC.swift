import COpenSSL

/// The two functions SigV4 stands on: SHA-256, which is OpenSSL's (`EVP_Digest`), and HMAC over it (RFC 2104).
///
/// HMAC is written out here because OpenSSL's own looks its digest up by name for every message, which costs ten times
/// the digest itself.
enum SigningDigest {
  static let length = 32
  private static let blockLength = 64

  /// Looked up once (`EVP_MD_fetch`) and kept until the process ends; OpenSSL counts its references under a lock of its
  /// own and changes nothing else of it, so that every thread may use it. Nil where no provider has it.
  private nonisolated(unsafe) static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA256", nil)

  static func sha256(_ message: [UInt8]) throws(Failure) -> [UInt8] {
    var out = [UInt8](repeating: 0, count: length)
    guard let algorithm, EVP_Digest(message, message.count, &out, nil, algorithm, nil) == 1 else { throw unavailable }
    return out
  }

  static func hmac(key: [UInt8], _ message: some Collection<UInt8>) throws(Failure) -> [UInt8] {
    let key = key.count > blockLength ? try sha256(key) : key
    let inner = try sha256(padded(key, with: 0x36, room: message.count) + message)
    return try sha256(padded(key, with: 0x5C, room: length) + inner)
  }

  /// The key, filled up with zeros to a block, each byte of it turned by `mask`.
  private static func padded(_ key: [UInt8], with mask: UInt8, room: Int) -> [UInt8] {
    var block: [UInt8] = []
    block.reserveCapacity(blockLength + room)
    for byte in key { block.append(byte ^ mask) }
    block.append(contentsOf: repeatElement(mask, count: blockLength - key.count))
    return block
  }

  /// Seen when `OPENSSL_CONF` asks for a provider that is not installed.
  private static var unavailable: Failure {
    Failure(.local, "OpenSSL refuses SHA-256", hint: "look at OPENSSL_CONF and the providers it names")
  }
}
