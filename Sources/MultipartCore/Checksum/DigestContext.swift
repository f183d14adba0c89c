internal import CKernels
internal import COpenSSL

/// A digest in progress. The state of SHA-256 is stored inline; for the others it owns one `EVP_MD_CTX`
/// (`EVP_MD_CTX_new`), freed in `deinit` (`EVP_MD_CTX_free`).
///
/// Each OpenSSL call can fail, but only for lack of memory or because the library is configured without the digest;
/// a failure after the start is kept, and thrown by `finish`.
final class DigestContext {
  private var sha256 = ck_digest()
  /// Nil for SHA-256.
  private let context: OpaquePointer?
  private let algorithm: ChecksumAlgorithm
  private var broken = false

  init(_ algorithm: ChecksumAlgorithm) throws(Failure) {
    self.algorithm = algorithm
    guard algorithm != .sha256 else {
      context = nil
      guard ck_digest_begin(&sha256) == 1 else { throw Self.failure(algorithm) }
      return
    }
    guard let context = EVP_MD_CTX_new() else { throw Self.failure(algorithm) }
    self.context = context
    guard let type = Self.type(algorithm), EVP_DigestInit_ex(context, type, nil) == 1 else {
      throw Self.failure(algorithm)
    }
  }

  /// Continues from the state of another one (`EVP_MD_CTX_copy_ex`).
  private init?(copying other: DigestContext) {
    sha256 = other.sha256
    algorithm = other.algorithm
    broken = other.broken
    guard let from = other.context else {
      context = nil
      return
    }
    guard let context = EVP_MD_CTX_new() else { return nil }
    self.context = context
    guard EVP_MD_CTX_copy_ex(context, from) == 1 else { return nil }
  }

  deinit { EVP_MD_CTX_free(context) }

  func copy() throws(Failure) -> DigestContext {
    guard let copy = DigestContext(copying: self) else { throw Self.failure(algorithm) }
    return copy
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    let status =
      if let context {
        EVP_DigestUpdate(context, start, bytes.count)
      } else {
        ck_digest_add(&sha256, start, bytes.count)
      }
    if status != 1 { broken = true }
  }

  /// The digest of everything so far. Afterwards the context cannot be used.
  func finish() throws(Failure) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: algorithm.digestLength)
    let status =
      if let context {
        EVP_DigestFinal_ex(context, &digest, nil)
      } else {
        ck_digest_end(&sha256, &digest)
      }
    guard !broken, status == 1 else { throw Self.failure(algorithm) }
    return digest
  }

  private static func type(_ algorithm: ChecksumAlgorithm) -> OpaquePointer? {
    switch algorithm {
    case .sha1: EVP_sha1()
    case .md5: EVP_md5()
    case .sha256, .crc64nvme, .crc32c, .crc32: nil
    }
  }

  private static func failure(_ algorithm: ChecksumAlgorithm) -> Failure {
    ERR_clear_error()
    return Failure(
      .local, "OpenSSL cannot compute \(algorithm.rawValue)",
      remedy: "A FIPS or trimmed OpenSSL configuration may leave it out; choose another \(.checksum)")
  }
}
