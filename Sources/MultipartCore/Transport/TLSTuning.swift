internal import CCurl
internal import CKernels

/// What makes TLS cheap beyond what libcurl does by itself. Where libcurl is built with another library than the
/// OpenSSL we are linked to, nothing here does anything.
enum TLSTuning {
  /// `curl_version_info`.
  static let isAvailable = ck_is_same_openssl(s3up_tls_library()) == 1

  /// A record of TLS holds so much; fewer bytes make one, and one needs no gathering.
  private static let record = 16 << 10

  /// Before libcurl writes `count` bytes of a body, which it does as soon as it has them.
  static func willWrite(_ count: Int, on easy: CurlEasy) {
    guard isAvailable, count > record else { return }
    _ = ck_gather_expect(s3up_info_openssl(easy.handle), count)
  }

  /// The ciphers stay what they are; their order decides at servers that have none of their own.
  static func setUp(_ easy: CurlEasy) {
    guard isAvailable else { return }
    _ = s3up_easy_sslctx(easy.handle) { _, context, _ in
      _ = ck_prefer_aes128(context)
      return CURLE_OK
    }
  }
}

/// TLS sessions that all transfers of a loop share, so that its second connection to a store resumes the first one's.
/// Owns a share handle (`curl_share_init`, `curl_share_cleanup`). Used by the thread of one loop alone, so it needs no
/// locks; every easy handle that uses it holds it, because libcurl must be done with it before it goes.
final class TLSSessions {
  let handle: UnsafeMutableRawPointer?

  init() {
    handle = curl_share_init()
    if let handle { _ = s3up_share_data(handle, CURL_LOCK_DATA_SSL_SESSION) }
  }

  deinit { curl_share_cleanup(handle) }
}
