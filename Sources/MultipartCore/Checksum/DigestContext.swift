internal import CKernels
internal import COpenSSL

/// A digest as OpenSSL's configuration provides it, for instance from a FIPS provider: fetched once for the process
/// (`EVP_MD_fetch`), because that takes a hundred times longer than a small digest, and never freed.
///
/// `@unchecked Sendable` holds because OpenSSL never changes what it has fetched.
private struct FetchedDigest: @unchecked Sendable {
  static let sha256 = FetchedDigest("SHA256")
  static let sha1 = FetchedDigest("SHA1")
  static let md5 = FetchedDigest("MD5")

  /// The digest; nil if no provider has it.
  let type: OpaquePointer?

  private init(_ name: String) { type = EVP_MD_fetch(nil, name, nil) }

  static func of(_ algorithm: ChecksumAlgorithm) -> FetchedDigest? {
    switch algorithm {
    case .sha256: sha256
    case .sha1: sha1
    case .md5: md5
    case .crc64nvme, .crc32c, .crc32: nil
    }
  }
}

/// A digest in progress. It owns one `EVP_MD_CTX` (`EVP_MD_CTX_new`), freed in `deinit` (`EVP_MD_CTX_free`).
///
/// Each OpenSSL call can fail, but only for lack of memory or because the library is configured without the digest; a
/// failure after the start is kept, and thrown by `finish`. MD5 is computed here if OpenSSL has none, because no FIPS
/// provider has it and S3's ETags are made of it. It is used to compare bytes; it protects nothing.
final class DigestContext {
  /// The context; nil if `md5` is used instead.
  private let context: OpaquePointer?
  private var md5 = ck_md5()
  private let algorithm: ChecksumAlgorithm
  private var broken = false

  init(_ algorithm: ChecksumAlgorithm) throws(Failure) {
    self.algorithm = algorithm
    guard let type = FetchedDigest.of(algorithm)?.type else {
      context = nil
      guard algorithm == .md5 else { throw Self.failure(algorithm) }
      ERR_clear_error()
      ck_md5_begin(&md5)
      return
    }
    guard let context = EVP_MD_CTX_new() else { throw Self.failure(algorithm) }
    self.context = context
    guard EVP_DigestInit_ex(context, type, nil) == 1 else { throw Self.failure(algorithm) }
  }

  /// Continues from the state of another context (`EVP_MD_CTX_copy_ex`).
  private init?(copying other: DigestContext) {
    algorithm = other.algorithm
    broken = other.broken
    md5 = other.md5
    guard let given = other.context else {
      context = nil
      return
    }
    guard let context = EVP_MD_CTX_new() else { return nil }
    self.context = context
    guard EVP_MD_CTX_copy_ex(context, given) == 1 else { return nil }
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Whether SHA-256 comes from OpenSSL's own default provider, not from a configured one such as a FIPS module.
  static let isSHA256Default: Bool = {
    guard let type = FetchedDigest.sha256.type, let provider = EVP_MD_get0_provider(type) else { return false }
    return OSSL_PROVIDER_get0_name(provider).map { String(cString: $0) == "default" } ?? false
  }()

  func copy() throws(Failure) -> DigestContext {
    guard let copy = DigestContext(copying: self) else { throw Self.failure(algorithm) }
    return copy
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    guard let context else { return ck_md5_add(&md5, start, bytes.count) }
    if EVP_DigestUpdate(context, start, bytes.count) != 1 { broken = true }
  }

  /// The digest of everything so far. Afterwards the context cannot be used.
  func finish() throws(Failure) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: algorithm.digestLength)
    guard let context else {
      ck_md5_end(&md5, &digest)
      return digest
    }
    guard !broken, EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw Self.failure(algorithm) }
    return digest
  }

  private static func failure(_ algorithm: ChecksumAlgorithm) -> Failure {
    if algorithm == .sha256 { return SigningDigest.failure("SHA-256") }
    ERR_clear_error()
    return Failure(
      .local, "OpenSSL cannot compute \(algorithm.rawValue)",
      remedy: "A FIPS or trimmed OpenSSL configuration may leave it out; choose another \(.checksum)")
  }
}

/// Digests of bytes that are all in memory.
enum Digest {
  static func sha256(_ bytes: some Sequence<UInt8>) throws(Failure) -> [UInt8] {
    try digest(.sha256, bytes)
  }

  static func md5(_ bytes: some Sequence<UInt8>) throws(Failure) -> [UInt8] {
    try digest(.md5, bytes)
  }

  private static func digest(
    _ algorithm: ChecksumAlgorithm, _ bytes: some Sequence<UInt8>
  ) throws(Failure) -> [UInt8] {
    let context = try DigestContext(algorithm)
    let done: Void? = bytes.withContiguousStorageIfAvailable { context.update(UnsafeRawBufferPointer($0)) }
    if done == nil { Array(bytes).withUnsafeBytes { context.update($0) } }
    return try context.finish()
  }
}
