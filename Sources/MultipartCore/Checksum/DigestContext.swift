internal import COpenSSL

/// A digest in progress: owns one `EVP_MD_CTX` (`EVP_MD_CTX_new`), freed in `deinit` (`EVP_MD_CTX_free`).
///
/// OpenSSL reports trouble at each call. Only lack of memory or a library configured without the digest can cause it;
/// what fails after the start is kept and told by `finish`.
final class DigestContext {
  private let context: OpaquePointer
  private let algorithm: ChecksumAlgorithm
  private var broken = false

  init(_ algorithm: ChecksumAlgorithm) throws(Failure) {
    guard let context = EVP_MD_CTX_new() else { throw Self.failure(algorithm) }
    self.context = context
    self.algorithm = algorithm
    guard let type = Self.type(algorithm), EVP_DigestInit_ex(context, type, nil) == 1 else {
      throw Self.failure(algorithm)
    }
  }

  /// Goes on from where another one is (`EVP_MD_CTX_copy_ex`).
  private init?(copying other: DigestContext) {
    guard let context = EVP_MD_CTX_new() else { return nil }
    self.context = context
    algorithm = other.algorithm
    broken = other.broken
    guard EVP_MD_CTX_copy_ex(context, other.context) == 1 else { return nil }
  }

  deinit { EVP_MD_CTX_free(context) }

  func copy() throws(Failure) -> DigestContext {
    guard let copy = DigestContext(copying: self) else { throw Self.failure(algorithm) }
    return copy
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    if EVP_DigestUpdate(context, start, bytes.count) != 1 { broken = true }
  }

  /// The digest of everything so far. The context cannot be used afterwards.
  func finish() throws(Failure) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    guard !broken, EVP_DigestFinal_ex(context, &digest, &length) == 1, length == algorithm.digestLength else {
      throw Self.failure(algorithm)
    }
    return Array(digest.prefix(Int(length)))
  }

  private static func type(_ algorithm: ChecksumAlgorithm) -> OpaquePointer? {
    switch algorithm {
    case .sha256: EVP_sha256()
    case .sha1: EVP_sha1()
    case .md5: EVP_md5()
    case .crc64nvme, .crc32c, .crc32: nil
    }
  }

  private static func failure(_ algorithm: ChecksumAlgorithm) -> Failure {
    ERR_clear_error()
    return Failure(
      .local, "OpenSSL cannot compute \(algorithm.rawValue)",
      hint: "A FIPS or trimmed OpenSSL configuration may leave it out; choose another --checksum")
  }
}
